"""A switch while an answer streams, and the cache across switches, on the real worker."""

import threading
from pathlib import Path

import msgspec
import pytest

from veneer import Workspace
from veneer.errors import Answering, OverBudget
from veneer.runtime.protocol import ChatMessage, Sampling

STORY = [ChatMessage("user", "Tell a long story about a dog.")]
GREEDY = Sampling(temperature=0.0)


def while_answering(workspace: Workspace, then) -> list:
    """Carry `then` out on another thread once an answer streams; the answer is first."""
    begun, results = threading.Event(), []

    def ask() -> None:
        results.append(
            workspace.talk.ask(STORY, GREEDY, max_tokens=3000, on_text=lambda text: begun.set())
        )

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(60)
    try:
        then()
    finally:
        workspace.interrupt()
        thread.join(60)
    return results


def test_an_answer_in_flight_ends_marked_and_keeps_its_text(workspace: Workspace):
    workspace.activate("plain")
    (answer,) = while_answering(workspace, lambda: workspace.activate("pirates"))
    assert answer.finish_reason == "composition_changed"
    assert answer.text
    assert answer.generation == 1
    assert workspace.talk.ask(STORY, GREEDY, max_tokens=2).generation == 2


def test_by_setting_the_switch_is_refused_and_the_answer_goes_on(workspace: Workspace):
    workspace.activate("plain")
    workspace.change_settings(msgspec.structs.replace(workspace.settings, on_switch="refuse"))

    def switch() -> None:
        with pytest.raises(Answering):
            workspace.activate("pirates")

    (answer,) = while_answering(workspace, switch)
    assert answer.finish_reason == "cancelled"
    assert [g.number for g in workspace.journal.all()] == [1]


def test_two_activations_at_once_are_carried_out_one_after_the_other(workspace: Workspace):
    workspace.activate("plain")
    done = {}

    def switch(stack: str) -> None:
        done[stack] = workspace.activate(stack).value

    threads = [threading.Thread(target=switch, args=(s,)) for s in ("pirates", "objects")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {a.generation for a in done.values()} == {2, 3}
    last = max(done.values(), key=lambda activation: activation.generation)
    active = workspace.active()
    assert active is not None
    assert (active[0].number, active[1].id) == (last.generation, last.composition_id)
    assert workspace.talk.ask(STORY, GREEDY, max_tokens=1).composition_id == last.composition_id


def test_another_strength_by_a_hundredth_reuses_nothing(workspace: Workspace):
    workspace.activate("pirates")
    first = workspace.talk.ask(STORY, GREEDY, max_tokens=4)
    talk = [*STORY, ChatMessage("assistant", first.text), ChatMessage("user", "Go on.")]
    workspace.activate(workspace.compose("smol", [("pirate", 1.01)]).value.id)
    assert workspace.talk.ask(talk, GREEDY, max_tokens=1).reused_tokens == 0
    workspace.activate("pirates")
    assert workspace.talk.ask(talk, GREEDY, max_tokens=1).reused_tokens > 0


def test_kept_files_bring_a_conversation_back_after_a_restart(root: Path):
    with Workspace.open(root) as workspace:
        chosen = msgspec.structs.replace(workspace.settings, kv_disk_budget=100 << 20)
        workspace.change_settings(chosen)
        workspace.activate("pirates")
        first = workspace.talk.ask(STORY, GREEDY, max_tokens=8)
    talk = [*STORY, ChatMessage("assistant", first.text), ChatMessage("user", "Go on.")]
    with Workspace.open(root) as workspace:
        again = workspace.talk.ask(talk, GREEDY, max_tokens=1)
        assert again.reused_tokens == first.prompt_tokens + len(first.token_ids) - 1
        workspace.change_settings(msgspec.structs.replace(chosen, kv_disk_budget=0))
        workspace.activate("plain")
        assert list((root / "kv").iterdir()) == []


def test_nothing_of_a_conversation_is_on_disk_by_default(root: Path):
    with Workspace.open(root) as workspace:
        workspace.activate("plain")
        workspace.talk.ask(STORY, GREEDY, max_tokens=2)
    assert list((root / "kv").iterdir()) == []


def test_a_changed_context_applies_to_the_next_answer(workspace: Workspace):
    workspace.activate("plain")
    before = workspace._runtime.generate(tuple(STORY), GREEDY, 1).execution
    workspace.change_settings(msgspec.structs.replace(workspace.settings, n_ctx=512))
    workspace.talk.ask(STORY, GREEDY, max_tokens=1)
    assert workspace._runtime.generate(tuple(STORY), GREEDY, 1).execution != before
    assert [g.number for g in workspace.journal.all()] == [1]


def test_a_failed_activation_tells_whoever_listens(workspace: Workspace):
    noticed = []
    workspace.activator.on_changes = noticed.append
    workspace.change_settings(msgspec.structs.replace(workspace.settings, memory_budget=1))
    with pytest.raises(OverBudget) as caught:
        workspace.activate("pirates")
    assert caught.value.step == "admit"
    assert [changes.generations for changes in noticed] == [{1}]
