"""Damage and its repair as they are met on the command line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engine.damage import cut_short, flip_a_byte, manifest_of, quarantined, weights_of
from veneer import Workspace
from veneer.cli.run import run


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Veneer = Callable[..., Said]


@pytest.fixture
def veneer(root: Path, capsys: pytest.CaptureFixture[str]) -> Veneer:
    """A command line carried out in this process, on the stocked workspace."""

    def carry(*words: str) -> Said:
        code = run(["--workspace", str(root), *words])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return carry


def test_damage_is_told_and_importing_again_heals_it(
    veneer: Veneer, root: Path, adapter_paths: dict[str, Path]
):
    for stack in ("plain", "pirates"):
        assert veneer("activate", stack).code == 0
    with Workspace.open(root, writable=False) as workspace:
        weights, manifest = weights_of(workspace, "pirate"), manifest_of(workspace, "both")
    flip_a_byte(weights)
    cut_short(manifest)
    opened = veneer("compose", "other", "--base", "smol")
    assert opened.code == 0
    assert opened.err.startswith("note: generation 2 cannot run (The adapter “pirate” (adapter_mo")
    assert opened.err.endswith("Import the original again.); generation 3 took its place.\n")
    assert quarantined(root) == sorted([weights.name, manifest.name])
    assert veneer("status", "--json").json["generation"] == 3
    listed = veneer("list", "compositions")
    assert "pirates" in listed.out
    assert listed.err.startswith("note: “both”: The manifest of composition")
    refused = veneer("activate", "pirates")
    assert refused.code == 1
    assert refused.err.startswith("error[DAMAGED]: The adapter “pirate” (adapter_model.safetens")
    assert "is missing" in refused.err
    assert veneer("import", str(adapter_paths["pirate"])).code == 0
    assert veneer("activate", "pirates", "--json").json["state"] == "COMMITTED"


def test_a_base_that_was_moved_is_told(veneer: Veneer, base_path: Path, tmp_path: Path):
    mine = tmp_path / "mine.gguf"
    shutil.copyfile(base_path, mine)
    assert veneer("import", str(mine)).code == 0
    mine.unlink()
    refused = veneer("activate", "plain")
    assert refused.code == 1
    assert f"The base “smol” is missing: there is no file {mine}. Needed by" in refused.err
    assert veneer("import", str(base_path)).code == 0
    assert veneer("activate", "plain", "--json").json["state"] == "COMMITTED"
