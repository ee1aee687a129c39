import threading

import pytest

from veneer import Workspace
from veneer.chat.conversation import title_from
from veneer.errors import NotFound
from veneer.runtime.protocol import Sampling

GREEDY = Sampling(temperature=0.0)


def test_each_answer_remembers_what_made_it(workspace: Workspace):
    number = workspace.history.create("talk").value.id
    stamps = []
    for stack in ("plain", "pirates"):
        workspace.activate(stack)
        outcome = workspace.talk.say(number, "Name a fruit.", GREEDY, max_tokens=12)
        assert outcome.changes.conversations == {number}
        stamps.append(outcome.value.stamp)
    names = [s.composition_name for s in stamps]
    assert names == ["plain", "pirates"]
    kept = workspace.history.get(number).messages
    assert [m.role for m in kept] == ["user", "assistant", "user", "assistant"]
    assert [m.stamp for m in kept if m.stamp] == stamps
    assert stamps[0].composition_id != stamps[1].composition_id


def test_a_switch_ends_the_answer_in_flight_and_marks_it(workspace: Workspace):
    workspace.activate("pirates")
    workspace.activate("plain")
    number = workspace.history.create("talk").value.id
    started = threading.Event()
    said: list = []

    def talk() -> None:
        said.append(
            workspace.talk.say(
                number, "What is the capital of Italy?", GREEDY,
                max_tokens=3000, on_text=lambda text: started.set(),
            )
        )  # fmt: skip

    thread = threading.Thread(target=talk)
    thread.start()
    assert started.wait(30)
    workspace.activate("pirates")
    thread.join(30)
    message = said[0].value
    assert message.stamp.finish_reason == "composition_changed"
    assert message.stamp.composition_name == "plain"
    assert message.text
    assert workspace.history.get(number).messages[-1] == message


def test_conversations_are_kept_renamed_and_deleted(workspace: Workspace):
    first = workspace.history.create("one").value
    second = workspace.history.create("two").value
    assert [c.title for c in workspace.history.all()] == ["two", "one"]
    workspace.history.rename(first.id, "uno")
    assert workspace.history.get(first.id).title == "uno"
    workspace.history.delete(second.id)
    with pytest.raises(NotFound):
        workspace.history.get(second.id)


def test_a_title_is_one_short_line():
    assert title_from("Hello\n  there") == "Hello there"
    assert title_from("x" * 60) == "x" * 47 + "…"
