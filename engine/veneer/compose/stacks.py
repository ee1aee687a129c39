"""Compositions: made, saved under a name, found again.

Order of writing: manifest file -> row -> name. A manifest's file is named by its composition id,
which is computed again at every reading, so a manifest that was tampered with is never used: it
goes into quarantine, and composing the same again writes it anew.
"""

import sqlite3
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
from veneer.compose.signing import holds
from veneer.errors import Damaged, ManifestError, NameTaken, NotFound, VeneerError
from veneer.identity import Digest, short
from veneer.store.changes import Changes, Outcome
from veneer.store.database import Database, now
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.quarantine import Quarantine
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.refs import Named, clean_name, free_name, resolve


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
        was: str | None = None,
        notes: str = "",
    ) -> Outcome[Composition]:
        """Make a composition, and save it as a stack if a name is given.

        A name that another composition had now stands for this one; the other stays in the
        history. `was` is the name that the stack had until now, and gives up. Raises
        `ManifestError`, `StoreError`, `DiskFull`; with `was`, `NotFound` and `NameTaken`.
        """
        semantic = checked(
            Semantic(
                base=base_ref(base),
                adapters=tuple(AdapterRef(digest=a.digest, scale=s) for a, s in adapters),
            )
        )
        label = clean_name(name) if name is not None else ""
        if was is not None:
            self._require_free(was, label)
        made = self.get(self._manifest(semantic, label, notes).id)
        if name is not None:
            # The last step: whatever fails, the name still means what it meant.
            self._name(label, made.id, was)
            made = msgspec.structs.replace(made, name=label)
        return Outcome(made, Changes(compositions=frozenset({made.id})))

    def receive(self, manifest: Manifest, wanted: str) -> tuple[str, bool]:
        """Save a manifest that was made elsewhere; gives its name, and whether it had it already.

        A name that stands for something else here gets a number. A signature that comes with it
        is taken over, with the notes that it covers, where the composition here has none.
        """
        self._save(manifest)
        if self._brings_signature(manifest):
            self._write(manifest)
        names = {r["name"]: r["composition"] for r in self._database.rows("SELECT * FROM stacks")}
        others = [name for name, owner in names.items() if owner != manifest.id]
        name = free_name(clean_name(wanted), others)
        self._name(name, manifest.id)
        return name, name in names

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

    def rename(self, name: str, wanted: str) -> Outcome[Composition]:
        """Give a stack another name. Raises `NotFound`, `NameTaken`."""
        given = clean_name(wanted)
        composition = self._require_free(name, given)
        with self._database.transaction() as connection:
            _rename(connection, name, given)
        done = msgspec.structs.replace(self.get(composition), name=given)
        return Outcome(done, Changes(compositions=frozenset({composition})))

    def forget(self, name: str) -> Changes:
        """Remove a stack's name. The composition stays, for the history. Raises `NotFound`."""
        composition = self._composition_of(name)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM stacks WHERE name = ?", (name,))
        return Changes(compositions=frozenset({composition}))

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
                "INSERT INTO compositions (id, created_at) VALUES (?, ?)"
                " ON CONFLICT (id) DO UPDATE SET lost = NULL",
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

    def _composition_of(self, name: str) -> Digest:
        row = self._database.row("SELECT composition FROM stacks WHERE name = ?", (name,))
        if row is None:
            raise NotFound(f"There is no stack called “{clean_name(name)}”.")
        return row["composition"]

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

    def _brings_signature(self, manifest: Manifest) -> bool:
        signature = manifest.envelope.signature
        if signature is None or self._read(manifest.id).envelope.signature is not None:
            return False
        return holds(manifest, signature)

    def _write(self, manifest: Manifest) -> None:
        with Draft(self._fs, self._layout.tmp) as draft:
            draft.write(encode(manifest))
            draft.publish(self._layout.manifest(manifest.id))

    def _require_free(self, name: str, wanted: str) -> Digest:
        """The composition of the stack `name`, which may be called `wanted`."""
        composition = self._composition_of(name)
        taken = self._database.row("SELECT name FROM stacks WHERE name = ?", (wanted,))
        if taken is not None and wanted != name:
            raise NameTaken(f"Another stack is called “{wanted}” already.")
        return composition

    def _name(self, name: str, composition: Digest, was: str | None = None) -> None:
        with self._database.transaction() as connection:
            if was is not None:
                _rename(connection, was, name)
            connection.execute(
                # Not REPLACE, which removes the row first, and with it what is pinned to it.
                "INSERT INTO stacks (name, composition, saved_at) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE"
                " SET composition = excluded.composition, saved_at = excluded.saved_at",
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


def _rename(connection: sqlite3.Connection, name: str, wanted: str) -> None:
    connection.execute("UPDATE stacks SET name = ? WHERE name = ?", (wanted, name))


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
