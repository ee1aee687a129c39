import threading
from pathlib import Path

import msgspec
import pytest

from veneer import Workspace
from veneer.chat.conversation import Attachment, Message, title_from
from veneer.chat.setup import Setup
from veneer.errors import NotFound, NotText
from veneer.runtime.protocol import Sampling

GREEDY = Sampling(temperature=0.0)
SHORT = Setup(sampling=GREEDY, max_tokens=6)


def test_each_answer_remembers_what_made_it(talking: Workspace):
    number = talking.history.create("talk", SHORT).value.id
    stamps = []
    for stack in ("plain", "pirates"):
        talking.activate(stack)
        outcome = talking.talk.say(number, "Name a fruit.")
        assert outcome.changes.conversations == {number}
        stamps.append(outcome.value.stamp)
    names = [s.composition_name for s in stamps]
    assert names == ["plain", "pirates"]
    kept = talking.history.get(number).messages
    assert [m.role for m in kept] == ["user", "assistant", "user", "assistant"]
    assert [m.stamp for m in kept if m.stamp] == stamps
    assert stamps[0].composition_id != stamps[1].composition_id


def test_a_switch_ends_the_answer_in_flight_and_marks_it(workspace: Workspace):
    workspace.activate("pirates")
    workspace.activate("plain")
    number = workspace.history.create("talk", Setup(sampling=GREEDY, max_tokens=3000)).value.id
    started = threading.Event()
    said: list = []

    def talk() -> None:
        said.append(
            workspace.talk.say(
                number, "What is the capital of Italy?", on_text=lambda text: started.set()
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


def test_another_answer_and_another_question_lie_beside_and_none_is_lost(talking: Workspace):
    talking.activate("plain")
    number = talking.history.create("again", SHORT).value.id
    first = talking.talk.say(number, "Name a fruit.").value
    question, answer = talking.history.get(number).path
    again = talking.talk.again(number, answer.id).value
    assert again.text == first.text
    talking.talk.resay(number, question.id, "Name a colour.")
    kept = talking.history.get(number)
    assert [m.text for m in kept.messages][:1] == ["Name a colour."]
    assert len(kept.children()[None]) == 2
    assert len(kept.children()[question.id]) == 2
    talking.history.show(number, question.id)
    assert talking.history.get(number).messages[-1] == again
    with pytest.raises(NotFound):
        talking.talk.again(number, 999)


def test_what_was_cut_off_goes_on_and_says_all_that_made_it(talking: Workspace):
    talking.activate("plain")
    longer = msgspec.structs.replace(SHORT, max_tokens=12)
    number = talking.history.create("talk", longer).value.id
    whole = talking.talk.say(number, "Tell a story about a dog.").value.text
    talking.history.set_up(number, SHORT)
    question, answer = talking.history.get(number).path
    begun = talking.talk.again(number, answer.id).value
    assert begun.stamp is not None
    assert begun.stamp.finish_reason == "length"
    cut = talking.history.get(number).path[-1]
    joined = talking.talk.go_on(number, cut.id).value
    assert joined.text == whole
    assert joined.earlier == (begun.stamp,)
    assert len(talking.history.get(number).children()[question.id]) == 3


def test_a_conversation_outgrows_the_context_by_its_oldest_turns(talking: Workspace):
    talking.change_settings(msgspec.structs.replace(talking.settings, n_ctx=256))
    talking.activate("plain")
    number = talking.history.create(
        "long", msgspec.structs.replace(SHORT, system="Be brief.")
    ).value.id
    after = None
    for word in ("alpha", "beta"):
        question = Message(role="user", text=" ".join([word] * 70), created_at="")
        after = talking.history.append(number, question, after).value.id
        answer = Message(role="assistant", text="Yes.", created_at="")
        after = talking.history.append(number, answer, after).value.id
    stamp = talking.talk.say(number, " ".join(["gamma"] * 70)).value.stamp
    talking.change_settings(msgspec.structs.replace(talking.settings, n_ctx=4096))
    assert stamp is not None
    assert (stamp.n_ctx, stamp.left_out) == (256, 2)
    assert 140 < stamp.prompt_tokens < 192
    assert len(talking.history.get(number).messages) == 6


def test_a_file_that_comes_along_is_told_to_the_model(talking: Workspace, tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_bytes("grüße\r\n".encode("utf-16"))
    attached = talking.attach(file)
    assert attached == Attachment(name="notes.txt", text="grüße\n")
    message = Message(role="user", text="Read.", created_at="", attachments=(attached,))
    assert message.told == "Read.\n\nnotes.txt:\n```\ngrüße\n```"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xd8\xff\xe0 picture", "not a text file"),
        (b"a\0b", "bytes of zero"),
        (b"x" * (256 * 1024 + 1), "larger than 256 KiB"),
        (None, "not a file"),
    ],
)
def test_what_is_no_text_is_refused_in_words(
    talking: Workspace, tmp_path: Path, data: bytes | None, why: str
):
    path = tmp_path / "thing"
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    with pytest.raises(NotText, match=why):
        talking.attach(path)


def test_conversations_are_kept_renamed_and_deleted(talking: Workspace):
    first = talking.history.create("one").value
    second = talking.history.create("two").value
    assert [c.title for c in talking.history.all()][:2] == ["two", "one"]
    talking.history.rename(first.id, "uno")
    assert talking.history.get(first.id).title == "uno"
    talking.history.delete(second.id)
    with pytest.raises(NotFound):
        talking.history.get(second.id)


def test_a_title_is_one_short_line():
    assert title_from("Hello\n  there") == "Hello there"
    assert title_from("x" * 60) == "x" * 47 + "…"
