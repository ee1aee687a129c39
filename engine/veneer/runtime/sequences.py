"""Evaluated sequences of tokens, and when one may stand for the beginning of another."""

from dataclasses import dataclass

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Snapshot:
    """The state of one evaluated sequence of tokens."""

    tokens: Tokens
    state: bytes


def continues(done: Tokens, prompt: Tokens) -> bool:
    """Whether `prompt` begins with all of `done` and goes on."""
    return 0 < len(done) < len(prompt) and prompt[: len(done)] == done
