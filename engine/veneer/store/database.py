"""The one SQLite database of a workspace.

`transaction()` is the only way to write: all of it is durable (`synchronous=FULL`) or none of it
happened. One connection serves every thread, one at a time.
"""

import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veneer.errors import CatalogDamaged, DiskFull, StoreError, WorkspaceTooNew
from veneer.store.schema import MIGRATIONS

Row = sqlite3.Row
_PRIMARY = 0xFF
"""SQLite's extended error codes have the primary one in their lowest byte."""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def now() -> str:
    """The present moment, UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def damaged(path: Path, how: str) -> CatalogDamaged:
    """The error for a database at `path` that cannot be used, with the way out of it."""
    return CatalogDamaged(
        f"The catalog {path} {how}. “veneer fsck --repair” makes a new one from what can be read "
        "of it and from the files beside it, and keeps the old one."
    )


def too_new(path: Path, version: int) -> WorkspaceTooNew:
    """The error for a database that a later Veneer wrote."""
    return WorkspaceTooNew(
        f"{path} was written by a later Veneer (format {version}, this one knows "
        f"{len(MIGRATIONS)}). Update Veneer, or use another workspace."
    )


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
        if code == sqlite3.SQLITE_FULL:
            raise DiskFull(f"The disk is full: could not write {path}.") from error
        if code in _DAMAGED:
            raise damaged(path, f"is damaged ({error})") from error
        raise StoreError(f"The catalog {path} refused: {error}.") from error


class Database:
    """An open database. A reader can look but not write."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._path = path
        self._lock = threading.RLock()
        with _translated(path):
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=10
            )
        try:
            self._prepare(writable=writable)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the connection; SQLite folds its log into the file."""
        with self._lock:
            self._connection.close()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with self._lock, _translated(self._path):
            return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, or None."""
        with self._lock, _translated(self._path):
            return self._connection.execute(sql, parameters).fetchone()

    def damaged(self, how: str) -> CatalogDamaged:
        """The error for rows that are not what they should be."""
        return damaged(self._path, how)

    def problems(self) -> tuple[str, ...]:
        """What SQLite finds wrong with its own file: sentences, none if it is whole."""
        found = [row[0] for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]
        dangling = self.rows("PRAGMA foreign_key_check")
        return (*found, *(f"a row of {row[0]} names a missing one of {row[2]}" for row in dangling))

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Everything executed inside commits together, or not at all."""
        with self._lock, _translated(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself where the disk refused.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _prepare(self, *, writable: bool) -> None:
        self._connection.row_factory = sqlite3.Row
        with _translated(self._path):
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                self._connection.execute(f"PRAGMA {pragma}")
        self._migrate()
        if not writable:
            self._connection.execute("PRAGMA query_only=ON")

    def _migrate(self) -> None:
        found = self.row("PRAGMA user_version")
        version = int(found[0]) if found else 0
        if version > len(MIGRATIONS):
            raise too_new(self._path, version)
        for number in range(version, len(MIGRATIONS)):
            self._apply(number)

    def _apply(self, number: int) -> None:
        with self.transaction() as connection:
            # Another process may have brought it here while this one waited for the lock.
            if connection.execute("PRAGMA user_version").fetchone()[0] > number:
                return
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
