"""Bases and adapters taken up again from objects that no row names.

Order: every object that is intact and belongs to nothing -> the tables among them, each an
adapter of several files -> what is left and is no table's: a lone adapter, or a base. What cannot
be read as either stays what it is, an object that nothing names.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

import msgspec

from veneer.adapters.base import read_base
from veneer.adapters.gguf_reader import is_adapter
from veneer.adapters.reading import read_adapter
from veneer.errors import VeneerError
from veneer.formats import gguf
from veneer.identity import Digest, canonical_json, digest_from, short
from veneer.store.catalog import Catalog
from veneer.store.database import now
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.objects import Objects
from veneer.store.records import OpenedSource, StoredAdapter, StoredBase
from veneer.store.refs import clean_name, free_name
from veneer.upkeep.hashing import Hashing

_TABLE_MAX = 64 << 10
_MAGIC = b"GGUF"


class Adopter:
    """Names go by what a base calls itself, or by the first digits."""

    def __init__(
        self, fs: Fs, layout: Layout, catalog: Catalog, objects: Objects, hashing: Hashing
    ) -> None:
        self._fs = fs
        self._layout = layout
        self._catalog = catalog
        self._objects = objects
        self._hashing = hashing

    def adopt(self) -> tuple[Digest, ...]:
        """Write a row for everything that can be read; gives what was taken up."""
        loose = set(self._loose())
        tables = {digest: files for digest in loose if (files := self._table(digest))}
        adopted = [d for d, files in tables.items() if self._adapter(d, files)]
        parts = {part for files in tables.values() for part in files.values()}
        for digest in sorted(loose - tables.keys() - parts):
            if self._lone(digest):
                adopted.append(digest)
        return tuple(adopted)

    def _loose(self) -> Iterator[Digest]:
        removed = [each.stored for each in self._catalog.removed()]
        stored = (*self._catalog.adapters(), *self._catalog.bases(), *removed)
        named = {d for each in stored for d in each.objects}
        for path in self._objects.files():
            digest = self._layout.object_at(path)
            if digest is not None and digest not in named and self._hashing.intact(digest):
                yield digest

    def _table(self, digest: Digest) -> dict[str, Digest] | None:
        """The files of which this object is the table, by name; None if it is none."""
        with self._objects.open(digest) as file:
            data = file.read(_TABLE_MAX + 1)
        try:
            table = msgspec.json.decode(data, type=dict[str, Digest])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        whole = canonical_json(dict(table)) == data
        return table if whole and all(map(digest_from, table.values())) else None

    def _lone(self, digest: Digest) -> bool:
        with self._objects.open(digest) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return self._adapter(digest, {"adapter.safetensors": digest})
            file.seek(0)
            with suppress(VeneerError):
                if not is_adapter(gguf.read_header(file)):
                    return self._base(digest, file)
        return self._adapter(digest, {"adapter.gguf": digest})

    def _base(self, digest: Digest, file: BinaryIO) -> bool:
        file.seek(0)
        base = read_base(file)
        wanted = clean_name(base.name or f"base-{short(digest)}")
        stored = StoredBase(
            digest=digest,
            name=free_name(wanted, self._catalog.names("bases")),
            path=str(self._objects.path(digest)),
            copied=True,
            base=base,
            added_at=now(),
        )
        self._catalog.put_base(stored)
        return True

    def _adapter(self, digest: Digest, files: dict[str, Digest]) -> bool:
        if not all(map(self._hashing.intact, files.values())):
            return False
        try:
            adapter = read_adapter(OpenedSource({n: self._door(d) for n, d in files.items()}))
        except VeneerError:
            return False
        stored = StoredAdapter(
            digest=digest,
            name=free_name(f"adapter-{short(digest)}", self._catalog.names("adapters")),
            files=files,
            size=sum(map(self._size, files.values())),
            adapter=adapter,
            added_at=now(),
        )
        self._catalog.put_adapter(stored)
        return True

    def _door(self, digest: Digest) -> Callable[[], BinaryIO]:
        return lambda: self._objects.open(digest)

    def _size(self, digest: Digest) -> int:
        found = self._fs.stat(self._objects.path(digest))
        return found.size if found is not None else 0
