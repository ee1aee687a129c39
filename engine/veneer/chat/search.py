"""Finding words in all that was said, in any conversation and on any of its ways."""

import msgspec

from veneer.chat.conversation import Conversation
from veneer.chat.history import History
from veneer.store.database import Database

_BEFORE, _AFTER = 24, 72


class Found(msgspec.Struct, frozen=True):
    """A conversation in which the words are: in `node`, in this excerpt; None is in its title."""

    conversation: Conversation
    node: int | None
    excerpt: str


class _Said(msgspec.Struct, frozen=True):
    text: str


def search(database: Database, history: History, words: str) -> tuple[Found, ...]:
    """The conversations that have these words in this order, each with the newest place.

    Upper and lower case are the same. In the order of `History.all`.
    """
    wanted = _folded(words)
    if not wanted:
        return ()
    places = _places(database, wanted)
    found: list[Found] = []
    for conversation in history.all():
        if conversation.id in places:
            found.append(Found(conversation, *places[conversation.id]))
        elif wanted in _folded(conversation.title):
            found.append(Found(conversation, None, ""))
    return tuple(found)


def _places(database: Database, wanted: str) -> dict[int, tuple[int, str]]:
    """By conversation, the newest message that has the words, and an excerpt of it."""
    rows = database.rows("SELECT conversation, id, record FROM messages ORDER BY id DESC")
    decoder = msgspec.json.Decoder(_Said)
    found: dict[int, tuple[int, str]] = {}
    for row in rows:
        if row["conversation"] in found:
            continue
        said = " ".join(decoder.decode(row["record"]).text.split())
        # SQLite's own comparison knows no case beyond ASCII.
        at = said.casefold().find(wanted)
        if at >= 0:
            found[row["conversation"]] = row["id"], _excerpt(said, at)
    return found


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _excerpt(said: str, at: int) -> str:
    start, end = max(0, at - _BEFORE), at + _AFTER
    return ("…" if start else "") + said[start:end] + ("…" if end < len(said) else "")
