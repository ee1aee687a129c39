"""Generations and their transitions, as durable rows, and the pointer to the active one."""

import sqlite3
from collections.abc import Sequence
from typing import Literal

import msgspec

from veneer.errors import NotFound
from veneer.identity import Digest
from veneer.store.database import Database, Row, now

State = Literal["REQUESTED", "VALIDATED", "STAGED", "COMMITTED", "ABORTED"]
Requester = Literal["window", "cli", "api", "recovery"]


class Transition(msgspec.Struct, frozen=True):
    """When a generation entered a state (UTC, ISO 8601)."""

    state: State
    at: str


class Pair(msgspec.Struct, frozen=True):
    """An adapter on a base."""

    adapter: Digest
    base: Digest


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """One activation. `restores` is the generation a rollback went back to.

    `confirmed` are the pairs of which whoever requested it said that they belong together.
    """

    number: int
    composition: Digest
    requested_by: Requester
    restores: int | None
    state: State
    reason: str | None
    timings_ms: dict[str, float]
    transitions: tuple[Transition, ...]
    confirmed: tuple[Pair, ...] = ()


class Journal:
    """Reads and writes the generations. Each call is one durable transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request(
        self,
        composition: Digest,
        by: Requester,
        restores: int | None = None,
        confirmed: Sequence[Pair] = (),
    ) -> int:
        """Open a generation, with what was confirmed for it; gives its number."""
        with self._database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO generations (composition, requested_by, restores, state)"
                " VALUES (?, ?, ?, 'REQUESTED')",
                (composition, by, restores),
            )
            number = cursor.lastrowid or 0
            _enter(connection, number, "REQUESTED")
            connection.executemany(
                "INSERT INTO confirmations VALUES (?, ?, ?)",
                [(pair.adapter, pair.base, number) for pair in confirmed],
            )
        return number

    def advance(self, number: int, state: Literal["VALIDATED", "STAGED"]) -> None:
        """Note that a step is done."""
        with self._database.transaction() as connection:
            _set_state(connection, number, state)

    def commit(self, number: int, timings_ms: dict[str, float]) -> None:
        """The commit point: the generation is committed and active, in one transaction."""
        with self._database.transaction() as connection:
            _set_state(connection, number, "COMMITTED")
            connection.execute(
                "UPDATE generations SET timings = ? WHERE number = ?",
                (msgspec.json.encode(timings_ms).decode(), number),
            )
            connection.execute("INSERT OR REPLACE INTO active VALUES (1, ?)", (number,))

    def abort(self, number: int, reason: str) -> None:
        """Close a generation that did not come to be. One that is committed stays committed.

        Ctrl-C can arrive between the commit and the return from it; the commit has happened then.
        """
        with self._database.transaction() as connection:
            closed = connection.execute(
                "UPDATE generations SET state = 'ABORTED', reason = ?"
                " WHERE number = ? AND state NOT IN ('COMMITTED', 'ABORTED')",
                (reason, number),
            )
            if closed.rowcount:
                _enter(connection, number, "ABORTED")

    def is_confirmed(self, pair: Pair) -> bool:
        """Whether a person has said that the adapter belongs on the base."""
        found = self._database.row(
            "SELECT 1 FROM confirmations WHERE adapter = ? AND base = ?", (pair.adapter, pair.base)
        )
        return found is not None

    def active(self) -> Generation | None:
        """The generation the pointer names, or None in a new workspace."""
        row = self._database.row(
            "SELECT generations.* FROM generations JOIN active ON generation = number"
        )
        return self._generation(row) if row else None

    def get(self, number: int) -> Generation:
        """One generation. Raises `NotFound`."""
        row = self._database.row("SELECT * FROM generations WHERE number = ?", (number,))
        if row is None:
            raise NotFound(f"There is no generation {number}.")
        return self._generation(row)

    def all(self, limit: int = 200) -> tuple[Generation, ...]:
        """Generations, newest first."""
        rows = self._database.rows(
            "SELECT * FROM generations ORDER BY number DESC LIMIT ?", (limit,)
        )
        return tuple(map(self._generation, rows))

    def kept(self, count: int) -> frozenset[Digest]:
        """The compositions of the newest `count` committed generations and of those under way.

        The newest committed one is the active one.
        """
        rows = self._database.rows(
            "SELECT composition FROM (SELECT composition FROM generations"
            " WHERE state = 'COMMITTED' ORDER BY number DESC LIMIT ?)"
            " UNION SELECT composition FROM generations"
            " WHERE state NOT IN ('COMMITTED', 'ABORTED')",
            (count,),
        )
        return frozenset(row["composition"] for row in rows)

    def unfinished(self) -> tuple[int, ...]:
        """Generations that were neither committed nor aborted."""
        rows = self._database.rows(
            "SELECT number FROM generations WHERE state NOT IN ('COMMITTED', 'ABORTED')"
        )
        return tuple(row["number"] for row in rows)

    def committed_before(self, number: int) -> tuple[Generation, ...]:
        """Committed generations older than this one, newest first."""
        rows = self._database.rows(
            "SELECT * FROM generations WHERE state = 'COMMITTED' AND number < ?"
            " ORDER BY number DESC",
            (number,),
        )
        return tuple(map(self._generation, rows))

    def _generation(self, row: Row) -> Generation:
        transitions = self._database.rows(
            "SELECT state, at FROM transitions WHERE generation = ? ORDER BY rowid",
            (row["number"],),
        )
        confirmed = self._database.rows(
            "SELECT adapter, base FROM confirmations WHERE generation = ? ORDER BY rowid",
            (row["number"],),
        )
        return Generation(
            number=row["number"],
            composition=row["composition"],
            requested_by=row["requested_by"],
            restores=row["restores"],
            state=row["state"],
            reason=row["reason"],
            timings_ms=msgspec.json.decode(row["timings"], type=dict[str, float]),
            transitions=tuple(Transition(t["state"], t["at"]) for t in transitions),
            confirmed=tuple(Pair(c["adapter"], c["base"]) for c in confirmed),
        )


def _set_state(connection: sqlite3.Connection, number: int, state: State) -> None:
    connection.execute("UPDATE generations SET state = ? WHERE number = ?", (state, number))
    _enter(connection, number, state)


def _enter(connection: sqlite3.Connection, number: int, state: State) -> None:
    connection.execute("INSERT INTO transitions VALUES (?, ?, ?)", (number, state, now()))
