"""How fast things come in: hashing, converting, listing. `pytest -m bench tests/bench -s`.

Each figure is the median of rounds that alternate with what it is compared with, in one run.
"""

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.engine.adapters.tiny import Files
from veneer import Workspace
from veneer.adapters.base import read_base
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.identity import Digest, sha256_bytes, sha256_file
from veneer.store.catalog import Catalog
from veneer.store.database import Database
from veneer.store.layout import Layout

pytestmark = pytest.mark.bench
ROUNDS = 7
ADAPTERS = 2_000


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def in_turn(*works: Callable[[], object]) -> list[float]:
    """The median seconds of each, after one round that does not count."""
    rounds = [[seconds(work) for work in works] for _ in range(ROUNDS + 1)]
    return [median(times) for times in zip(*rounds[1:], strict=True)]


def test_hashing_a_base_against_openssl(base_path: Path):
    size = base_path.stat().st_size

    def ours() -> None:
        with base_path.open("rb") as file:
            sha256_file(file, size)

    def openssl() -> None:
        subprocess.run(["openssl", "dgst", "-sha256", base_path], capture_output=True, check=True)

    mine, theirs = in_turn(ours, openssl)
    rates = [size / took / 1e6 for took in (mine, theirs)]
    print(f"\nhashing: {rates[0]:.0f} MB/s, openssl {rates[1]:.0f} MB/s, {theirs / mine:.2f}x")
    assert theirs / mine >= 0.85


def test_listing_two_thousand_adapters(stocked: Path, tmp_path: Path):
    root = tmp_path / "many"
    with Workspace.open(root):
        pass
    with Workspace.open(stocked, writable=False) as workspace:
        known = workspace.library.find_adapter("pirate")
    database = Database(Layout(root).database, writable=True)
    catalog = Catalog(database)
    for number in range(ADAPTERS):
        digest: Digest = sha256_bytes(str(number).encode())
        catalog.put_adapter(msgspec.structs.replace(known, digest=digest, name=f"a{number}"))
    database.close()

    def listed() -> None:
        with Workspace.open(root, writable=False) as workspace:
            assert len(workspace.library.adapters()) == ADAPTERS

    (took,) = in_turn(listed)
    print(f"\nopening a workspace and listing {ADAPTERS:,} adapters: {took * 1000:.0f} ms")


def test_runtime_form_against_the_converter(
    base_path: Path, adapter_paths: dict[str, Path], tmp_path: Path
):
    if "VENEER_CONVERTER" not in os.environ:
        pytest.skip("where llama.cpp's converter is, $VENEER_CONVERTER says")
    from tests.parity.conftest import converter

    folder = adapter_paths["pirate"]
    source = Files({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
    with base_path.open("rb") as file:
        base = read_base(file)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": base.n_embd,
        "num_attention_heads": base.n_head,
        "num_key_value_heads": base.n_head_kv,
        "num_hidden_layers": base.n_layers,
        "vocab_size": base.n_vocab,
    }
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    command = [
        sys.executable, converter() / "convert_lora_to_gguf.py", "--outtype", "f32",
        "--base", tmp_path / "model", "--outfile", tmp_path / "lora.gguf", folder,
    ]  # fmt: skip

    def ours() -> None:
        with (tmp_path / "form.gguf").open("wb") as out:
            write_runtime_form(read_adapter(source), source, base, out)

    def theirs() -> None:
        subprocess.run(command, capture_output=True, check=True)

    mine, official = in_turn(ours, theirs)
    print(
        f"\nruntime form: {mine * 1000:.1f} ms, convert_lora_to_gguf.py {official * 1000:.0f} ms, "
        f"{official / mine:.0f}x"
    )
    assert official / mine >= 20


def test_memory_of_a_conversion(base_path: Path, adapter_paths: dict[str, Path], tmp_path: Path):
    folder = adapter_paths["pirate"]
    source = Files({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
    largest = max(
        tensor.astype(np.float32).nbytes
        for tensor in load_file(folder / "adapter_model.safetensors").values()
    )
    with base_path.open("rb") as file:
        base = read_base(file)
    adapter = read_adapter(source)
    with (tmp_path / "form.gguf").open("wb") as out:
        write_runtime_form(adapter, source, base, out)
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        out.seek(0)
        write_runtime_form(adapter, source, base, out)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    file_size = sum(map(len, source.values()))
    above = (peak - before) / largest
    print(f"\nmemory of a conversion: {above:.1f} times the largest tensor, file {file_size} bytes")
    assert peak - before <= file_size + 2 * largest
