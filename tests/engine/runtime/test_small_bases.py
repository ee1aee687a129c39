"""Bases that are sound but smaller than anyone expects must not end the worker."""

from pathlib import Path

import numpy as np

from tests.engine.adapters import tiny
from veneer import Workspace

WORDS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]


def base_bytes(context: int) -> bytes:
    """The tiny base with a vocabulary of bytes alone, so that every text is many tokens."""
    changes = {
        "llama.context_length": context,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": WORDS,
        "tokenizer.ggml.scores": np.zeros(len(WORDS), np.float32),
        "tokenizer.ggml.token_type": np.array([2, 3, 3] + [6] * 256, np.int32),
    }
    shapes = {name: (len(WORDS), tiny.WIDTH) for name in ("token_embd.weight", "output.weight")}
    return tiny.base_bytes(changes, shapes)


def test_a_base_whose_context_is_shorter_than_the_probes_text(tmp_path: Path):
    (tmp_path / "short.gguf").write_bytes(base_bytes(context=8))
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "short.gguf", name="short")
        workspace.activate("short")
        assert workspace.logits((5, 6, 7)).shape == (len(WORDS),)


def test_a_vocabulary_without_words_spells_every_space_in_three_bytes(tmp_path: Path):
    (tmp_path / "bytes.gguf").write_bytes(base_bytes(context=512))
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "bytes.gguf", name="bytes")
        workspace.activate("bytes")
        ids = workspace.tokenize(" " * 50)
        # Three bytes a space, one more space in front, and the token that begins a text.
        assert len(ids) == 3 * 51 + 1
