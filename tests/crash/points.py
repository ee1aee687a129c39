"""The points at which something may go wrong, counted as a run passes them."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engine.faults import Call
from veneer.store import database
from veneer.store.database import Database

LOOKING = {"stat", "open_read", "read", "list_dir", "free_bytes", "query"}
"""Operations that leave nothing behind: a cut before one is a cut before the next that does."""

_SQLITE = {"ENOSPC": sqlite3.SQLITE_FULL, "EROFS": sqlite3.SQLITE_READONLY}

Happening = Callable[[Call], None]


class PowerCut(BaseException):
    """Nothing that is done from here on has any effect."""


def everything(call: Call) -> bool:
    """What can fail. Nothing can, once a transaction is committed."""
    return call.operation != "committed"


def changes(call: Call) -> bool:
    """What can leave something half done."""
    if call.operation == "make_dirs" and call.path.exists():
        return False
    return call.operation not in LOOKING


class Points:
    """Counts points; at number `at` (from 1), and from then on if `lasting`, `happening` happens.

    `reached` tells whether number `at` was ever reached.
    """

    def __init__(
        self,
        happening: Happening = lambda call: None,
        at: int = 0,
        *,
        which: Callable[[Call], bool] = everything,
        lasting: bool = False,
    ) -> None:
        self._happening = happening
        self._at = at
        self._which = which
        self.lasting = lasting
        self._dead = False
        self._count = 0
        self.met: Call | None = None

    @property
    def reached(self) -> bool:
        return self.met is not None

    def pass_by(self, call: Call) -> None:
        """Come to a point."""
        if self._dead:
            raise PowerCut
        if not self._at or not self._which(call):
            return
        self._count += 1
        if self._count == self._at or (self.lasting and self.reached):
            self.met = self.met or call
            self._happening(call)

    def cut(self) -> None:
        """From now on nothing has any effect."""
        self._dead = True
        raise PowerCut

    def heal(self) -> None:
        """From now on nothing happens."""
        self._at = 0


def watched_database(points: Points) -> type[Database]:
    """A database whose transactions and queries are points."""

    class Watched(Database):
        @contextmanager
        def transaction(self) -> Iterator[sqlite3.Connection]:
            with super().transaction() as connection:
                _pass(points, "begin", self._path)
                yield connection
                _pass(points, "commit", self._path)
            _pass(points, "committed", self._path)

        def rows(self, sql, parameters=()):
            with database._translated(self._path):
                _pass(points, "query", self._path)
            return super().rows(sql, parameters)

        def row(self, sql, parameters=()):
            with database._translated(self._path):
                _pass(points, "query", self._path)
            return super().row(sql, parameters)

    return Watched


def _pass(points: Points, operation: str, path: Path) -> None:
    try:
        points.pass_by(Call(operation, path))
    except OSError as failed:
        error = sqlite3.OperationalError(failed.strerror)
        name = errno.errorcode[failed.errno]
        error.sqlite_errorcode = _SQLITE.get(name, sqlite3.SQLITE_IOERR)
        raise error from failed
