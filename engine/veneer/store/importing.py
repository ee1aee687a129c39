"""Bringing bases and adapters in.

An adapter: copy its files aside, hashing, and without the copies of the base's own weights that
PEFT puts beside the factors of an embedding -> read them strictly -> publish the objects -> write
the row. A base: hash it where it lies (or copy it in) -> read its header strictly -> write the
row. Whatever goes wrong before the row, nothing has changed.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

import msgspec

from veneer.adapters.base import Base, read_base
from veneer.adapters.model import Adapter
from veneer.adapters.reading import CameWith, read_adapter
from veneer.errors import Damaged, NameTaken, StoreError
from veneer.formats import chat_template, safetensors, tokenizer, witness
from veneer.identity import Digest, canonical_json, sha256_file, sha256_table, short
from veneer.store import hub
from veneer.store.catalog import Catalog, Table
from veneer.store.changes import Changes, Outcome
from veneer.store.database import now
from veneer.store.fs import FileStat, Fs
from veneer.store.intake import Intake, examine
from veneer.store.objects import Objects, Received, chunks_of
from veneer.store.records import OpenedSource, StoredAdapter, StoredBase
from veneer.store.refs import clean_name, free_name
from veneer.store.streamed import Streamed
from veneer.store.verify import Verifier
from veneer.tasks import CancelToken, Progress, silent

T = TypeVar("T")


@dataclass(frozen=True)
class Imported:
    """The result of an import. `already` is true if the same bytes were here before."""

    kind: Literal["base", "adapter", "stack"]
    id: Digest
    name: str
    already: bool


@dataclass(frozen=True)
class _Found:
    base: Base
    digest: Digest
    name: str
    place: Path


class Importer:
    """Turns paths into rows of the catalog."""

    def __init__(self, fs: Fs, catalog: Catalog, objects: Objects, verifier: Verifier) -> None:
        self._fs = fs
        self._catalog = catalog
        self._objects = objects
        self._verifier = verifier

    def import_path(
        self,
        path: Path,
        *,
        copy: bool = False,
        name: str | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Imported]:
        """Bring in what lies at `path`, or in a repository of a hub (see `hub.parse`).

        A base is linked in place unless `copy`. Raises `NotFound`, `HubFailed`, `FormatError`,
        `PickleRefused`, `UnsupportedAdapter`, `NameTaken`, `DiskFull`, `StoreError`, `Cancelled`;
        after any of them nothing has changed.
        """
        ref = hub.parse(path)
        if ref is not None:
            intake, source = hub.find(ref)
            return self._import_adapter(intake, source, name, progress, cancel)
        intake = examine(self._fs, path)
        if intake.kind == "base":
            return self._import_base(intake, copy, name, progress, cancel)
        return self._import_adapter(intake, str(path), name, progress, cancel)

    def import_expected(
        self,
        intake: Intake,
        path: Path,
        digest: Digest,
        progress: Progress,
        cancel: CancelToken | None,
    ) -> Imported:
        """Bring in, from the archive at `path`, something that must turn out to be `digest`.

        A base is copied in. Raises `Damaged` if it is something else, and as `import_path`.
        """
        if intake.kind == "base":
            return self._import_base(intake, True, None, progress, cancel, digest).value
        return self._import_adapter(intake, str(path), None, progress, cancel, digest).value

    def _name_for(self, table: Table, digest: Digest, intake: Intake, wanted: str | None) -> str:
        """The name to give: the wanted one if it is free, or what it has, or a free one."""
        names = self._catalog.names(table)
        if wanted is not None:
            name = clean_name(wanted)
            if names.get(name, digest) != digest:
                raise NameTaken(f"Something else is named “{name}” already.")
            return name
        kept = [name for name, owner in names.items() if owner == digest]
        return kept[0] if kept else free_name(intake.name, names)

    def _import_adapter(
        self,
        intake: Intake,
        origin: str,
        name: str | None,
        progress: Progress,
        cancel: CancelToken | None,
        expected: Digest | None = None,
    ) -> Outcome[Imported]:
        with ExitStack() as stack:
            received = self._receive(intake, stack, progress, cancel)
            source = OpenedSource({n: r.open for n, r in received.items()})
            adapter = read_adapter(source, self._came_with(intake))
            files = {n: r.digest for n, r in received.items()}
            digest = next(iter(files.values())) if len(files) == 1 else sha256_table(files)
            _require(expected, digest, intake)
            given = self._name_for("adapters", digest, intake, name)
            if cancel is not None:
                cancel.check()
            before = self._catalog.adapter(digest)
            stored = (
                before
                or self._brought_back(digest, adapter)
                or StoredAdapter(
                    digest=digest,
                    name=given,
                    files=files,
                    size=sum(r.size for r in received.values()),
                    adapter=adapter,
                    added_at=now(),
                    source=origin,
                )
            )
            with self._objects.naming:
                self._publish_adapter(files, received)
                self._catalog.put_adapter(msgspec.structs.replace(stored, name=given))
        return Outcome(
            Imported("adapter", digest, given, already=before is not None),
            Changes(adapters=frozenset({digest})),
        )

    def _brought_back(self, digest: Digest, adapter: Adapter) -> StoredAdapter | None:
        """One that was removed, with its owner's notes and as it is read now."""
        removed = self._catalog.removed_adapter(digest)
        if removed is None:
            return None
        return msgspec.structs.replace(removed, adapter=adapter, added_at=now())

    def _came_with(self, intake: Intake) -> CameWith:
        template = self._beside(intake, chat_template.TEMPLATE, chat_template.read_template)
        return CameWith(
            vocabulary=self._beside(intake, tokenizer.FILE, tokenizer.read_tokenizer),
            chat_template=template
            or self._beside(intake, chat_template.CONFIG, chat_template.read_config),
        )

    def _beside(self, intake: Intake, name: str, read: Callable[[BinaryIO], T | None]) -> T | None:
        entry = intake.beside.get(name)
        if entry is None:
            return None
        with self._fs.open_read(entry) if isinstance(entry, Path) else entry.open() as file:
            return read(file)

    def _publish_adapter(self, files: dict[str, Digest], received: dict[str, Received]) -> None:
        for item in received.values():
            self._publish(item)
        if len(files) > 1:
            # The table is an object too, so that the catalog can be rebuilt from the objects.
            self._objects.add_bytes(canonical_json(dict(files)))

    def _receive(
        self,
        intake: Intake,
        stack: ExitStack,
        progress: Progress,
        cancel: CancelToken | None,
    ) -> dict[str, Received]:
        received: dict[str, Received] = {}
        sizes = {n: self._size_of(entry) for n, entry in intake.files.items()}
        before, total = 0, sum(sizes.values())
        for file_name, entry in intake.files.items():
            reported = _after(before, total, progress)
            item = stack.enter_context(self._receive_one(entry, reported, cancel))
            received[file_name] = stack.enter_context(self._lean(file_name, item, cancel))
            before += sizes[file_name]
        return received

    def _size_of(self, entry: Path | Streamed) -> int:
        return _size(self._fs, entry) if isinstance(entry, Path) else entry.size

    def _receive_one(
        self, entry: Path | Streamed, progress: Progress, cancel: CancelToken | None
    ) -> Received:
        opened = self._fs.open_read(entry) if isinstance(entry, Path) else entry.open()
        with opened as file:
            return self._objects.receive(chunks_of(file), self._size_of(entry), progress, cancel)

    def _lean(self, name: str, item: Received, cancel: CancelToken | None) -> Received:
        """The file without the base's own weights if it holds any, of which samples stay."""
        if not name.lower().endswith(".safetensors"):
            return item
        with item.open() as file:
            lean = witness.rewritten(file, safetensors.read_header(file))
            if lean is None:
                return item
            size, chunks = lean
            return self._objects.receive(chunks, size, cancel=cancel)

    def _publish(self, item: Received) -> Path:
        path = item.publish()
        state = self._fs.stat(path)
        if state is not None:
            self._verifier.remember(path, state, item.digest)
        return path

    def _import_base(
        self,
        intake: Intake,
        copy: bool,
        name: str | None,
        progress: Progress,
        cancel: CancelToken | None,
        expected: Digest | None = None,
    ) -> Outcome[Imported]:
        (entry,) = intake.files.values()
        with ExitStack() as holding:
            if copy or not isinstance(entry, Path):
                found = self._copy_base(entry, intake, name, progress, cancel, expected, holding)
            else:
                with self._fs.open_read(entry) as file:
                    base = read_base(file)
                    file.seek(0)
                    digest = self._hash_in_place(entry, file, progress, cancel)
                given = self._name_for("bases", digest, intake, name)
                found = _Found(base, digest, given, entry)
            already = self._catalog.base(found.digest) is not None
            self._catalog.put_base(
                StoredBase(
                    digest=found.digest,
                    name=found.name,
                    path=str(found.place),
                    copied=found.place != entry,
                    base=found.base,
                    added_at=now(),
                )
            )
        return Outcome(
            Imported("base", found.digest, found.name, already=already),
            Changes(bases=frozenset({found.digest})),
        )

    def _copy_base(
        self,
        entry: Path | Streamed,
        intake: Intake,
        name: str | None,
        progress: Progress,
        cancel: CancelToken | None,
        expected: Digest | None,
        holding: ExitStack,
    ) -> "_Found":
        """Copy a base in; from publishing it on, `holding` keeps it from being collected."""
        with self._receive_one(entry, progress, cancel) as received:
            with received.open() as copied:
                base = read_base(copied)
            digest = received.digest
            _require(expected, digest, intake)
            given = self._name_for("bases", digest, intake, name)
            holding.enter_context(self._objects.naming)
            return _Found(base, digest, given, self._publish(received))

    def _hash_in_place(
        self, path: Path, file: BinaryIO, progress: Progress, cancel: CancelToken | None
    ) -> Digest:
        before = _state(self._fs, path)
        digest = sha256_file(file, before.size, progress, cancel)
        if _state(self._fs, path).key != before.key:
            raise Damaged(f"{path} was being written while it was read. Try again when it rests.")
        self._verifier.remember(path, before, digest)
        return digest


def _after(before: int, total: int, progress: Progress) -> Progress:
    """The progress of one file among several."""
    return lambda done, of: progress(before + done, total)


def _require(expected: Digest | None, digest: Digest, intake: Intake) -> None:
    if expected is not None and digest != expected:
        raise Damaged(
            f"“{intake.name}” in the package is damaged: it hashes to {short(digest)}, not to "
            f"{short(expected)}. Ask for the package again."
        )


def _state(fs: Fs, path: Path) -> FileStat:
    found = fs.stat(path)
    if found is None:
        raise StoreError(f"{path} vanished while it was being imported.")
    return found


def _size(fs: Fs, path: Path) -> int:
    return _state(fs, path).size
