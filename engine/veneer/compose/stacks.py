"""Compositions: made, saved under a name, found again.

Order of writing: manifest file -> row -> name. A manifest's file is named by its composition id,
which is computed again at every reading, so a manifest that was tampered with is never used.
"""

from collections.abc import Sequence

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
from veneer.errors import Damaged, NotFound
from veneer.identity import Digest, short
from veneer.store.changes import Changes, Outcome
from veneer.store.database import Database, now
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
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


class Stacks:
    """The compositions of a workspace and the names people gave them."""

    def __init__(self, fs: Fs, layout: Layout, database: Database, tool: str) -> None:
        self._fs = fs
        self._layout = layout
        self._database = database
        self._tool = tool

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
        made = self.get(self._manifest(semantic, label, notes).id)
        if name is not None:
            # The last step: whatever fails, the name still means what it meant.
            self._name(label, made.id)
            made = msgspec.structs.replace(made, name=label)
        return Outcome(made, Changes(compositions=frozenset({made.id})))

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
        """Every stack that has a name, by name."""
        rows = self._database.rows("SELECT * FROM stacks ORDER BY name")
        return tuple(
            msgspec.structs.replace(self.get(row["composition"]), name=row["name"]) for row in rows
        )

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

    def users_of(self, digest: Digest) -> tuple[str, ...]:
        """The names of the stacks that need this base or adapter."""
        return tuple(c.name or short(c.id) for c in self.saved() if c.manifest.uses(digest))

    def _manifest(self, semantic: Semantic, name: str, notes: str) -> Manifest:
        envelope = Envelope(name=name, notes=notes, created_at=now(), tool=self._tool)
        manifest = Manifest(composition=semantic, envelope=envelope)
        self._save(manifest)
        return manifest

    def _save(self, manifest: Manifest) -> None:
        target = self._layout.manifest(manifest.id)
        if self._fs.stat(target) is None:
            with Draft(self._fs, self._layout.tmp) as draft:
                draft.write(encode(manifest))
                draft.publish(target)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO compositions (id, created_at) VALUES (?, ?)",
                (manifest.id, now()),
            )

    def _name(self, name: str, composition: Digest) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO stacks (name, composition, saved_at) VALUES (?, ?, ?)",
                (name, composition, now()),
            )

    def _read(self, composition: Digest) -> Manifest:
        with self._fs.open_read(self._layout.manifest(composition)) as file:
            manifest = decode(file.read())
        if manifest.id != composition:
            raise Damaged(
                f"The manifest of composition {short(composition)} has been altered on disk: it "
                f"now describes {short(manifest.id)}."
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
