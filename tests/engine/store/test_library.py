import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from tests.engine.damage import object_files
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


def test_removing_takes_the_row_and_leaves_the_files_to_the_history(workspace: Workspace):
    json = workspace.library.find_adapter("json")
    workspace.forget("objects")
    changes = workspace.forget("json")
    assert changes.adapters == {json.digest}
    with pytest.raises(NotFound):
        workspace.library.find_adapter("json")
    assert [a.name for a in workspace.library.adapters()] == ["pirate", "terse"]
    assert workspace.library.adapter(json.digest) == json
    workspace.custody.verify_adapter(json, thorough=True)


def test_removing_a_linked_base_leaves_its_file(workspace: Workspace):
    path = workspace.library.find_base("smol").file
    for stack in ("plain", "pirates", "objects", "both"):
        workspace.forget(stack)
    workspace.forget("smol")
    assert path.exists()
    assert workspace.library.bases() == ()


def test_taking_back_an_import_undoes_it_and_nothing_before_it(
    workspace: Workspace, adapter_paths: dict[str, Path]
):
    workspace.forget("objects")
    removed = workspace.library.find_adapter("json")
    workspace.forget("json")
    before = object_files(workspace.root)
    workspace.import_path(adapter_paths["json"])
    workspace.library.take_back(workspace.library.find_adapter("json"))
    assert workspace.library.adapter(removed.digest) == removed
    assert object_files(workspace.root) == before
    workspace.gc(grace=timedelta())
    after = object_files(workspace.root)
    assert after < before
    workspace.import_path(adapter_paths["json"])
    workspace.library.take_back(workspace.library.find_adapter("json"))
    with pytest.raises(NotFound):
        workspace.library.adapter(removed.digest)
    assert object_files(workspace.root) == after


def test_what_was_removed_is_not_brought_back_by_a_late_note(workspace: Workspace):
    json = workspace.library.find_adapter("json").digest
    workspace.forget("objects")
    workspace.forget("json")
    for change in (
        lambda: workspace.library.update_adapter(json, notes="typed before it went"),
        lambda: workspace.library.forget_adapter(json),
    ):
        with pytest.raises(NotFound):
            change()
    assert [a.name for a in workspace.library.adapters()] == ["pirate", "terse"]


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
