import pytest

from veneer import Workspace
from veneer.errors import ManifestError, NameTaken, NotFound


def test_a_stack_is_found_by_name_and_by_id(workspace: Workspace):
    made = workspace.compose("smol", [("pirate", 0.25)], name="quarter").value
    assert workspace.stacks.find("quarter") == made
    assert workspace.stacks.find(made.id[:20]).id == made.id
    (adapter,) = made.manifest.composition.adapters
    assert adapter.digest == workspace.library.find_adapter("pirate").digest
    assert adapter.scale == 0.25


def test_the_same_meaning_under_two_names_is_one_composition(workspace: Workspace):
    one = workspace.compose("smol", [("pirate", 0.25)], name="one").value
    two = workspace.compose("smol", [("pirate", 0.25)], name="two").value
    assert one.id == two.id
    assert {"one", "two"} <= {c.name for c in workspace.stacks.saved()}


def test_a_name_can_be_given_to_something_else(workspace: Workspace):
    before = workspace.stacks.find("pirates").id
    after = workspace.compose("smol", [("pirate", 2.0)], name="pirates").value
    assert workspace.stacks.find("pirates").id == after.id != before
    assert workspace.stacks.get(before).manifest.composition.adapters[0].scale == 1.0


def test_no_scale_means_the_adapter_s_own(workspace: Workspace):
    pirate = workspace.library.find_adapter("pirate")
    workspace.library.update_adapter(pirate.digest, default_scale=0.75)
    made = workspace.compose("smol", [("pirate", None)]).value
    assert made.manifest.composition.adapters[0].scale == 0.75


def test_a_refused_composition_leaves_nothing(workspace: Workspace):
    before = workspace.stacks.saved()
    with pytest.raises(ManifestError):
        workspace.compose("smol", [("pirate", 1.0), ("pirate", 1.0)], name="twice")
    assert workspace.stacks.saved() == before


def test_forgetting_a_name_keeps_the_composition(workspace: Workspace):
    composition = workspace.stacks.find("both").id
    workspace.forget("composition:both")
    assert workspace.stacks.get(composition).name is None
    with pytest.raises(NotFound):
        workspace.stacks.find("both")


def test_a_stack_is_renamed_unless_the_name_is_taken(workspace: Workspace):
    before = workspace.stacks.find("pirates").id
    assert workspace.stacks.rename("pirates", " sailors ").value.name == "sailors"
    assert workspace.stacks.find("sailors").id == before
    with pytest.raises(NameTaken, match="“both”"):
        workspace.stacks.rename("sailors", "both")
    with pytest.raises(NotFound, match="“pirates”"):
        workspace.stacks.rename("pirates", "x")
    assert workspace.stacks.find("sailors").id == before


def test_a_stack_is_saved_under_another_name(workspace: Workspace):
    made = workspace.compose("smol", [("pirate", 0.5)], name="sailors", was="pirates").value
    saved = {c.name: c.id for c in workspace.stacks.saved()}
    assert saved["sailors"] == made.id
    assert "pirates" not in saved
    with pytest.raises(NameTaken):
        workspace.compose("smol", [("pirate", 0.25)], name="both", was="sailors")
    assert {c.name: c.id for c in workspace.stacks.saved()} == saved
