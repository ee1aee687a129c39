"""What can still be read of a damaged database, copied into a new one.

Order: the new database gets the tables of the old one's version -> each table is read from both
ends until a damaged place -> rows that name a lost row forget it, or go. The old file must be a
copy: SQLite writes to what it opens.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from veneer.store.database import too_new
from veneer.store.schema import MIGRATIONS


class Salvaged(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows were saved, by table, and which tables were read to their end."""

    rows: dict[str, int]
    complete: frozenset[str]


def salvage(old: Path, new: Path) -> Salvaged:
    """Copy every row that can be read into a new database at `new`, of the same version.

    Nothing is created if nothing can be read. Raises `WorkspaceTooNew`.
    """
    with closing(sqlite3.connect(old)) as source:
        version = _version(source)
        if version > len(MIGRATIONS):
            raise too_new(old, version)
        if version == 0:
            return Salvaged(rows={}, complete=frozenset())
        source.text_factory = _text
        with closing(sqlite3.connect(new)) as target:
            _create_tables(target, version)
            copied = {table: _copy(source, target, table) for table in _tables(target)}
            _drop_dangling(target)
            target.commit()
    return Salvaged(
        rows={table: count for table, (count, _) in copied.items()},
        complete=frozenset(table for table, (_, complete) in copied.items() if complete),
    )


def _version(source: sqlite3.Connection) -> int:
    with suppress(sqlite3.Error):
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return int(source.execute("PRAGMA user_version").fetchone()[0])
    return 0


def _text(data: bytes) -> str:
    """A text that is none cannot be written again, and costs its row; not all the rows after it."""
    return data.decode("utf-8", "surrogateescape")


def _create_tables(target: sqlite3.Connection, version: int) -> None:
    for migration in MIGRATIONS[:version]:
        for statement in migration:
            target.execute(statement)
    target.execute(f"PRAGMA user_version = {version}")


def _tables(target: sqlite3.Connection) -> list[str]:
    found = target.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in found]


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[int, bool]:
    """How many rows were copied, and whether that is all of them."""
    columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    select = f"SELECT rowid, {', '.join(columns)} FROM {table} ORDER BY rowid"
    rows, complete = _read(source, select)
    if not complete:
        rows |= _read(source, f"{select} DESC")[0]
    count = 0
    for rowid in sorted(rows):
        try:
            target.execute(insert, rows[rowid])
            count += 1
        except (sqlite3.Error, UnicodeError):
            complete = False
    return count, complete


def _read(source: sqlite3.Connection, select: str) -> tuple[dict[int, tuple[object, ...]], bool]:
    rows: dict[int, tuple[object, ...]] = {}
    try:
        for rowid, *values in _each(source, select):
            rows[rowid] = tuple(values)
    except sqlite3.Error:
        return rows, False
    return rows, True


def _each(source: sqlite3.Connection, select: str) -> Iterator[tuple[int, *tuple[object, ...]]]:
    yield from source.execute(select)


def _drop_dangling(target: sqlite3.Connection) -> None:
    """A row that names a lost one forgets it or, where it cannot be without, goes as well.

    Removing one may leave another without what it names.
    """
    while dangling := target.execute("PRAGMA foreign_key_check").fetchall():
        for table, rowid, _, key in dangling:
            column = _optional_column(target, table, key)
            forget = f"UPDATE {table} SET {column} = NULL" if column else f"DELETE FROM {table}"
            target.execute(f"{forget} WHERE rowid = ?", (rowid,))


def _optional_column(target: sqlite3.Connection, table: str, key: int) -> str | None:
    """The column of a foreign key, if it may be NULL."""
    keys = target.execute(f"PRAGMA foreign_key_list({table})").fetchall()
    column = next(row[3] for row in keys if row[0] == key)
    described = target.execute(f"PRAGMA table_info({table})").fetchall()
    needed = next(row[3] or row[5] for row in described if row[1] == column)
    return None if needed else column
