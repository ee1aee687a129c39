"""Damage and its repair as they are met on the command line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engine.damage import (
    cut_short,
    flip_a_byte,
    manifest_of,
    object_files,
    quarantined,
    weights_of,
)
from veneer import Workspace
from veneer.cli.run import run, serve


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
    assert quarantined(root) == [weights.name]
    assert veneer("status", "--json").json["generation"] == 3
    listed = veneer("list", "compositions")
    assert "pirates" in listed.out
    assert listed.err.startswith("note: “both”: The manifest of composition")
    unreadable = veneer("activate", "both")
    assert f"It is kept as {root / 'quarantine' / manifest.name}." in unreadable.err
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


def test_checking_and_repairing(veneer: Veneer, root: Path, adapter_paths: dict[str, Path]):
    whole = veneer("fsck")
    assert (whole.code, whole.err) == (0, "")
    assert whole.out.endswith(" and 4 manifests were looked at.\nAll is well.\n")
    with Workspace.open(root, writable=False) as workspace:
        weights = weights_of(workspace, "pirate")
    flip_a_byte(weights)
    found = veneer("fsck")
    assert found.code == 1
    where = weights.relative_to(root)
    assert f"  OBJECT_DAMAGED  {where}: Its bytes hash to " in found.out
    assert "  FILES_MISSING  adapter:pirate: Missing or damaged: adapter_model.saf" in found.out
    assert "“veneer fsck --repair” repairs" in found.out
    repaired = veneer("fsck", "--repair", "--json").json
    assert not repaired["ok"]
    assert repaired["rebuilt"] is None
    damaged, lacking = repaired["report"]["findings"]
    assert damaged["repair"] == f"kept as {root / 'quarantine' / weights.name}"
    assert lacking["repair"] == ""
    assert veneer("import", str(adapter_paths["pirate"])).code == 0
    assert veneer("fsck").code == 0


def test_a_catalog_that_is_gone_says_the_way_out_of_it(veneer: Veneer, root: Path, base_path: Path):
    (root / "veneer.db").unlink()
    for words in (("status",), ("activate", "plain"), ("fsck",)):
        refused = veneer(*words)
        assert refused.code == 1
        assert refused.err.startswith("error[CATALOG]: The catalog ")
        assert "“veneer fsck --repair”" in refused.err
    repaired = veneer("fsck", "--repair")
    assert repaired.code == 0
    said = repaired.out.splitlines()
    assert said[0] == "The catalog was made anew. The old one: there was none"
    assert said[2] == "  taken up from files: 3 bases and adapters, 4 compositions"
    assert said[3].startswith("  compositions need the base ")
    assert said[3].endswith(", which was linked: import it again")
    assert veneer("import", str(base_path)).code == 0
    assert len(veneer("list", "compositions", "--json").json) == 4


def test_a_workspace_that_is_open_elsewhere_is_checked_there(veneer: Veneer, root: Path):
    with Workspace.open(root) as held, serve(held):
        path = manifest_of(held, "pirates")
        path.unlink()
        repaired = veneer("fsck", "--repair")
        assert repaired.code == 0
        assert "[given up; composing the same again brings it back]" in repaired.out
        assert held.fsck().value.findings == ()


def test_collecting(veneer: Veneer, root: Path):
    assert veneer("remove", "objects").code == 0
    assert veneer("remove", "json").code == 0
    before = object_files(root)
    marked = veneer("gc")
    assert (marked.code, marked.err) == (0, "")
    assert "needed: 5 files, " in marked.out
    assert "not needed, and to go later: 2 files, " in marked.out
    assert marked.out.endswith("to go now: 0 files, 0 bytes\n")
    planned = veneer("gc", "--dry-run", "--grace", "0", "--json").json
    assert object_files(root) == before
    assert veneer("gc", "--grace", "0").out.count("\n  objects/") == 2
    assert {f"sha256:{item['path'][-64:]}" for item in planned["plan"]["swept"]} == (
        before - object_files(root)
    )
    assert veneer("gc", "--grace", "-1").code == 1


def test_collecting_where_a_root_cannot_be_read(veneer: Veneer, root: Path):
    with Workspace.open(root, writable=False) as workspace:
        cut_short(manifest_of(workspace, "pirates"))
    blocked = veneer("gc", "--grace", "0")
    assert blocked.code == 1
    assert blocked.out.startswith("Nothing is removed, since it cannot be told what is needed:\n")
    assert "“veneer fsck --repair” gives it up" in blocked.out
    assert veneer("fsck", "--repair").code == 0
    assert veneer("gc", "--grace", "0").code == 0


def test_verifying(veneer: Veneer, root: Path):
    refused = veneer("verify")
    assert refused.err.startswith("error[NOTHING_ACTIVE]: ")
    assert veneer("verify", "pirate", "--all").err.startswith("error[USAGE]: ")
    with Workspace.open(root) as workspace:
        number = workspace.journal.request(workspace.stacks.find("pirates").id, "cli")
        workspace.journal.commit(number, {})
    fine = veneer("verify")
    assert fine.code == 0
    assert fine.out.splitlines() == [
        "base smol: its bytes are right, and it gives numbers",
        "adapter pirate: its bytes are right, and it changes what “smol” says",
        "composition pirates: its bytes are right, and all of it together gives numbers",
    ]
    with Workspace.open(root, writable=False) as workspace:
        flip_a_byte(weights_of(workspace, "json"))
    wrong = veneer("verify", "json", "--json")
    assert wrong.code == 1
    (verdict,) = wrong.json["verdicts"]
    assert (verdict["name"], verdict["code"]) == ("json", "DAMAGED")
