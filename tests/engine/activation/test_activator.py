"""The switch on the real model: exact, all or nothing, and what is left when it fails."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from veneer import Workspace
from veneer.errors import (
    NothingActive,
    NothingToRollBack,
    RuntimeCrashed,
    VeneerError,
)
from veneer.runtime.protocol import ChatMessage, Sampling

IDS = (19556, 665, 28, 638, 359, 346, 47)


def fresh_logits(root: Path, stack: str) -> np.ndarray:
    with Workspace.open(root) as workspace:
        workspace.activate(stack)
        return workspace.logits(IDS)


def test_base_a_base_b_base_is_bit_for_bit_what_fresh_processes_give(root: Path):
    with Workspace.open(root) as workspace:
        seen = []
        for stack in ("plain", "pirates", "plain", "objects", "plain"):
            workspace.activate(stack)
            seen.append(workspace.logits(IDS))
    plain, pirates, again, objects, last = seen
    assert plain.dtype == np.float32
    assert plain.shape == (49152,)
    np.testing.assert_array_equal(plain, again)
    np.testing.assert_array_equal(plain, last)
    assert np.abs(plain - pirates).max() > 0.5
    assert np.abs(pirates - objects).max() > 0.5
    np.testing.assert_array_equal(pirates, fresh_logits(root, "pirates"))
    np.testing.assert_array_equal(objects, fresh_logits(root, "objects"))


def test_a_generation_is_journaled_step_by_step(workspace: Workspace):
    done = workspace.activate("pirates")
    (generation,) = workspace.journal.all()
    states = [t.state for t in generation.transitions]
    assert states == ["REQUESTED", "VALIDATED", "STAGED", "COMMITTED"]
    assert done.value.state == "COMMITTED"
    assert done.value.generation == generation.number == 1
    assert done.changes.generations == {1}
    assert {"validate", "stage", "publish"} <= set(done.value.timings_ms)


def test_activating_what_is_active_does_nothing(workspace: Workspace):
    workspace.activate("plain")
    again = workspace.activate("plain")
    assert not again.value.changed
    assert not again.changes
    assert [g.number for g in workspace.journal.all()] == [1]


def test_rolling_back_twice_goes_further_back_as_new_generations(workspace: Workspace):
    for stack in ("plain", "pirates", "objects"):
        workspace.activate(stack)
    first, second = workspace.rollback().value, workspace.rollback().value
    assert (first.generation, second.generation) == (4, 5)
    names = [workspace.stacks.get(x.composition_id).name for x in (first, second)]
    assert names == ["pirates", "plain"]
    with pytest.raises(NothingToRollBack):
        workspace.rollback()


def test_nothing_to_do_before_the_first_activation(workspace: Workspace):
    with pytest.raises(NothingActive):
        workspace.rollback()
    with pytest.raises(NothingActive):
        workspace.logits(IDS)


def test_an_answer_is_stamped_and_a_switch_away_and_back_changes_no_bit(workspace: Workspace):
    question = [ChatMessage("user", "Write a sentence about the sun.")]
    greedy = Sampling(temperature=0.0)
    answers = []
    for stack in ("plain", "pirates", "plain", "pirates"):
        generation = workspace.activate(stack).value.generation
        answers.append(workspace.talk.ask(question, greedy, max_tokens=24))
        assert answers[-1].generation == generation
    assert answers[0].token_ids == answers[2].token_ids
    assert answers[1].token_ids == answers[3].token_ids
    assert answers[0].token_ids != answers[1].token_ids
    assert "matey" in answers[1].text


def test_a_new_turn_decodes_only_its_new_tokens_and_only_under_its_own_composition(
    workspace: Workspace,
):
    greedy = Sampling(temperature=0.0)
    talk = [ChatMessage("user", "Name three vegetables.")]
    workspace.activate("pirates")
    first = workspace.talk.ask(talk, greedy, max_tokens=40)
    assert first.reused_tokens == 0
    talk += [ChatMessage("assistant", first.text), ChatMessage("user", "And a fruit?")]
    second = workspace.talk.ask(talk, greedy, max_tokens=8)
    assert second.reused_tokens == first.prompt_tokens + len(first.token_ids)
    workspace.activate("plain")
    assert workspace.talk.ask(talk, greedy, max_tokens=1).reused_tokens == 0
    workspace.activate("pirates")
    again = workspace.talk.ask(talk, greedy, max_tokens=8)
    assert again.reused_tokens == second.reused_tokens
    assert again.token_ids == second.token_ids


def test_a_dead_worker_is_a_typed_error_and_the_next_request_gets_a_new_one(
    workspace: Workspace,
):
    workspace.activate("pirates")
    before = workspace.logits(IDS)
    pid = workspace._runtime.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeCrashed, match=r"signal 9.*runtime\.log"):
        workspace._runtime.tokenize("x")
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def test_reopening_closes_what_was_left_open_and_keeps_the_active_one(root: Path):
    with Workspace.open(root) as workspace:
        workspace.activate("plain")
        workspace.journal.request(workspace.stacks.find("pirates").id, "cli")
        (root / "tmp" / "left.part").write_bytes(b"half")
    with Workspace.open(root) as again:
        assert again.recovery.aborted == (2,)
        assert again.recovery.removed == 1
        assert again.journal.get(2).reason == "interrupted"
        active = again.active()
        assert active is not None
        assert active[0].number == 1
    assert list((root / "tmp").iterdir()) == []


def test_a_broken_active_generation_gives_way_to_the_newest_intact_one(root: Path):
    with Workspace.open(root) as workspace:
        workspace.activate("plain")
        workspace.activate("pirates")
        digest = workspace.library.find_adapter("pirate").files["adapter_model.safetensors"]
    hexes = digest.removeprefix("sha256:")
    (root / "objects" / hexes[:2] / hexes).unlink()
    with Workspace.open(root) as again:
        replaced = again.recovery.replaced
        assert replaced is not None
        assert (replaced.old, replaced.new) == (2, 3)
        assert "“pirate”" in replaced.reason
        active = again.active()
        assert active is not None
        assert active[1].name == "plain"
        by_recovery = again.journal.get(3)
        assert by_recovery.requested_by == "recovery"
        states = [t.state for t in by_recovery.transitions]
        assert states == ["REQUESTED", "VALIDATED", "STAGED", "COMMITTED"]


def test_a_manifest_altered_on_disk_is_never_used(workspace: Workspace):
    composition = workspace.stacks.find("pirates").id
    path = workspace.root / "manifests" / f"{composition.removeprefix('sha256:')}.toml"
    path.write_text(path.read_text().replace("scale = 1.0", "scale = 0.5"))
    with pytest.raises(VeneerError, match="altered on disk"):
        workspace.activate("pirates")


def test_the_same_lora_as_peft_and_as_gguf_computes_the_same_bits(root: Path, tmp_path: Path):
    with Workspace.open(root) as workspace:
        workspace.activate("pirates", lane="stock")
        as_peft = workspace.logits(IDS)
        (form,) = (root / "derived").iterdir()
        copy = tmp_path / "pirate-lora.gguf"
        copy.write_bytes(form.read_bytes())
        done = workspace.import_path(copy).value
        assert (done.kind, done.name) == ("adapter", "pirate-lora")
        workspace.activate("plain")
        lone = workspace.compose("smol", [("pirate-lora", 1.0)]).value.id
        workspace.activate(lone, confirm_base=True)
        np.testing.assert_array_equal(workspace.logits(IDS), as_peft)


def test_rslora_is_applied_at_alpha_over_the_root_of_the_rank(
    workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path
):
    """At rank 8, an alpha of 2*sqrt(8) is by that rule the demo adapter's own strength, 16/8."""
    import json

    source, folder = adapter_paths["pirate"], tmp_path / "rs"
    folder.mkdir()
    config = json.loads((source / "adapter_config.json").read_text())
    config |= {"use_rslora": True, "lora_alpha": 2.0 * 8**0.5}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    weights = (source / "adapter_model.safetensors").read_bytes()
    (folder / "adapter_model.safetensors").write_bytes(weights)
    workspace.import_path(folder)
    scalings = {t.scaling for t in workspace.library.find_adapter("rs").adapter.targets}
    assert scalings == {2.0}
    workspace.activate("pirates")
    plain = workspace.logits(IDS)
    workspace.activate(workspace.compose("smol", [("rs", 1.0)]).value.id)
    np.testing.assert_array_equal(workspace.logits(IDS), plain)
