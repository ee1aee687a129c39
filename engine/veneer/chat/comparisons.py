"""Comparisons: the same question put to several compositions, and what a person thought of it."""

import msgspec

from veneer.chat.conversation import Stamp
from veneer.chat.setup import Setup
from veneer.errors import NotFound
from veneer.identity import Digest
from veneer.store.database import Database


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. `error` says why there is none, or not all of one."""

    composition_id: Digest
    text: str = ""
    stamp: Stamp | None = None
    error: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A question and its answers. `vote` is the side that was found best, None if none was.

    `after` is the message that the question followed, None at the beginning.
    """

    question: str
    setup: Setup
    after: int | None
    created_at: str
    sides: tuple[Side, ...]
    vote: int | None = None
    note: str = ""


class Kept(msgspec.Struct, frozen=True):
    """A comparison under its number."""

    id: int
    comparison: Comparison


class Comparisons:
    """The comparisons of a workspace, each with its conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: int) -> tuple[Kept, ...]:
        """Those of a conversation, newest first."""
        rows = self._database.rows(
            "SELECT id, record FROM comparisons WHERE conversation = ? ORDER BY id DESC",
            (conversation,),
        )
        return tuple(Kept(r["id"], _decoded(r["record"])) for r in rows)

    def keep(self, conversation: int, comparison: Comparison) -> Kept:
        """Add one to a conversation."""
        with self._database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO comparisons (conversation, record) VALUES (?, ?)",
                (conversation, msgspec.json.encode(comparison).decode()),
            )
        return Kept(cursor.lastrowid or 0, comparison)

    def judge(self, number: int, vote: int | None, note: str) -> Kept:
        """Keep what a person thought of the answers. Raises `NotFound`."""
        row = self._database.row("SELECT record FROM comparisons WHERE id = ?", (number,))
        if row is None:
            raise NotFound(f"There is no comparison {number}.")
        judged = msgspec.structs.replace(_decoded(row["record"]), vote=vote, note=note)
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE comparisons SET record = ? WHERE id = ?",
                (msgspec.json.encode(judged).decode(), number),
            )
        return Kept(number, judged)


def _decoded(record: str) -> Comparison:
    return msgspec.json.decode(record, type=Comparison)
