"""Does every row have its files, and every file a row?"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from veneer.activation.journal import Journal
from veneer.compose.manifest import Manifest
from veneer.compose.stacks import Stacks, read_manifest
from veneer.errors import Damaged, StoreError
from veneer.identity import Digest, canonical_json, short
from veneer.store.catalog import Catalog
from veneer.store.custody import Custody, needed_sentence
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.objects import Objects
from veneer.store.quarantine import Quarantine
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.verify import Verifier
from veneer.tasks import CancelToken
from veneer.upkeep.hashing import Hashing
from veneer.upkeep.report import Code, Finding, Found


class Entries:
    """Bases and adapters against the objects."""

    def __init__(
        self,
        layout: Layout,
        catalog: Catalog,
        objects: Objects,
        custody: Custody,
        verifier: Verifier,
    ) -> None:
        self._layout = layout
        self._verifier = verifier
        self._catalog = catalog
        self._objects = objects
        self._custody = custody

    def check(self, hashing: Hashing) -> Iterator[Found]:
        """Every row has its files, and every object a row. Raises `Cancelled`."""
        there = [d for path in self._objects.files() if (d := self._layout.object_at(path))]
        bases, adapters = self._catalog.bases(), self._catalog.adapters()
        for base in bases:
            yield from self._base(base, hashing)
        for adapter in adapters:
            yield from self._adapter(adapter, hashing)
        removed = [each.stored for each in self._catalog.removed()]
        named = {d for stored in (*bases, *adapters, *removed) for d in stored.objects}
        for digest in there:
            if digest not in named:
                yield _note("OBJECT_UNUSED", digest, "Nothing needs it; “veneer gc” removes it.")

    def _base(self, base: StoredBase, hashing: Hashing) -> Iterator[Found]:
        if base.copied:
            problem = "" if hashing.intact(base.digest) else "Its file is missing or damaged."
        else:
            problem = self._linked(base, hashing.cancel)
        if problem:
            yield self._lacking("base", base.name, base.digest, problem)

    def _linked(self, base: StoredBase, cancel: CancelToken) -> str:
        try:
            self._verifier.verify(base.file, base.digest, "It", cancel=cancel)
        except (Damaged, StoreError) as error:
            return error.message
        return ""

    def _adapter(self, adapter: StoredAdapter, hashing: Hashing) -> Iterator[Found]:
        lacking = [name for name, d in adapter.files.items() if not hashing.intact(d)]
        if lacking:
            problem = f"Missing or damaged: {', '.join(lacking)}."
            yield self._lacking("adapter", adapter.name, adapter.digest, problem)
        table = adapter.digest
        if table not in adapter.files.values() and not hashing.intact(table):
            message = "The table of its files is missing or damaged."
            finding = Finding(
                code="TABLE_MISSING", where=f"adapter:{adapter.name}", message=message
            )
            yield Found(finding, lambda: self._write_table(adapter, hashing))

    def _lacking(self, kind: str, name: str, digest: Digest, problem: str) -> Found:
        needed = needed_sentence(self._custody.needed_by(digest))
        message = f"{problem}{needed} Import it again, or remove it."
        return Found(Finding(code="FILES_MISSING", where=f"{kind}:{name}", message=message))

    def _write_table(self, adapter: StoredAdapter, hashing: Hashing) -> str:
        self._objects.add_bytes(canonical_json(dict(adapter.files)))
        hashing.forget(adapter.digest)
        return "written anew from the catalog"


class Compositions:
    """Compositions against the manifests, and the pointer against the journal."""

    def __init__(
        self, fs: Fs, layout: Layout, stacks: Stacks, journal: Journal, quarantine: Quarantine
    ) -> None:
        self._fs = fs
        self._layout = layout
        self._stacks = stacks
        self._journal = journal
        self._quarantine = quarantine

    def manifests(self) -> list[Path]:
        """Every file under `manifests/`."""
        folder = self._layout.manifests
        return [folder / name for name in self._fs.list_dir(folder)]

    def check(self) -> Iterator[Found]:
        """Every manifest says what names it and has a row, and every row a manifest."""
        paths, known = self.manifests(), self._stacks.known()
        for path in paths:
            yield from self._manifest(path, known)
        for digest, given_up in known.items():
            if not given_up and self._layout.manifest(digest) not in paths:
                yield self._missing(digest)
        active = self._journal.active()
        if active is not None and active.state != "COMMITTED":
            message = "What is active was never committed. Activate something."
            where = f"generation {active.number}"
            yield Found(Finding(code="POINTER", where=where, message=message))

    def _manifest(self, path: Path, known: dict[Digest, bool]) -> Iterator[Found]:
        where = path.relative_to(self._layout.root).as_posix()
        digest = self._layout.manifest_at(path)
        if digest is None:
            finding = Finding(code="STRAY", where=where, message="Veneer did not put it there.")
            yield Found(finding, lambda: f"kept as {self._quarantine.take(path)}")
            return
        try:
            manifest = read_manifest(self._fs, path, digest)
        except Damaged as error:
            message = error.message + self._named(digest)
            finding = Finding(code="MANIFEST_DAMAGED", where=where, message=message)
            yield Found(finding, partial(self._set_aside, path, digest, error.message))
            return
        if digest not in known:
            finding = Finding(code="MANIFEST_UNKNOWN", where=where, message="No row names it.")
            yield Found(finding, partial(self._adopt, manifest))
        elif known[digest]:
            message = "It was given up, and is there again."
            finding = Finding(code="MANIFEST_UNKNOWN", where=where, message=message)
            yield Found(finding, partial(self._adopt, manifest))

    def _missing(self, digest: Digest) -> Found:
        message = f"The manifest of composition {short(digest)} is missing.{self._named(digest)}"
        finding = Finding(code="MANIFEST_MISSING", where=short(digest), message=message)
        return Found(finding, lambda: self._give_up(digest, "missing"))

    def _named(self, digest: Digest) -> str:
        names = [n.name for n in self._stacks.named() if n.digest == digest and n.name]
        return needed_sentence(tuple(names)) + " Compose it again."

    def _set_aside(self, path: Path, digest: Digest, why: str) -> str:
        kept = self._quarantine.take(path)
        return f"kept as {kept}; {self._give_up(digest, why)}"

    def _give_up(self, digest: Digest, why: str) -> str:
        self._stacks.give_up(digest, why)
        return "given up; composing the same again brings it back"

    def _adopt(self, manifest: Manifest) -> str:
        self._stacks.adopt(manifest, named=False)
        return "taken up"


def _note(code: Code, digest: Digest, message: str) -> Found:
    return Found(Finding(code=code, where=short(digest, 12), message=message))
