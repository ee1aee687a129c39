"""Conversations and messages as immutable values."""

from typing import Literal

import msgspec

from veneer.identity import Digest
from veneer.runtime.protocol import FinishReason

Role = Literal["system", "user", "assistant"]


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What made an answer, and how fast."""

    composition_id: Digest
    composition_name: str
    generation: int
    finish_reason: FinishReason
    tokens: int
    tokens_per_second: float
    first_token_ms: float


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn. Only answers have a stamp."""

    role: Role
    text: str
    created_at: str
    stamp: Stamp | None = None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with all its messages, oldest first."""

    id: int
    title: str
    created_at: str
    messages: tuple[Message, ...] = ()


def title_from(text: str) -> str:
    """A title for a conversation that begins with this."""
    line = " ".join(text.split())
    return line if len(line) <= 48 else line[:47].rstrip() + "…"
