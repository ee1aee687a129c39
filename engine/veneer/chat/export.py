"""A conversation as a document of its own: Markdown to read, JSON with everything in it."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from veneer.chat.comparisons import Kept
from veneer.chat.conversation import Conversation, Message, Stamp
from veneer.errors import UsageError
from veneer.identity import short

Form = Literal["markdown", "json"]
SUFFIXES: dict[str, Form] = {".md": "markdown", ".json": "json"}
FORMAT = "veneer-conversation"
VERSION = 1


def form_of(out: Path) -> Form:
    """What a file of this name is to hold. Raises `UsageError`."""
    form = SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise UsageError(f"A conversation is written to a file in .md or .json, not “{out.name}”.")
    return form


def exported(conversation: Conversation, comparisons: tuple[Kept, ...], form: Form) -> str:
    """The document. Markdown has the way that is shown; JSON has every way."""
    if form == "markdown":
        return _markdown(conversation)
    return _json(conversation, comparisons)


def _json(conversation: Conversation, comparisons: tuple[Kept, ...]) -> str:
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "setup": conversation.setup,
        "shown": [node.id for node in conversation.path],
        "messages": [
            {"id": n.id, "parent": n.parent, **msgspec.to_builtins(n.message)}
            for n in conversation.nodes
        ],
        "comparisons": [kept.comparison for kept in comparisons],
    }
    return msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


def _markdown(conversation: Conversation) -> str:
    parts = [f"# {conversation.title}", conversation.created_at]
    if conversation.setup.system:
        parts += ["## System", conversation.setup.system]
    for message in conversation.messages:
        parts += _turn(message)
    return "\n\n".join(parts) + "\n"


def _turn(message: Message) -> list[str]:
    if message.role == "user":
        return ["## Question", message.told]
    made = [*message.earlier, message.stamp] if message.stamp else [*message.earlier]
    return ["## Answer", message.text, *(f"*{_said(stamp)}*" for stamp in made)]


def _said(stamp: Stamp) -> str:
    return (
        f"{stamp.composition_name} ({short(stamp.composition_id)}), {stamp.tokens} tokens, "
        f"{stamp.tokens_per_second:.1f} tokens/s, first after {stamp.first_token_ms:.0f} ms"
    )
