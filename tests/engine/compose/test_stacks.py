from pathlib import Path

import pytest

from tests.engine.damage import Harm, cut_short, manifest_of, quarantined
from veneer import Workspace
from veneer.errors import Damaged, ManifestError, NameTaken, NotFound


def flip_the_scale(path: Path) -> None:
    path.write_text(path.read_text().replace("scale = 1.0", "scale = 0.5"))


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


@pytest.mark.parametrize(
    ("harm", "said"),
    [(cut_short, "is damaged"), (flip_the_scale, "altered on disk"), (Path.unlink, "is missing")],
)
def test_one_bad_manifest_hides_no_other_and_is_healed_by_composing_it_again(
    workspace: Workspace, harm: Harm, said: str
):
    before, path = workspace.stacks.saved(), manifest_of(workspace, "pirates")
    harm(path)
    left = [path.name] if path.exists() else []
    with pytest.raises(Damaged, match=f"{said}.* Compose it again"):
        workspace.activate("pirates")
    assert quarantined(workspace.root) == left
    assert [c.name for c in workspace.stacks.saved()] == ["both", "objects", "plain"]
    (bad,) = workspace.stacks.unreadable()
    assert bad.name == "pirates"
    assert "is missing" in bad.problem
    workspace.compose("smol", [("pirate", 1.0)], name="pirates")
    assert [c.id for c in workspace.stacks.saved()] == [c.id for c in before]
    assert workspace.stacks.unreadable() == ()


def test_a_reader_leaves_a_bad_manifest_where_it_is(root: Path):
    with Workspace.open(root, writable=False) as workspace:
        path = manifest_of(workspace, "pirates")
        cut_short(path)
        (bad,) = workspace.stacks.unreadable()
        assert "is damaged" in bad.problem
        assert path.exists()
    assert quarantined(root) == []


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


def test_composing_again_heals_a_manifest_that_nobody_has_found_out_yet(workspace: Workspace):
    path = manifest_of(workspace, "pirates")
    cut_short(path)
    workspace.compose("smol", [("pirate", 1.0)], name="pirates")
    assert workspace.stacks.find("pirates").manifest.envelope.name == "pirates"
