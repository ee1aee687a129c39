"""What a tokenizer.json tells of its vocabulary, and when two vocabularies are one."""

import io
import json

import pytest

from veneer.formats import tokenizer
from veneer.formats.tokenizer import Vocabulary, is_another, read_tokenizer, sample_of


def read(value: object) -> Vocabulary | None:
    return read_tokenizer(io.BytesIO(json.dumps(value).encode()))


def test_byte_pairs_with_added_tokens():
    vocab = {f"t{i}": i for i in range(1200)}
    added = [{"id": 0, "content": "<pad>", "special": True}, {"id": 1300, "content": "<new>"}]
    found = read(
        {"version": "1.0", "added_tokens": added, "model": {"type": "BPE", "vocab": vocab}}
    )
    assert found is not None
    assert found.count == 1301
    assert found.sample == ("<pad>", "t500", "t1000", *[""] * 29)


def test_unigrams_are_numbered_by_their_places():
    vocab = [[f"u{i}", -1.5] for i in range(501)]
    assert read({"model": {"vocab": vocab}}) == Vocabulary(501, ("u0", "u500", *[""] * 30))


def test_the_tokens_of_a_gguf_are_sampled_alike():
    tokens = tuple(f"t{i}".encode() for i in range(1200))
    vocab = {f"t{i}": i for i in range(1200)}
    found = read({"model": {"vocab": vocab}})
    assert found is not None
    assert sample_of(tokens) == found.sample


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b'{"model": {}}',
        b'{"model": {"vocab": {}}}',
        b'{"model": {"vocab": {"a": -1}}}',
        b'{"model": {"vocab": {"a": "b"}}}',
        b'{"model": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_tokenizer_is_none(raw: bytes):
    assert read_tokenizer(io.BytesIO(raw)) is None


def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch):
    raw = b'{"model": {"vocab": {"a": 0}}}'
    assert read_tokenizer(io.BytesIO(raw)) is not None
    monkeypatch.setattr(tokenizer, "_FILE_MAX", len(raw) - 1)
    assert read_tokenizer(io.BytesIO(raw)) is None


@pytest.mark.parametrize(
    ("one", "other", "another"),
    [
        ((), ("a", "b"), False),
        (("", "b"), ("a", ""), False),
        (("a", "b", "c"), ("a", "b", "c", "d"), False),
        (("<pad>", "b"), ("<unk>", "b"), False),
        (("a", "b", "c"), ("x", "y", "c"), True),
    ],
)
def test_most_of_what_both_have_decides(one, other, another):
    assert is_another(one, other) is another
