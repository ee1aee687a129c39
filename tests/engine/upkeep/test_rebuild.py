"""A database that is damaged or gone: nothing is made up, nothing is lost, the rest comes back."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.damage import quarantined
from tests.engine.faults import FaultyFs
from veneer import Workspace
from veneer.errors import CatalogDamaged, StoreError
from veneer.identity import short

DATABASE = "veneer.db"


def names(workspace: Workspace) -> dict[str, list[str]]:
    return {
        "bases": [b.name for b in workspace.library.bases()],
        "adapters": [a.name for a in workspace.library.adapters()],
        "stacks": [c.name or "" for c in workspace.stacks.saved()],
    }


def overwrite_the_header(path: Path) -> None:
    path.write_bytes(b"not a database, certainly not" + path.read_bytes()[29:])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("harm", [Path.unlink, empty, overwrite_the_header])
def test_a_workspace_without_its_database_is_not_taken_for_a_new_one(
    root: Path, harm: Callable[[Path], None], writable: bool
):
    harm(root / DATABASE)
    (root / f"{DATABASE}-wal").write_bytes(b"a log")
    before = {p.name: p.read_bytes() for p in root.glob("veneer.db*")}
    with pytest.raises(CatalogDamaged, match="fsck --repair"):
        Workspace.open(root, writable=writable)
    assert {p.name: p.read_bytes() for p in root.glob("veneer.db*")} == before


def test_everything_that_files_tell_comes_back(root: Path, base_path: Path):
    with Workspace.open(root) as workspace:
        before = names(workspace)
        ids = {c.name: c.id for c in workspace.stacks.saved()}
        adapters = {a.digest: a.adapter for a in workspace.library.adapters()}
        base = workspace.library.find_base("smol").digest
        workspace.import_path(base_path, copy=True)
    (root / DATABASE).unlink()
    rebuilt = Workspace.rebuild(root)
    assert rebuilt is not None
    assert rebuilt.kept is None
    assert set(rebuilt.adopted) == {base, *adapters}
    assert set(rebuilt.compositions) == set(ids.values())
    assert rebuilt.bases_wanted == ()
    with Workspace.open(root) as again:
        assert {a.digest: a.adapter for a in again.library.adapters()} == adapters
        assert names(again)["adapters"] == sorted(f"adapter-{short(d)}" for d in adapters)
        assert names(again)["stacks"] == before["stacks"]
        assert {c.name: c.id for c in again.stacks.saved()} == ids
        assert again.library.base(base).copied
        assert again.fsck().value.findings == ()
        again._compiler.validate(again.stacks.find("pirates").manifest)
    assert Workspace.rebuild(root) is None


def test_a_linked_base_is_asked_for(root: Path, base_path: Path):
    with Workspace.open(root) as workspace:
        base = workspace.library.find_base("smol").digest
    (root / DATABASE).unlink()
    rebuilt = Workspace.rebuild(root)
    assert rebuilt is not None
    assert rebuilt.bases_wanted == (base,)
    with Workspace.open(root) as again:
        again.import_path(base_path)
        assert again.fsck().value.findings == ()
        again._compiler.validate(again.stacks.find("both").manifest)


def test_what_can_be_read_of_a_damaged_one_is_read(root: Path):
    with Workspace.open(root) as workspace:
        with workspace.journal._database.transaction() as connection:
            connection.executemany(
                "INSERT INTO conversations (title, created_at) VALUES (?, 'then')",
                [(f"A conversation about {number} things",) for number in range(400)],
            )
        workspace.library.update_adapter(
            workspace.library.find_adapter("pirate").digest, name="parrot", notes="mine"
        )
        workspace.journal.request(workspace.stacks.find("plain").id, "cli")
        before = names(workspace)
        talks = len(workspace.history.all())
    path = root / DATABASE
    data = bytearray(path.read_bytes())
    # A page in the middle of the many conversations.
    middle = data.index(b"A conversation about 200 things")
    page = middle - middle % 4096
    data[page : page + 4096] = b"\xee" * 4096
    path.write_bytes(data)
    rebuilt = Workspace.rebuild(root)
    assert rebuilt is not None
    assert rebuilt.kept == str(root / "quarantine" / DATABASE)
    assert Path(rebuilt.kept).read_bytes() == bytes(data)
    assert rebuilt.adopted == ()
    assert talks - 200 < rebuilt.rows["conversations"] < talks
    with Workspace.open(root) as again:
        assert names(again) == before
        assert again.library.find_adapter("parrot").notes == "mine"
        titles = {talk.title for talk in again.history.all()}
        assert {"A conversation about 0 things", "A conversation about 399 things"} <= titles
        # A number that was given is never given again.
        assert again.journal.request(again.stacks.find("plain").id, "cli") == 2
        assert again.fsck().value.findings == ()
    assert sorted(p.name for p in (root / "tmp").iterdir()) == []


def test_a_log_beside_what_is_no_database_is_kept_with_it(root: Path):
    overwrite_the_header(root / DATABASE)
    (root / f"{DATABASE}-wal").write_bytes(b"a log")
    rebuilt = Workspace.rebuild(root)
    assert rebuilt is not None
    assert quarantined(root) == [DATABASE, f"{DATABASE}-wal"]
    assert not (root / f"{DATABASE}-wal").exists()
    assert (root / "quarantine" / f"{DATABASE}-wal").read_bytes() == b"a log"
    with Workspace.open(root) as again:
        assert names(again)["stacks"] == ["both", "objects", "pirates", "plain"]


@pytest.mark.parametrize("column", ["record", "files"])
def test_a_row_that_cannot_be_read_is_made_anew_from_the_files(root: Path, column: str):
    with Workspace.open(root) as workspace:
        pirate = workspace.library.find_adapter("pirate")
        with workspace.journal._database.transaction() as connection:
            connection.execute(
                f"UPDATE adapters SET {column} = replace({column}, '{{', '[') WHERE name = 'pirate'"
            )
        for look in (workspace.library.adapters, workspace.fsck, workspace.gc):
            with pytest.raises(CatalogDamaged, match=r"a row that cannot be read .*fsck --repair"):
                look()
    rebuilt = Workspace.rebuild(root)
    assert rebuilt is not None
    assert rebuilt.adopted == (pirate.digest,)
    with Workspace.open(root) as again:
        assert again.library.adapter(pirate.digest).adapter == pirate.adapter
        assert names(again)["adapters"] == sorted(
            ["json", "terse", f"adapter-{short(pirate.digest)}"]
        )
        assert again.fsck().value.findings == ()


@pytest.mark.parametrize("operation", ["create", "write", "sync", "replace", "sync_dir"])
def test_until_its_last_step_nothing_has_changed(tmp_path: Path, operation: str):
    """Fail at each call of an operation in turn, until a run meets no fault."""
    for nth in range(1, 20):
        root = tmp_path / str(nth)
        with Workspace.open(root) as workspace:
            workspace.history.create("A conversation")
        overwrite_the_header(root / DATABASE)
        before = (root / DATABASE).read_bytes()
        fs = FaultyFs(operation, nth, errno.EIO)
        try:
            Workspace.rebuild(root, fs=fs)
        except StoreError:
            assert fs.reached
            there = (root / DATABASE).read_bytes()
            assert there == before or there.startswith(b"SQLite format 3")
            assert list((root / "tmp").iterdir()) == []
            Workspace.rebuild(root)
        with Workspace.open(root) as again:
            assert again.fsck().value.findings == ()
        if not fs.reached:
            assert nth > 2
            return
    raise AssertionError("there was always a fault")
