"""Damage to what a workspace holds: found before use, named, kept aside, and healed."""

import shutil
from pathlib import Path

import pytest

from tests.engine.damage import HARMS, Harm, cut_short, flip_a_byte, quarantined, weights_of
from veneer import Workspace
from veneer.errors import Damaged


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_adapter_is_named_kept_aside_and_healed_by_importing_it_again(
    workspace: Workspace, adapter_paths: dict[str, Path], harm: Harm
):
    path = weights_of(workspace, "pirate")
    whole = path.read_bytes()
    harm(path)
    left = path.read_bytes() if path.exists() else None
    with pytest.raises(Damaged) as caught:
        workspace.activate("pirates")
    said = caught.value.message
    assert said.startswith("The adapter “pirate” (adapter_model.safetensors) ")
    assert said.endswith("Needed by “both”, “pirates”. Import the original again.")
    assert caught.value.digest == workspace.library.find_adapter("pirate").digest
    assert not path.exists()
    if left is not None:
        assert quarantined(workspace.root) == [path.name]
        kept = workspace.root / "quarantine" / path.name
        assert f"It is kept as {kept}." in said
        assert kept.read_bytes() == left
    assert workspace.import_path(adapter_paths["pirate"]).value.already
    assert path.read_bytes() == whole
    workspace.custody.verify_adapter(workspace.library.find_adapter("pirate"), thorough=True)


def test_what_is_kept_aside_is_never_replaced(workspace: Workspace, adapter_paths: dict[str, Path]):
    pirate, path = workspace.library.find_adapter("pirate"), weights_of(workspace, "pirate")
    for harm in (flip_a_byte, cut_short):
        harm(path)
        with pytest.raises(Damaged):
            workspace.custody.verify_adapter(pirate)
        workspace.import_path(adapter_paths["pirate"])
    assert quarantined(workspace.root) == [path.name, f"{path.name}-2"]


def test_a_file_that_several_adapters_share_names_the_stacks_of_all(
    workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path
):
    twin = tmp_path / "twin"
    shutil.copytree(adapter_paths["pirate"], twin)
    config = twin / "adapter_config.json"
    config.write_text(config.read_text() + "\n")
    workspace.import_path(twin)
    workspace.compose("smol", [("twin", 1.0)], name="twins")
    flip_a_byte(weights_of(workspace, "pirate"))
    with pytest.raises(Damaged, match="Needed by “both”, “pirates”, “twins”"):
        workspace.custody.verify_adapter(workspace.library.find_adapter("twin"))


def test_a_linked_base_that_was_moved_is_found_where_it_is_imported_again(
    root: Path, base_path: Path, tmp_path: Path
):
    mine, elsewhere = tmp_path / "mine.gguf", tmp_path / "elsewhere.gguf"
    shutil.copyfile(base_path, mine)
    with Workspace.open(root) as workspace:
        workspace.import_path(mine)
        mine.rename(elsewhere)
        with pytest.raises(Damaged) as caught:
            workspace.activate("pirates")
        assert caught.value.message == (
            f"The base “smol” is missing: there is no file {mine}. "
            "Needed by “both”, “objects”, “pirates”, “plain”. Import the original again."
        )
        workspace.import_path(elsewhere)
        workspace.custody.verify_base(workspace.library.find_base("smol"))
    assert quarantined(root) == []


def test_a_linked_base_that_was_edited_is_refused_and_left_to_its_owner(
    root: Path, base_path: Path, tmp_path: Path
):
    mine = tmp_path / "mine.gguf"
    shutil.copyfile(base_path, mine)
    with Workspace.open(root) as workspace:
        workspace.import_path(mine)
        with mine.open("r+b") as file:
            file.seek(-1, 2)
            file.write(b"!")
        with pytest.raises(Damaged, match=r"The base “smol” has changed on disk"):
            workspace.activate("plain")
    assert mine.exists()
    assert quarantined(root) == []


def test_a_copied_base_that_is_damaged_is_healed_by_copying_it_in_again(
    root: Path, base_path: Path
):
    with Workspace.open(root) as workspace:
        workspace.import_path(base_path, copy=True)
        stored = workspace.library.find_base("smol")
        cut_short(stored.file)
        with pytest.raises(Damaged, match="“smol” has changed on disk"):
            workspace.activate("plain")
        assert quarantined(root) == [stored.file.name]
        workspace.import_path(base_path, copy=True)
        workspace.custody.verify_base(stored, thorough=True)
