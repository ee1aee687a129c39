"""A stack goes to another workspace and is the same composition there, or nothing changes."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.faults import FaultyFs
from veneer import Workspace
from veneer.errors import Cancelled, Damaged, DiskFull, FormatError, NameTaken, NotFound
from veneer.tasks import CancelToken


@pytest.fixture
def package(workspace: Workspace, tmp_path: Path) -> Path:
    """The stack `both`, with something noted about one of its adapters."""
    terse = workspace.library.find_adapter("terse")
    workspace.library.update_adapter(
        terse.digest, default_scale=0.5, trigger_text="short", notes="mine", tags=("a", "b")
    )
    workspace.export("both", tmp_path / "both.slm")
    return tmp_path / "both.slm"


@pytest.fixture
def other(tmp_path: Path, base_path: Path):
    """Another workspace, with nothing but the base."""
    with Workspace.open(tmp_path / "other") as opened:
        opened.import_path(base_path)
        yield opened


def everything(workspace: Workspace) -> tuple:
    files = sorted(p.name for p in (workspace.root / "objects").rglob("*") if p.is_file())
    kept = sorted(p.name for p in (workspace.root / "tmp").iterdir())
    library = workspace.library
    return library.bases(), library.adapters(), workspace.stacks.saved(), files, kept


def edited(package: Path, edit: Callable[[str, bytes], bytes | None]) -> Path:
    """The package with members changed, or left out where `edit` gives None."""
    changed = package.with_name("edited.slm")
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(changed, "w") as new:
        for info in old.infolist():
            data = edit(info.filename, old.read(info))
            if data is not None:
                new.writestr(info, data)
    return changed


def test_a_stack_is_the_same_composition_elsewhere(
    workspace: Workspace, other: Workspace, package: Path
):
    outcome = other.import_path(package)
    done, made = outcome.value, workspace.stacks.find("both")
    assert (done.kind, done.name, done.id, done.already) == ("stack", "both", made.id, False)
    assert other.stacks.find("both").manifest == made.manifest
    assert outcome.changes.compositions == {made.id}
    assert len(outcome.changes.adapters) == 2
    assert other.check("terse", other.library.bases()[0].name).ok
    terse = other.library.find_adapter("terse")
    assert (terse.default_scale, terse.trigger_text, terse.notes) == (0.5, "short", "mine")
    assert terse.tags == ("a", "b")
    assert other.import_path(package).value.already


def test_what_was_noted_here_is_not_overwritten(
    other: Workspace, package: Path, adapter_paths: dict[str, Path]
):
    other.import_path(adapter_paths["terse"], name="brief")
    other.import_path(package)
    assert other.library.find_adapter("brief").notes == ""
    assert {a.name for a in other.library.adapters()} == {"brief", "pirate"}


def test_a_package_can_hold_its_base(workspace: Workspace, tmp_path: Path):
    done = workspace.export("pirates", tmp_path / "p.slm", with_base=True)
    assert done.base_included
    with Workspace.open(tmp_path / "empty") as empty:
        made = empty.import_path(tmp_path / "p.slm").value
        (base,) = empty.library.bases()
        assert (base.name, base.copied) == ("smol", True)
        empty.custody.verify_base(base, thorough=True)
        assert empty.stacks.find("pirates").id == made.id


def test_the_same_stack_makes_the_same_file(workspace: Workspace, package: Path, tmp_path: Path):
    workspace.export("both", tmp_path / "again.slm")
    assert (tmp_path / "again.slm").read_bytes() == package.read_bytes()
    with zipfile.ZipFile(package) as archive:
        infos = archive.infolist()
    assert [i.filename for i in infos[:2]] == ["manifest.toml", "about.toml"]
    assert {i.compress_type for i in infos} == {zipfile.ZIP_STORED}


def test_another_stack_of_that_name_is_left_alone(other: Workspace, package: Path):
    base = other.library.bases()[0].name
    other.compose(base, name="both")
    assert other.import_path(package).value.name == "both-2"
    assert other.stacks.find("both").manifest.composition.adapters == ()


def test_without_its_base_nothing_is_taken_in(tmp_path: Path, package: Path):
    with Workspace.open(tmp_path / "empty") as empty:
        before = everything(empty)
        with pytest.raises(NotFound, match=r"lies on the base “smol” \(llama, 0\.1 GB, b179c95"):
            empty.import_path(package)
        assert everything(empty) == before


def _flipped(name: str, data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1]) if name.endswith(".safetensors") else data


def _stronger(name: str, data: bytes) -> bytes:
    return data.replace(b"scale = 0.5", b"scale = 0.6") if name == "manifest.toml" else data


def _later(name: str, data: bytes) -> bytes:
    return data.replace(b"format = 1", b"format = 2") if name == "about.toml" else data


def _without(name: str, data: bytes) -> bytes | None:
    return None if name.endswith("adapter_config.json") else data


def _renamed(name: str, data: bytes) -> bytes:
    return data.replace(b'"adapter_config.json"', b'"config"') if name == "about.toml" else data


@pytest.mark.parametrize(
    ("edit", "kind", "said"),
    [
        (_flipped, Damaged, "in the package is damaged"),
        (_stronger, Damaged, "its manifest describes"),
        (_later, FormatError, "about.toml of the package cannot be read"),
        (_without, FormatError, "lacks its file adapters/"),
        (_renamed, FormatError, "that are not its own"),
    ],
)
def test_an_altered_package_changes_nothing(
    edit: Callable[[str, bytes], bytes | None],
    kind: type[Exception],
    said: str,
    other: Workspace,
    package: Path,
):
    before, altered = everything(other), edited(package, edit)
    with pytest.raises(kind, match=said):
        other.import_path(altered)
    assert everything(other) == before


def test_what_was_taken_in_goes_again_if_the_rest_fails(other: Workspace, package: Path):
    seen: list[int] = []
    cancel = CancelToken()

    def stop_late(done: int, total: int) -> None:
        seen.append(done)
        if done > 0.6 * total:
            cancel.cancel()

    before = everything(other)
    with pytest.raises(Cancelled):
        other.import_path(package, progress=stop_late, cancel=cancel)
    assert everything(other) == before
    assert seen == sorted(seen)


def test_a_file_is_not_overwritten_unless_told_so(workspace: Workspace, package: Path):
    before = package.read_bytes()
    with pytest.raises(NameTaken):
        workspace.export("pirates", package)
    assert package.read_bytes() == before
    workspace.export("pirates", package, replace=True)
    assert package.read_bytes() != before


def test_a_damaged_adapter_is_not_given_away(workspace: Workspace, tmp_path: Path):
    terse = workspace.library.find_adapter("terse")
    damaged = terse.files["adapter_model.safetensors"].removeprefix("sha256:")
    path = next((workspace.root / "objects").rglob(damaged))
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    (tmp_path / "out").mkdir()
    with pytest.raises(Damaged, match="is not given away"):
        workspace.export("both", tmp_path / "out" / "x.slm")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_leaves_no_file(root: Path, tmp_path: Path):
    fs = FaultyFs("sync", 1)
    (tmp_path / "out").mkdir()
    with Workspace.open(root, writable=False, fs=fs) as reader, pytest.raises(DiskFull):
        reader.export("both", tmp_path / "out" / "x.slm")
    assert fs.reached
    assert list((tmp_path / "out").iterdir()) == []
