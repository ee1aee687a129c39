"""Bases and adapters as rows. Only the catalog reads and writes their tables.

What is removed is no longer listed, but its record stays until it is dropped: an earlier
generation can still be rolled back to, and importing it again brings its notes back.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypeVar

import msgspec

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter, Target
from veneer.errors import NameTaken
from veneer.identity import Digest
from veneer.store.database import Database, Row, now
from veneer.store.records import Removed, StoredAdapter, StoredBase

T = TypeVar("T")
Table = Literal["bases", "adapters"]
_GONE = "digest NOT IN (SELECT digest FROM adapters UNION SELECT digest FROM bases)"
"""Of what was removed: what was not brought in again."""


@lru_cache(maxsize=16)
def _described(record: str) -> Base:
    """Kept, since every switch asks for its base several times, and it is a long read."""
    return msgspec.json.decode(record, type=Base)


@lru_cache(maxsize=4096)
def _read(record: str) -> Adapter:
    """Kept, so that views of thousands of adapters share them and do not read each anew."""
    adapter = msgspec.json.decode(record, type=Adapter)
    return msgspec.structs.replace(adapter, targets=_shared(adapter.targets))


@lru_cache(maxsize=256)
def _shared(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """The same targets as those of another adapter, if it has the same, as siblings do."""
    return targets


def _base(row: Row) -> StoredBase:
    return StoredBase(
        digest=row["digest"],
        name=row["name"],
        path=row["path"],
        copied=bool(row["copied"]),
        base=_described(row["record"]),
        added_at=row["added_at"],
    )


def _adapter(row: Row) -> StoredAdapter:
    return StoredAdapter(
        digest=row["digest"],
        name=row["name"],
        files=msgspec.json.decode(row["files"], type=dict[str, Digest]),
        size=row["size"],
        adapter=_read(row["record"]),
        added_at=row["added_at"],
        default_scale=row["default_scale"],
        trigger_text=row["trigger_text"],
        notes=row["notes"],
        tags=msgspec.json.decode(row["tags"], type=tuple[str, ...]),
        system_prompt=row["system_prompt"],
        license=row["license"],
        source=row["source"],
    )


def _table_of(stored: StoredBase | StoredAdapter) -> Table:
    return "bases" if isinstance(stored, StoredBase) else "adapters"


def _removed(row: Row) -> Removed:
    kind = StoredBase if row["kind"] == "bases" else StoredAdapter
    stored = msgspec.json.decode(row["record"], type=kind)
    return Removed(stored=stored, removed_at=row["removed_at"])


class Catalog:
    """Everything imported, by digest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def bases(self) -> tuple[StoredBase, ...]:
        """Every base, by name."""
        return self._read(_base, "SELECT * FROM bases ORDER BY name")

    def adapters(self) -> tuple[StoredAdapter, ...]:
        """Every adapter, by name."""
        return self._read(_adapter, "SELECT * FROM adapters ORDER BY name")

    def base(self, digest: Digest) -> StoredBase | None:
        """One base, or None."""
        found = self._read(_base, "SELECT * FROM bases WHERE digest = ?", (digest,))
        return found[0] if found else None

    def adapter(self, digest: Digest) -> StoredAdapter | None:
        """One adapter, or None."""
        found = self._read(_adapter, "SELECT * FROM adapters WHERE digest = ?", (digest,))
        return found[0] if found else None

    def names(self, table: Table) -> dict[str, Digest]:
        """Every name in a table and what it stands for."""
        rows = self._database.rows(f"SELECT name, digest FROM {table}")
        return {row["name"]: row["digest"] for row in rows}

    def put_base(self, stored: StoredBase) -> None:
        """Add a base, or update where it lies. Raises `NameTaken`."""
        with self._database.transaction() as connection, _unique(stored.name):
            connection.execute(
                "INSERT INTO bases (digest, name, path, copied, record, added_at)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE"
                " SET name = excluded.name, path = excluded.path, copied = excluded.copied",
                (
                    stored.digest,
                    stored.name,
                    stored.path,
                    stored.copied,
                    msgspec.json.encode(stored.base).decode(),
                    stored.added_at,
                ),
            )

    def put_adapter(self, stored: StoredAdapter) -> None:
        """Add an adapter, or update what its owner may change. Raises `NameTaken`."""
        with self._database.transaction() as connection, _unique(stored.name):
            connection.execute(
                "INSERT INTO adapters (digest, name, files, size, record, added_at,"
                " default_scale, trigger_text, notes, tags, system_prompt, license, source)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (digest) DO UPDATE SET name = excluded.name,"
                " default_scale = excluded.default_scale,"
                " trigger_text = excluded.trigger_text, notes = excluded.notes,"
                " tags = excluded.tags, system_prompt = excluded.system_prompt,"
                " license = excluded.license, source = excluded.source",
                (
                    stored.digest,
                    stored.name,
                    msgspec.json.encode(stored.files).decode(),
                    stored.size,
                    msgspec.json.encode(stored.adapter).decode(),
                    stored.added_at,
                    stored.default_scale,
                    stored.trigger_text,
                    stored.notes,
                    msgspec.json.encode(stored.tags).decode(),
                    stored.system_prompt,
                    stored.license,
                    stored.source,
                ),
            )

    def remove(self, stored: StoredBase | StoredAdapter) -> None:
        """Take a row out of the library, and keep it among what was removed."""
        table = _table_of(stored)
        record = msgspec.json.encode(stored).decode()
        with self._database.transaction() as connection:
            connection.execute(f"DELETE FROM {table} WHERE digest = ?", (stored.digest,))
            connection.execute(
                "INSERT OR REPLACE INTO removed (digest, kind, record, removed_at)"
                " VALUES (?, ?, ?, ?)",
                (stored.digest, table, record, now()),
            )

    def removed(self) -> tuple[Removed, ...]:
        """Everything that was removed, not brought in again and not dropped."""
        return self._read(_removed, f"SELECT * FROM removed WHERE {_GONE}")

    def withdraw(self, stored: StoredBase | StoredAdapter) -> None:
        """Undo that something was added: as `remove`, and nothing is kept of it."""
        with self._database.transaction() as connection:
            connection.execute(
                f"DELETE FROM {_table_of(stored)} WHERE digest = ?", (stored.digest,)
            )

    def removed_base(self, digest: Digest) -> StoredBase | None:
        """A base that was removed, or None."""
        found = self._removed(digest)
        return found if isinstance(found, StoredBase) else None

    def removed_adapter(self, digest: Digest) -> StoredAdapter | None:
        """An adapter that was removed, or None."""
        found = self._removed(digest)
        return found if isinstance(found, StoredAdapter) else None

    def drop(self, digests: Iterable[Digest]) -> None:
        """Forget for good what was removed. Its files are the caller's to remove, afterwards."""
        with self._database.transaction() as connection:
            connection.executemany("DELETE FROM removed WHERE digest = ?", [(d,) for d in digests])

    def drop_unreadable(self) -> int:
        """Remove the rows that cannot be read, and tell how many they were.

        For a database that is made anew, of which the old one is kept.
        """
        bad = [
            (table, row["digest"])
            for table, decode in (("bases", _base), ("adapters", _adapter), ("removed", _removed))
            for row in self._database.rows(f"SELECT * FROM {table}")
            if not _is_readable(decode, row)
        ]
        with self._database.transaction() as connection:
            for table, digest in bad:
                connection.execute(f"DELETE FROM {table} WHERE digest = ?", (digest,))
        return len(bad)

    def _removed(self, digest: Digest) -> StoredBase | StoredAdapter | None:
        found = self._read(
            _removed, f"SELECT * FROM removed WHERE digest = ? AND {_GONE}", (digest,)
        )
        return found[0].stored if found else None

    def _read(
        self, decode: Callable[[Row], T], sql: str, parameters: Sequence[str] = ()
    ) -> tuple[T, ...]:
        try:
            return tuple(map(decode, self._database.rows(sql, parameters)))
        except msgspec.DecodeError as error:
            raise self._database.damaged(f"has a row that cannot be read ({error})") from error


def _is_readable(decode: Callable[[Row], object], row: Row) -> bool:
    try:
        decode(row)
    except msgspec.DecodeError:
        return False
    return True


class _unique:  # noqa: N801 - reads as a phrase: `with _unique(name)`
    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, sqlite3.IntegrityError):
            raise NameTaken(f"Something else is named “{self._name}” already.") from error
