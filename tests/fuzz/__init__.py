"""Whatever the readers accept, llama.cpp loads and runs without dying. `pytest -m fuzz tests/fuzz`.

Tiny bases of every architecture, described in models.json -> edited by Hypothesis -> read as an
import reads them -> what is accepted is loaded in a child process, as the worker does it.
$VENEER_FUZZ_CASES says how many edits are tried; without it they are the same in every run.
"""
