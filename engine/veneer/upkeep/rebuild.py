"""A new database in place of one that is damaged or gone. Needs the writer's lock.

Order: the old one is copied into quarantine -> what can be read of it is copied into a new one
under `tmp/` -> where its tables were not complete, rows are made from the objects and manifests
-> the old one's log goes, and the new one takes its place. Until that last step nothing that was
there has changed, and doing it again begins from the same.
"""

import secrets
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from veneer.compose.manifest import Manifest
from veneer.compose.stacks import Stacks, read_manifest
from veneer.errors import CatalogDamaged, VeneerError
from veneer.identity import Digest
from veneer.store.catalog import Catalog
from veneer.store.database import Database, damaged
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout, beside
from veneer.store.objects import Objects
from veneer.store.refs import free_name
from veneer.store.salvage import Salvaged, salvage
from veneer.tasks import CancelToken
from veneer.upkeep.adopt import Adopter
from veneer.upkeep.hashing import Hashing

_CHUNK = 1 << 20
_MAGIC = b"SQLite format 3\0"


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What the new database was made of.

    `kept` is where the old one is, if there was one; `rows` counts what was read of it, by table;
    `adopted` are the bases and adapters made from objects, `compositions` those made from
    manifests. `bases_wanted` are linked bases that compositions need and nobody knows the place
    of: they are to be imported again.
    """

    kept: str | None
    rows: dict[str, int]
    adopted: tuple[Digest, ...]
    compositions: tuple[Digest, ...]
    bases_wanted: tuple[Digest, ...]


def require_database(fs: Fs, layout: Layout) -> None:
    """Raise `CatalogDamaged` if the database is gone from a workspace that has had one, or is none.

    Before SQLite looks at it, which removes the log beside what it takes for no database.
    """
    found = fs.stat(layout.database)
    if found is None or found.size == 0:
        if fs.list_dir(layout.objects) or fs.list_dir(layout.manifests):
            raise damaged(layout.database, "is gone")
        return
    with fs.open_read(layout.database) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise damaged(layout.database, "is damaged (it is not a database)")


def needs_rebuilding(fs: Fs, layout: Layout) -> bool:
    """Whether the database is gone, SQLite finds it damaged, or rows cannot be read.

    Raises `WorkspaceTooNew`.
    """
    try:
        require_database(fs, layout)
        with closing(Database(layout.database, writable=True)) as database:
            catalog = Catalog(database)
            for look in (catalog.bases, catalog.adapters, catalog.removed):
                look()
            return bool(database.problems())
    except CatalogDamaged:
        return True


def rebuild(fs: Fs, layout: Layout, tool: str, cancel: CancelToken | None = None) -> Rebuilt:
    """Make a new database. Raises `WorkspaceTooNew`, `StoreError`, `DiskFull`, `Cancelled`."""
    with _scratch(fs, layout) as new, _scratch(fs, layout) as old:
        kept = _keep(fs, layout)
        _copy_database(fs, layout, old)
        salvaged = salvage(old, new)
        with closing(Database(new, writable=True)) as database:
            rebuilt = _completed(fs, layout, database, salvaged, tool, cancel or CancelToken())
        # A log of the old one would be taken for the new one's.
        for suffix in ("-wal", "-shm"):
            fs.unlink(beside(layout.database, suffix))
        fs.replace(new, layout.database)
        fs.sync_dir(layout.root)
    return msgspec.structs.replace(rebuilt, kept=kept)


@contextmanager
def _scratch(fs: Fs, layout: Layout) -> Generator[Path]:
    """A name under `tmp/` for a database; whatever is left there in the end is removed."""
    path = layout.tmp / f"{secrets.token_hex(16)}.part"
    try:
        yield path
    finally:
        for each in (path, beside(path, "-wal"), beside(path, "-shm")):
            fs.unlink(each)


def _keep(fs: Fs, layout: Layout) -> str | None:
    if fs.stat(layout.database) is None and fs.stat(layout.database_log) is None:
        return None
    kept = layout.quarantine / free_name(layout.database.name, fs.list_dir(layout.quarantine))
    _copy_database(fs, layout, kept)
    return str(kept)


def _copy_database(fs: Fs, layout: Layout, target: Path) -> None:
    for suffix in ("-wal", ""):
        source = beside(layout.database, suffix)
        if fs.stat(source) is not None:
            _copy(fs, layout, source, beside(target, suffix))


def _copy(fs: Fs, layout: Layout, source: Path, target: Path) -> None:
    with fs.open_read(source) as file, Draft(fs, layout.tmp) as draft:
        while chunk := file.read(_CHUNK):
            draft.write(chunk)
        draft.publish(target)


def _completed(
    fs: Fs,
    layout: Layout,
    database: Database,
    salvaged: Salvaged,
    tool: str,
    cancel: CancelToken,
) -> Rebuilt:
    """Add from the files what the old database did not tell."""
    catalog, objects = Catalog(database), Objects(fs, layout)
    adopted: tuple[Digest, ...] = ()
    if catalog.drop_unreadable() or not {"bases", "adapters"} <= salvaged.complete:
        hashing = Hashing(fs, layout, cancel)
        adopted = Adopter(fs, layout, catalog, objects, hashing).adopt()
    stacks = Stacks(fs, layout, database, tool)
    known = stacks.known()
    wanted = _adopt_manifests(fs, layout, stacks, named="stacks" not in salvaged.complete)
    bases = {base.digest for base in catalog.bases()}
    return Rebuilt(
        kept=None,
        rows=salvaged.rows,
        adopted=adopted,
        compositions=tuple(sorted(stacks.known().keys() - known.keys())),
        bases_wanted=tuple(sorted(wanted - bases)),
    )


def _adopt_manifests(fs: Fs, layout: Layout, stacks: Stacks, *, named: bool) -> set[Digest]:
    """Take up every intact manifest, newest first; gives the bases that they need."""
    manifests: list[Manifest] = []
    for name in fs.list_dir(layout.manifests):
        digest = layout.manifest_at(layout.manifests / name)
        if digest is not None:
            with suppress(VeneerError):
                manifests.append(read_manifest(fs, layout.manifest(digest), digest))
    for manifest in sorted(manifests, key=lambda m: m.envelope.created_at, reverse=True):
        stacks.adopt(manifest, named=named)
    return {digest for m in manifests for digest in m.composition.base.digests}
