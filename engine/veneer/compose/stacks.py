"""Compositions: made, saved under a name, found again.

Order of writing: manifest file -> row -> name. A manifest's file is named by its composition id,
which is computed again at every reading, so a manifest that was tampered with is never used: it
goes into quarantine, and composing the same again writes it anew.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from veneer.compose.manifest import (
    AdapterRef,
    BaseRef,
    Envelope,
    Manifest,
    Semantic,
    checked,
    decode,
    encode,
)
from veneer.errors import Damaged, ManifestError, NotFound, VeneerError
from veneer.identity import Digest, short
from veneer.store.changes import Changes, Outcome
from veneer.store.database import Database, now
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.quarantine import Quarantine
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.refs import Named, clean_name, resolve


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """A composition the workspace knows. `name` is the stack that stands for it, if any.

    `suspect` holds the sentence of the crash it caused, or None.
    """

    id: Digest
    name: str | None
    manifest: Manifest
    suspect: str | None
    created_at: str


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A saved stack whose manifest is missing or damaged, and the sentence that says so."""

    id: Digest
    name: str
    problem: str


class Stacks:
    """The compositions of a workspace and the names people gave them.

    Without a `quarantine`, as where a workspace is only looked at, damaged manifests stay.
    """

    def __init__(
        self,
        fs: Fs,
        layout: Layout,
        database: Database,
        tool: str,
        quarantine: Quarantine | None = None,
    ) -> None:
        self._fs = fs
        self._layout = layout
        self._database = database
        self._tool = tool
        self._quarantine = quarantine

    def compose(
        self,
        base: StoredBase,
        adapters: Sequence[tuple[StoredAdapter, float]] = (),
        *,
        name: str | None = None,
        notes: str = "",
    ) -> Outcome[Composition]:
        """Make a composition, and save it as a stack if a name is given.

        A name that another composition had now stands for this one; the other stays in the
        history. Raises `ManifestError`, `StoreError`, `DiskFull`.
        """
        semantic = checked(
            Semantic(
                base=base_ref(base),
                adapters=tuple(AdapterRef(digest=a.digest, scale=s) for a, s in adapters),
            )
        )
        label = clean_name(name) if name is not None else ""
        manifest = self._manifest(semantic, label, notes)
        if name is not None:
            self._name(label, manifest.id)
        return Outcome(self.get(manifest.id), Changes(compositions=frozenset({manifest.id})))

    def base_alone(self, composition: Composition) -> Composition:
        """The same base without any adapter. Raises `StoreError`, `DiskFull`."""
        semantic = Semantic(base=composition.manifest.composition.base, adapters=())
        return self.get(self._manifest(semantic, "", "").id)

    def get(self, composition: Digest) -> Composition:
        """One composition. Raises `NotFound` or `Damaged`."""
        row = self._database.row(
            "SELECT compositions.*, stacks.name FROM compositions LEFT JOIN stacks"
            " ON stacks.composition = id WHERE id = ? ORDER BY saved_at DESC",
            (composition,),
        )
        if row is None:
            raise NotFound(f"There is no composition {short(composition)}.")
        return Composition(
            id=composition,
            name=row["name"],
            manifest=self._read(composition),
            suspect=row["suspect"],
            created_at=row["created_at"],
        )

    def saved(self) -> tuple[Composition, ...]:
        """Every stack that has a name and can be read, by name."""
        return tuple(found for found in self._named() if isinstance(found, Composition))

    def unreadable(self) -> tuple[Unreadable, ...]:
        """Every other stack that has a name, by name."""
        return tuple(found for found in self._named() if isinstance(found, Unreadable))

    def named(self) -> list[Named]:
        """Everything here that a ref may mean: named stacks, and bare compositions by id."""
        stacks = self._database.rows("SELECT name, composition FROM stacks")
        ids = self._database.rows("SELECT id FROM compositions")
        named = [Named("composition", row["name"], row["composition"]) for row in stacks]
        return named + [Named("composition", None, row["id"]) for row in ids]

    def find(self, ref: str) -> Composition:
        """The composition that `ref` means. Raises `NotFound` or `AmbiguousRef`."""
        return self.get(resolve(ref, self.named()).digest)

    def forget(self, name: str) -> Changes:
        """Remove a stack's name. The composition stays, for the history."""
        row = self._database.row("SELECT composition FROM stacks WHERE name = ?", (name,))
        if row is None:
            raise NotFound(f"There is no stack called “{clean_name(name)}”.")
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM stacks WHERE name = ?", (name,))
        return Changes(compositions=frozenset({row["composition"]}))

    def mark_suspect(self, composition: Digest, reason: str | None) -> Changes:
        """Note that running this took the worker down (or, with None, that it did not)."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE compositions SET suspect = ? WHERE id = ?", (reason, composition)
            )
        return Changes(compositions=frozenset({composition}))

    def put_signed(self, manifest: Manifest) -> Outcome[Composition]:
        """Keep a composition that is known already with another envelope. Raises `NotFound`."""
        self.get(manifest.id)
        self._write(manifest)
        return Outcome(self.get(manifest.id), Changes(compositions=frozenset({manifest.id})))

    def known(self) -> dict[Digest, bool]:
        """Every composition, and whether its manifest is given up."""
        rows = self._database.rows("SELECT id, lost FROM compositions")
        return {row["id"]: row["lost"] is not None for row in rows}

    def give_up(self, composition: Digest, why: str) -> None:
        """Note that the manifest is gone for good. Composing the same again brings it back."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE compositions SET lost = ? WHERE id = ?", (why, composition))

    def adopt(self, manifest: Manifest, *, named: bool) -> None:
        """Take up a manifest that lies in its place; with its stack's name, if that is free."""
        envelope = manifest.envelope
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO compositions (id, created_at) VALUES (?, ?)",
                (manifest.id, envelope.created_at or now()),
            )
            if named and envelope.name:
                connection.execute(
                    "INSERT OR IGNORE INTO stacks (name, composition, saved_at) VALUES (?, ?, ?)",
                    (clean_name(envelope.name), manifest.id, envelope.created_at or now()),
                )

    def users_of(self, digest: Digest) -> tuple[str, ...]:
        """The names of the stacks that need this base or adapter."""
        return tuple(c.name or short(c.id) for c in self.saved() if c.manifest.uses(digest))

    def needing(self, digest: Digest) -> tuple[str, ...]:
        """What to call every composition that needs it, those of the history included."""
        found: list[str] = []
        rows = self._database.rows(
            "SELECT DISTINCT id, stacks.name FROM compositions LEFT JOIN stacks"
            " ON stacks.composition = id"
        )
        for row in rows:
            path = self._layout.manifest(row["id"])
            with suppress(VeneerError):
                if read_manifest(self._fs, path, row["id"]).uses(digest):
                    found.append(row["name"] or short(row["id"]))
        return tuple(found)

    def _named(self) -> Iterator[Composition | Unreadable]:
        for row in self._database.rows("SELECT * FROM stacks ORDER BY name"):
            name, composition = row["name"], row["composition"]
            try:
                yield msgspec.structs.replace(self.get(composition), name=name)
            except VeneerError as error:
                yield Unreadable(id=composition, name=name, problem=error.message)

    def _manifest(self, semantic: Semantic, name: str, notes: str) -> Manifest:
        envelope = Envelope(name=name, notes=notes, created_at=now(), tool=self._tool)
        manifest = Manifest(composition=semantic, envelope=envelope)
        self._save(manifest)
        return manifest

    def _save(self, manifest: Manifest) -> None:
        if not self._is_intact(manifest.id):
            self._write(manifest)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO compositions (id, created_at) VALUES (?, ?)"
                " ON CONFLICT (id) DO UPDATE SET lost = NULL",
                (manifest.id, now()),
            )

    def _write(self, manifest: Manifest) -> None:
        with Draft(self._fs, self._layout.tmp) as draft:
            draft.write(encode(manifest))
            draft.publish(self._layout.manifest(manifest.id))

    def _name(self, name: str, composition: Digest) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO stacks (name, composition, saved_at) VALUES (?, ?, ?)",
                (name, composition, now()),
            )

    def _is_intact(self, composition: Digest) -> bool:
        try:
            self._read(composition)
        except Damaged:
            return False
        return True

    def _read(self, composition: Digest) -> Manifest:
        path = self._layout.manifest(composition)
        try:
            return read_manifest(self._fs, path, composition)
        except NotFound as error:
            raise Damaged(
                f"The manifest of composition {short(composition)} is missing: there is no {path}. "
                "Compose it again."
            ) from error
        except Damaged as error:
            raise Damaged(f"{error.message}{self._set_aside(path)} Compose it again.") from error

    def _set_aside(self, path: Path) -> str:
        if self._quarantine is None:
            return ""
        try:
            return f" It is kept as {self._quarantine.take(path)}."
        except VeneerError as error:
            return f" It could not be moved into quarantine: {error.message}"


def read_manifest(fs: Fs, path: Path, composition: Digest) -> Manifest:
    """The manifest at `path`. Raises `NotFound`, or `Damaged` if it is not this composition's."""
    with fs.open_read(path) as file:
        data = file.read()
    try:
        manifest = decode(data)
    except ManifestError as error:
        raise Damaged(
            f"The manifest of composition {short(composition)} is damaged: {error.message}"
        ) from error
    if manifest.id != composition:
        raise Damaged(
            f"The manifest of composition {short(composition)} has been altered on disk: it now "
            f"describes {short(manifest.id)}."
        )
    return manifest


def base_ref(stored: StoredBase) -> BaseRef:
    """How a manifest names this base."""
    return BaseRef(
        digests=(stored.digest,),
        architecture_id=stored.base.architecture_id,
        tokenizer_id=stored.base.tokenizer_id,
        quantization=stored.base.quantization,
    )
