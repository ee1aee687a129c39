"""Collecting in a real workspace: what stays, what goes, and what can still be done meanwhile."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.engine.damage import cut_short, manifest_of, object_files
from veneer import Workspace
from veneer.compose.forms import Forms
from veneer.errors import NotFound, StoreError
from veneer.store.fs import RealFs
from veneer.upkeep.collect import Collected

# Later than any file that these tests write.
NOW = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
DAY = timedelta(days=1)
NO_GRACE = timedelta()


def collect(
    workspace: Workspace, days: float = 0.0, grace: timedelta = 14 * DAY, *, dry_run: bool = False
) -> Collected:
    now = NOW + days * DAY
    return workspace.gc(grace=grace, dry_run=dry_run, clock=lambda: now).value


def ran(workspace: Workspace, stack: str) -> int:
    """A generation of this stack, as it is when its activation has ended."""
    number = workspace.journal.request(workspace.stacks.find(stack).id, "cli")
    workspace.journal.commit(number, {})
    return number


def test_nothing_of_a_workspace_in_use_goes(workspace: Workspace):
    before = object_files(workspace.root)
    done = collect(workspace, grace=NO_GRACE)
    assert (done.plan.swept, done.plan.waiting, done.plan.blocked) == ((), (), ())
    assert object_files(workspace.root) == before
    assert len(done.plan.kept) == len(before)


def test_what_was_removed_goes_in_two_phases(workspace: Workspace):
    json = workspace.library.find_adapter("json")
    workspace.forget("objects")
    workspace.forget("json")
    before = object_files(workspace.root)
    shared = {d for a in workspace.library.adapters() for d in a.objects}
    assert json.objects - shared
    for days in (0, 13):
        done = collect(workspace, days)
        assert object_files(workspace.root) == before
        assert {w.until for w in done.plan.waiting} == {NOW + 14 * DAY}
    dry = collect(workspace, 14, dry_run=True)
    assert {f"sha256:{item.path[-64:]}" for item in dry.plan.swept} == json.objects - shared
    assert object_files(workspace.root) == before
    assert collect(workspace, 14).plan.swept == dry.plan.swept
    assert object_files(workspace.root) == shared
    with pytest.raises(NotFound):
        workspace.library.adapter(json.digest)
    assert workspace.fsck().value.findings == ()


def test_a_dry_run_marks_nothing(workspace: Workspace):
    workspace.forget("objects")
    workspace.forget("json")
    collect(workspace, 0, dry_run=True)
    assert collect(workspace, 20).plan.swept == ()


def test_importing_again_brings_back_what_was_removed_with_its_notes(
    workspace: Workspace, adapter_paths: dict[str, Path]
):
    json = workspace.library.find_adapter("json")
    workspace.library.update_adapter(json.digest, notes="mine")
    workspace.forget("objects")
    workspace.forget("json")
    collect(workspace, 0)
    assert not workspace.import_path(adapter_paths["json"]).value.already
    assert workspace.library.find_adapter("json").notes == "mine"
    assert collect(workspace, 20).plan.swept == ()
    # Removed once more, it waits anew.
    workspace.forget("json")
    assert collect(workspace, 21).plan.swept == ()


def test_a_kept_generation_can_be_rolled_back_to_after_its_adapter_was_removed(
    workspace: Workspace,
):
    ran(workspace, "objects")
    ran(workspace, "plain")
    composition = workspace.stacks.find("objects").id
    workspace.forget("objects")
    workspace.forget("json")
    assert "json" not in [a.name for a in workspace.library.adapters()]
    before = object_files(workspace.root)
    assert collect(workspace, grace=NO_GRACE).plan.swept == ()
    workspace._compiler.validate(workspace.stacks.get(composition).manifest)
    keep_one = msgspec.structs.replace(workspace.settings, keep_generations=1)
    workspace.change_settings(keep_one)
    assert collect(workspace, grace=NO_GRACE).plan.swept
    assert object_files(workspace.root) < before
    with pytest.raises(NotFound, match="is not in this workspace"):
        workspace._compiler.validate(workspace.stacks.get(composition).manifest)


def test_what_is_active_or_under_way_is_kept_whatever_the_number(workspace: Workspace):
    ran(workspace, "both")
    ran(workspace, "objects")
    workspace.journal.request(workspace.stacks.find("pirates").id, "cli")
    keep_one = msgspec.structs.replace(workspace.settings, keep_generations=1)
    workspace.change_settings(keep_one)
    for stack in ("objects", "pirates", "both"):
        workspace.stacks.forget(stack)
    for adapter in ("json", "pirate", "terse"):
        workspace.library.forget_adapter(workspace.library.find_adapter(adapter).digest)
    collect(workspace, grace=NO_GRACE)
    under_way, active, earlier = (g.composition for g in workspace.journal.all())
    for composition in (under_way, active):
        workspace._compiler.validate(workspace.stacks.get(composition).manifest)
    with pytest.raises(NotFound):
        workspace._compiler.validate(workspace.stacks.get(earlier).manifest)


@pytest.mark.parametrize("kept_by", ["a name", "a generation"])
def test_an_unreadable_root_keeps_everything_and_says_what_to_do(
    workspace: Workspace, kept_by: str
):
    ran(workspace, "pirates")
    path = manifest_of(workspace, "pirates")
    if kept_by == "a generation":
        workspace.stacks.forget("pirates")
    workspace.forget("objects")
    workspace.forget("json")
    (workspace.root / "derived" / "old.gguf").write_bytes(b"old")
    before = object_files(workspace.root)
    cut_short(path)
    done = collect(workspace, grace=NO_GRACE)
    (sentence,) = done.plan.blocked
    assert sentence.startswith("The manifest of composition ")
    assert "“veneer fsck --repair” gives it up" in sentence
    assert ("Needed by “pirates”." in sentence) == (kept_by == "a name")
    assert object_files(workspace.root) == before
    assert (workspace.root / "derived" / "old.gguf").exists()
    workspace.fsck(repair=True)
    assert collect(workspace, grace=NO_GRACE).plan.swept
    assert object_files(workspace.root) < before


def test_a_manifest_that_was_given_up_and_is_there_again_is_a_root(
    workspace: Workspace, tmp_path: Path
):
    ran(workspace, "objects")
    ran(workspace, "plain")
    path = manifest_of(workspace, "objects")
    workspace.stacks.forget("objects")
    path.rename(backup := tmp_path / "backup")
    workspace.fsck(repair=True)
    backup.rename(path)
    workspace.forget("json")
    assert collect(workspace, grace=NO_GRACE).plan.swept == ()


def test_derived_forms_go_and_those_of_the_library_and_of_what_runs_stay(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    workspace.activate("pirates")
    (form,) = (workspace.root / "derived").iterdir()
    (workspace.root / "derived" / "old.gguf").write_bytes(b"old")
    (workspace.root / "kv" / "talk.kv").write_bytes(b"a conversation")
    (workspace.root / "quarantine" / "kept").write_bytes(b"kept")
    done = collect(workspace, grace=NO_GRACE)
    assert [item.path for item in done.plan.swept] == ["derived/old.gguf"]
    assert list((workspace.root / "derived").iterdir()) == [form]
    for stack in ("pirates", "both"):
        workspace.stacks.forget(stack)
    pirate = workspace.library.find_adapter("pirate").digest
    workspace.library.forget_adapter(pirate)
    collect(workspace, grace=NO_GRACE)
    assert form.exists()
    # As a form that only this plan knows of.
    other = workspace.root / "derived" / "other.gguf"
    monkeypatch.setattr(Forms, "places", lambda forms, *of: (other,))
    collect(workspace, grace=NO_GRACE)
    assert form.exists()
    workspace.activator.stop()
    collect(workspace, grace=NO_GRACE)
    assert not form.exists()
    assert (workspace.root / "kv" / "talk.kv").exists()
    assert (workspace.root / "quarantine" / "kept").exists()


def test_a_form_that_is_gone_is_made_again(workspace: Workspace):
    base, pirate = workspace.library.find_base("smol"), workspace.library.find_adapter("pirate")
    form = workspace._compiler._forms.overlay(pirate, base)
    for stack in ("pirates", "both"):
        workspace.stacks.forget(stack)
    workspace.forget("pirate")
    collect(workspace, grace=NO_GRACE)
    assert not form.exists()


class Mapped(RealFs):
    """Refuses to remove objects, as Windows does while they are mapped."""

    def unlink(self, path: Path) -> None:
        if "objects" in path.parts:
            raise StoreError(f"Could not remove {path}: in use.")
        super().unlink(path)


def test_what_cannot_be_removed_is_said_and_goes_the_next_time(root: Path):
    with Workspace.open(root, fs=Mapped()) as workspace:
        workspace.forget("objects")
        workspace.forget("json")
        done = collect(workspace, grace=NO_GRACE)
        assert len(done.stuck) == len(done.plan.swept) > 0
        assert "in use" in done.stuck[0]
        assert workspace.fsck().value.ok
    with Workspace.open(root) as again:
        assert collect(again, grace=NO_GRACE).plan.swept == done.plan.swept
        assert again.fsck().value.findings == ()


def test_an_import_that_has_published_and_not_yet_written_its_row_is_waited_for(
    workspace: Workspace,
):
    """The lock that holds for both is what this is about, not the time between."""
    collected = threading.Thread(target=collect, args=(workspace,))
    with workspace._importer._objects.naming:
        collected.start()
        collected.join(0.05)
        assert collected.is_alive()
    collected.join(10)
    assert not collected.is_alive()
