import shutil
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.errors import AmbiguousRef, InUse, NameTaken, NotFound


def test_things_are_found_by_name_and_by_id(workspace: Workspace):
    pirate = workspace.library.find_adapter("pirate")
    assert workspace.library.find_adapter(pirate.digest[:15]) == pirate
    assert workspace.find("smol") == workspace.library.find_base("smol")
    with pytest.raises(NotFound):
        workspace.library.find_base("pirate")


def test_a_stack_and_an_adapter_of_one_name_need_a_kind(workspace: Workspace):
    workspace.compose("smol", [("pirate", 1.0)], name="pirate")
    with pytest.raises(AmbiguousRef):
        workspace.find("pirate")
    assert workspace.find("adapter:pirate") == workspace.library.find_adapter("pirate")


def test_notes_about_an_adapter_are_kept_and_announced(workspace: Workspace):
    pirate = workspace.library.find_adapter("pirate")
    outcome = workspace.library.update_adapter(
        pirate.digest,
        default_scale=0.75,
        trigger_text="arr",
        notes="mine",
        tags=("fun", " ", "sea", "fun"),
        system_prompt="You are at sea.",
        license="MIT",
    )
    assert outcome.changes.adapters == {pirate.digest}
    again = workspace.library.adapter(pirate.digest)
    assert (again.default_scale, again.trigger_text, again.notes) == (0.75, "arr", "mine")
    assert (again.tags, again.license) == (("fun", "sea"), "MIT")
    assert again.system_prompt == "You are at sea."
    assert (again.files, again.adapter) == (pirate.files, pirate.adapter)


def test_a_name_is_given_once(workspace: Workspace):
    pirate = workspace.library.find_adapter("pirate")
    with pytest.raises(NameTaken):
        workspace.library.update_adapter(pirate.digest, name="json")
    assert workspace.library.adapter(pirate.digest).name == "pirate"


def test_the_demo_adapters_fit_the_demo_base(workspace: Workspace):
    report = workspace.check("pirate", "smol")
    assert (report.ok, report.applies, report.of, report.problems) == (True, 60, 60, ())


def test_what_a_stack_needs_cannot_be_removed(workspace: Workspace):
    with pytest.raises(InUse, match="“both”, “pirates”"):
        workspace.forget("pirate")
    with pytest.raises(InUse):
        workspace.forget("smol")
    assert workspace.library.find_adapter("pirate").name == "pirate"


def test_removing_takes_the_row_and_the_files(workspace: Workspace):
    json = workspace.library.find_adapter("json")
    workspace.forget("objects")
    changes = workspace.forget("json")
    assert changes.adapters == {json.digest}
    with pytest.raises(NotFound):
        workspace.library.find_adapter("json")
    names = {f"sha256:{p.name}" for p in (workspace.root / "objects").rglob("*") if p.is_file()}
    others = {d for a in workspace.library.adapters() for d in a.objects}
    assert json.files["adapter_model.safetensors"] not in others
    assert names == others


def test_removing_a_linked_base_leaves_its_file(workspace: Workspace):
    path = workspace.library.find_base("smol").file
    for stack in ("plain", "pirates", "objects", "both"):
        workspace.forget(stack)
    workspace.forget("smol")
    assert path.exists()
    assert workspace.library.bases() == ()


def test_a_place_is_where_it_came_from_or_where_it_is_kept(
    workspace: Workspace, stranger: Path, base_path: Path
):
    assert workspace.location("smol") == base_path
    workspace.import_path(stranger)
    assert workspace.location("stranger") == stranger
    shutil.rmtree(stranger)
    kept = workspace.location("stranger")
    assert kept.is_relative_to(workspace.root / "objects")
    assert kept.is_file()
