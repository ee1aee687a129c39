"""The stacks that a person keeps at hand, each under one of the keys 1 to 9.

A pin goes with its stack: it follows a new name, and leaves when the stack is removed.
"""

from collections.abc import Mapping

from veneer.errors import NotFound, UsageError
from veneer.store.changes import Changes
from veneer.store.database import Database

KEYS = range(1, 10)


class Pins:
    """Which stack is under which key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Mapping[int, str]:
        """The names of the pinned stacks by key, in the order of the keys."""
        rows = self._database.rows("SELECT key, stack FROM pins ORDER BY key")
        return {row["key"]: row["stack"] for row in rows}

    def pin(self, stack: str, key: int) -> Changes:
        """Put a stack under a key, in place of what was there. Raises `NotFound`, `UsageError`."""
        if key not in KEYS:
            raise UsageError(f"A stack is pinned to a key from 1 to 9, not to {key}.")
        changed = self._composition(stack)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM pins WHERE stack = ? OR key = ?", (stack, key))
            connection.execute("INSERT INTO pins (key, stack) VALUES (?, ?)", (key, stack))
        return changed

    def unpin(self, stack: str) -> Changes:
        """Take a stack off its key; no error if it had none. Raises `NotFound`."""
        changed = self._composition(stack)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM pins WHERE stack = ?", (stack,))
        return changed

    def _composition(self, stack: str) -> Changes:
        row = self._database.row("SELECT composition FROM stacks WHERE name = ?", (stack,))
        if row is None:
            raise NotFound(f"There is no stack called “{stack}”.")
        return Changes(compositions=frozenset({row["composition"]}))
