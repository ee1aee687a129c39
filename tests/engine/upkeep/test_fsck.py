"""The check of a whole workspace: what it finds, what it repairs, and what it leaves alone."""

import shutil
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.engine.damage import (
    HARMS,
    Harm,
    cut_short,
    flip_a_byte,
    manifest_of,
    object_files,
    quarantined,
    weights_of,
)
from veneer import Workspace
from veneer.errors import Cancelled, StoreError
from veneer.store.fs import RealFs
from veneer.store.layout import Layout
from veneer.tasks import CancelToken
from veneer.upkeep.report import FsckReport


def checked(workspace: Workspace, *, repair: bool = False) -> FsckReport:
    return workspace.fsck(repair=repair).value


def codes(report: FsckReport) -> list[str]:
    return [finding.code for finding in report.findings]


def test_a_whole_workspace(workspace: Workspace):
    steps = list[tuple[int, int]]()
    report = workspace.fsck(progress=lambda done, total: steps.append((done, total))).value
    objects = object_files(workspace.root)
    size = sum(Layout(workspace.root).object(d).stat().st_size for d in objects)
    assert report.findings == ()
    assert report.ok
    assert (report.objects, report.bytes, report.manifests) == (len(objects), size, 4)
    assert steps[-1] == (size, size)


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_object(workspace: Workspace, adapter_paths: dict[str, Path], harm: Harm):
    path = weights_of(workspace, "pirate")
    harm(path)
    left = ["OBJECT_DAMAGED"] if path.exists() else []
    report = checked(workspace)
    assert codes(report) == [*left, "FILES_MISSING"]
    assert not report.ok
    lacking = report.findings[-1]
    assert lacking.where == "adapter:pirate"
    assert lacking.message == (
        "Missing or damaged: adapter_model.safetensors. Needed by “both”, “pirates”. "
        "Import it again, or remove it."
    )
    assert quarantined(workspace.root) == []
    repaired = checked(workspace, repair=True)
    assert quarantined(workspace.root) == ([path.name] if left else [])
    assert not path.exists()
    # Nobody but a person has the file.
    assert not repaired.ok
    workspace.import_path(adapter_paths["pirate"])
    assert checked(workspace).findings == ()


def test_a_table_is_written_anew(workspace: Workspace):
    digest = workspace.library.find_adapter("pirate").digest
    path = Layout(workspace.root).object(digest)
    whole = path.read_bytes()
    flip_a_byte(path)
    assert codes(checked(workspace)) == ["OBJECT_DAMAGED", "TABLE_MISSING"]
    assert checked(workspace, repair=True).ok
    assert path.read_bytes() == whole
    assert checked(workspace).findings == ()


@pytest.mark.parametrize("harm", [cut_short, Path.unlink])
def test_a_bad_manifest_is_given_up_until_the_same_is_composed_again(
    workspace: Workspace, harm: Harm, tmp_path: Path
):
    path = manifest_of(workspace, "pirates")
    harm(path)
    report = checked(workspace)
    assert codes(report) == ["MANIFEST_DAMAGED" if path.exists() else "MANIFEST_MISSING"]
    assert report.findings[0].message.endswith("Needed by “pirates”. Compose it again.")
    assert not report.ok
    repaired = checked(workspace, repair=True)
    assert repaired.ok
    assert not path.exists()
    assert checked(workspace).findings == ()
    assert [s.name for s in workspace.stacks.unreadable()] == ["pirates"]
    workspace.compose("smol", [("pirate", 1.0)], name="pirates")
    path.rename(backup := tmp_path / "backup")
    assert checked(workspace, repair=True).ok
    # Brought back from a backup.
    backup.rename(path)
    assert codes(checked(workspace, repair=True)) == ["MANIFEST_UNKNOWN"]
    path.unlink()
    assert codes(checked(workspace)) == ["MANIFEST_MISSING"]


def test_files_of_others_are_kept_aside(workspace: Workspace):
    shelf = weights_of(workspace, "pirate").parent
    strays = [shelf / "notes.txt", workspace.root / "objects" / "x", shelf / ("0" * 64)]
    strays.append(workspace.root / "manifests" / "mine.toml")
    for stray in strays:
        stray.write_text("mine")
    report = checked(workspace, repair=True)
    assert codes(report) == ["STRAY"] * 4
    assert report.ok
    assert quarantined(workspace.root) == sorted(stray.name for stray in strays)
    assert checked(workspace).findings == ()


def test_what_costs_space_alone_is_a_note(workspace: Workspace, adapter_paths: dict[str, Path]):
    """As a crash leaves it between the files and the row."""
    digest = workspace.library.find_adapter("json").digest
    workspace.stacks.forget("objects")
    with workspace.journal._database.transaction() as connection:
        connection.execute("DELETE FROM adapters WHERE digest = ?", (digest,))
        connection.execute(
            "DELETE FROM compositions WHERE id NOT IN (SELECT composition FROM stacks)"
        )
    (workspace.root / "tmp" / "left.part").write_bytes(b"half")
    before = object_files(workspace.root)
    report = checked(workspace, repair=True)
    assert codes(report) == ["OBJECT_UNUSED"] * 2 + ["MANIFEST_UNKNOWN", "TEMPORARY"]
    assert report.ok
    assert object_files(workspace.root) == before
    assert codes(checked(workspace)) == ["OBJECT_UNUSED"] * 2 + ["TEMPORARY"]
    workspace.import_path(adapter_paths["json"])
    assert codes(checked(workspace)) == ["TEMPORARY"]


def test_a_linked_base_that_is_gone(root: Path, base_path: Path, tmp_path: Path):
    mine = tmp_path / "mine.gguf"
    shutil.copyfile(base_path, mine)
    with Workspace.open(root) as workspace:
        workspace.import_path(mine)
        mine.unlink()
        (finding,) = checked(workspace, repair=True).findings
    assert (finding.code, finding.where) == ("FILES_MISSING", "base:smol")
    assert str(mine) in finding.message


def test_a_workspace_that_others_may_look_into_is_closed_to_them(workspace: Workspace):
    workspace.root.chmod(0o755)
    assert codes(checked(workspace)) == ["PERMISSIONS"]
    assert not checked(workspace).ok
    assert checked(workspace, repair=True).ok
    assert workspace.root.stat().st_mode & 0o777 == 0o700
    assert checked(workspace).findings == ()


def test_a_pointer_to_what_was_never_committed(workspace: Workspace):
    number = workspace.journal.request(workspace.stacks.find("plain").id, "cli")
    with workspace.journal._database.transaction() as connection:
        connection.execute("INSERT INTO active VALUES (1, ?)", (number,))
    assert codes(checked(workspace)) == ["POINTER"]


class Unreadable(RealFs):
    """Gives nothing of one file, as a failing disk does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def open_read(self, path: Path) -> BinaryIO:
        if path.name == self._name:
            raise StoreError(f"Could not read {path}: Input/output error.")
        return super().open_read(path)


def test_an_object_that_cannot_be_read_now_is_left_where_it_is(root: Path):
    with Workspace.open(root, writable=False) as workspace:
        path = weights_of(workspace, "pirate")
    with Workspace.open(root, fs=Unreadable(path.name)) as workspace:
        report = checked(workspace, repair=True)
        assert codes(report) == ["OBJECT_UNREADABLE", "FILES_MISSING"]
        assert "Input/output error" in report.findings[0].message
        assert not report.ok
    assert path.exists()


def test_it_can_be_stopped(workspace: Workspace):
    cancel = CancelToken()
    cancel.cancel()
    flip_a_byte(weights_of(workspace, "pirate"))
    with pytest.raises(Cancelled):
        workspace.fsck(repair=True, cancel=cancel)
    assert quarantined(workspace.root) == []
