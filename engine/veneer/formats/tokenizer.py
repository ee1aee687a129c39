"""Which tokens a vocabulary has: how many, and a sample of their texts, to tell two apart.

Hugging Face's `tokenizer.json` and GGUF's list spell the same token the same way, but for a few
that were added; so vocabularies are of two tokenizers if most of the sample differs.
"""

from dataclasses import dataclass
from typing import BinaryIO, Final

import msgspec

FILE: Final = "tokenizer.json"
_FILE_MAX: Final = 64 << 20
_SAMPLED: Final = range(0, 16_000, 500)
_TEXT_MAX: Final = 64


@dataclass(frozen=True)
class Vocabulary:
    """The number of tokens, and the texts of some, by fixed ids; empty where there is none."""

    count: int
    sample: tuple[str, ...]


class _Added(msgspec.Struct):
    id: int
    content: str


class _Model(msgspec.Struct):
    vocab: dict[str, int] | list[tuple[str, float]]


class _Tokenizer(msgspec.Struct):
    model: _Model
    added_tokens: list[_Added] = []


def read_tokenizer(file: BinaryIO) -> Vocabulary | None:
    """An open `tokenizer.json`; None for one that cannot be understood, or has no tokens."""
    raw = file.read(_FILE_MAX + 1)
    if len(raw) > _FILE_MAX:
        return None
    try:
        tokenizer = msgspec.json.decode(raw, type=_Tokenizer)
    except (msgspec.DecodeError, RecursionError):
        return None
    texts = _texts(tokenizer.model)
    texts |= {added.id: added.content for added in tokenizer.added_tokens}
    if not texts or min(texts) < 0:
        return None
    return Vocabulary(max(texts) + 1, tuple(texts.get(at, "")[:_TEXT_MAX] for at in _SAMPLED))


def sample_of(tokens: tuple[bytes, ...]) -> tuple[str, ...]:
    """The sample of a GGUF's list of tokens."""
    texts = (tokens[at] if at < len(tokens) else b"" for at in _SAMPLED)
    return tuple(text.decode("utf-8", "replace")[:_TEXT_MAX] for text in texts)


def is_another(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two samples are of two tokenizers. Without anything to compare, they are not."""
    both = [(a, b) for a, b in zip(one, other, strict=False) if a and b]
    return 2 * sum(a != b for a, b in both) > len(both)


def _texts(model: _Model) -> dict[int, str]:
    if isinstance(model.vocab, dict):
        return {at: text for text, at in model.vocab.items()}
    return {at: text for at, (text, _) in enumerate(model.vocab)}
