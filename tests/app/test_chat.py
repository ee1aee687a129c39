"""The Chat without a model: streaming from a script, turns, scrolling, hostile answers."""

import threading
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import ask, footers, settled, wait
from veneer.chat.conversation import Conversation, Message, Node, Stamp
from veneer.errors import Cancelled, RuntimeCrashed
from veneer.identity import Digest
from veneer.store.changes import Changes, Outcome
from veneer.tasks import CancelToken
from veneer.workspace import Workspace
from veneer_app.chat.bubbles import AnswerText
from veneer_app.chat.sampling import Chosen
from veneer_app.chat.stream import Stream
from veneer_app.chat.turns import Divider, Turn, entries
from veneer_app.qt import Qt, QtCore
from veneer_app.reads import Talked
from veneer_app.window import MainWindow

NOW = "2026-01-02T03:04:05.000+00:00"


def stamp(composition: str, reason: Any = "stop") -> Stamp:
    return Stamp(
        composition_id=Digest(f"sha256:{composition}"),
        composition_name=composition,
        generation=1,
        finish_reason=reason,
        tokens=7,
        tokens_per_second=41.25,
        first_token_ms=1.0,
    )


def line(*messages: Message) -> tuple[Node, ...]:
    """A tree with one way."""
    return tuple(Node(n, n - 1 or None, m) for n, m in enumerate(messages, 1))


class Script:
    """In place of the engine's talk: says its pieces, one each time it is told to go on."""

    def __init__(self, workspace: Workspace, pieces: list[str]) -> None:
        self.pieces, self.error = pieces, None
        self.go = threading.Semaphore(0)
        self.asked: list[Any] = []
        self._history = workspace.history

    def say(
        self,
        number: int,
        text: str,
        *,
        on_text: Any,
        cancel: CancelToken,
    ) -> Outcome[Message]:
        kept = self._history.get(number)
        self.asked.append(kept.setup)
        question = Message(role="user", text=text, created_at=NOW)
        asked = self._history.append(number, question, kept.leaf).value
        said = ""
        for piece in self.pieces:
            while not self.go.acquire(timeout=0.02):
                if cancel.cancelled:
                    raise Cancelled("Stopped.")
            said += piece
            on_text(piece)
        if self.error is not None:
            raise self.error
        answer = Message(role="assistant", text=said, created_at=NOW, stamp=stamp("abc"))
        self._history.append(number, answer, asked.id)
        return Outcome(answer, Changes(conversations=frozenset({number})))


@pytest.fixture
def script(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Script:
    workspace = window.operations._workspace
    made = Script(workspace, ["**one**", " two"])
    monkeypatch.setattr(workspace, "talk", made)
    return made


def test_an_answer_grows_and_then_stays(window: MainWindow, qtbot: QtBot, script: Script) -> None:
    window.chat.composer.panel.max_tokens.setValue(99)
    ask(qtbot, window, "Count.")
    assert window.chat.composer.input.toPlainText() == ""
    script.go.release()
    wait(qtbot, lambda: window.chat.session.stream.text == "**one**")
    live = window.chat.transcript.live
    assert live is not None
    assert live.body.toPlainText() == "one"
    script.go.release()
    wait(qtbot, lambda: len(window.chat.transcript.answers) == 1)
    assert window.chat.transcript.live is None
    assert window.chat.transcript.answers[0].body.toPlainText() == "one two"
    assert footers(window.chat.transcript) == ["abc · 7 tokens · 41.2 tok/s · complete"]
    assert window.topbar.speed.text() == "41.2 tok/s"
    assert script.asked[0].max_tokens == 99
    assert [line.title for line in window.chat.lines.lines] == ["Count."]
    settled(qtbot, window)


def test_only_one_question_at_a_time(window: MainWindow, qtbot: QtBot, script: Script) -> None:
    ask(qtbot, window, "First.")
    wait(qtbot, lambda: script.asked)
    assert not window.chat.session.send("Second.", Chosen())
    window.chat.session.stop()
    settled(qtbot, window)
    assert len(script.asked) == 1


def test_a_failed_answer_leaves_the_question_and_its_reason(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    script.pieces, script.error = [], RuntimeCrashed("The runtime stopped.")
    ask(qtbot, window, "Hello?")
    wait(qtbot, lambda: window.chat.session.asking is None and script.asked)
    settled(qtbot, window)
    shown = [w.text() for w in window.chat.transcript.findChildren(type(window.topbar.badge))]
    assert "Hello?" in shown
    assert "The runtime stopped. [RUNTIME_CRASHED]" in shown


def test_the_reader_stays_where_they_are(window: MainWindow, qtbot: QtBot, script: Script) -> None:
    script.pieces = ["line\n\n" * 200, "line\n\n" * 200]
    ask(qtbot, window, "Write a lot.")
    script.go.release()
    bar = window.chat.transcript.area.verticalScrollBar()
    wait(qtbot, lambda: bar.maximum() > 500 and bar.value() == bar.maximum())
    bar.setValue(100)
    before = bar.maximum()
    script.go.release()
    wait(qtbot, lambda: bar.maximum() > before + 500)
    settled(qtbot, window)
    assert bar.value() == 100


def test_shift_enter_begins_a_line(window: MainWindow, qtbot: QtBot) -> None:
    written = window.chat.composer.input
    qtbot.keyClicks(written, "a")
    qtbot.keyClick(written, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(written, "b")
    assert written.toPlainText() == "a\nb"


def test_a_conversation_is_renamed_and_deleted(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    script.go.release(2)
    ask(qtbot, window, "Count.")
    wait(qtbot, lambda: len(window.chat.transcript.answers) == 1)
    settled(qtbot, window)
    lines = window.chat.lines
    assert lines.setData(lines.index(0), "Numbers")
    wait(qtbot, lambda: lines.lines[0].title == "Numbers")
    window.chat.session.delete(window.chat.session.current)
    wait(qtbot, lambda: not lines.lines)
    settled(qtbot, window)
    assert window.chat.transcript.answers == []


def test_pieces_are_shown_together(qtbot: QtBot) -> None:
    parent = QtCore.QObject()
    stream, seen = Stream(parent), []
    stream.grew.connect(seen.append)
    stream.begin()
    for piece in "abcdef":
        stream.feed(piece)
    wait(qtbot, lambda: stream.text == "abcdef")
    assert seen == ["abcdef"]
    stream.feed("!")
    stream.end()
    assert seen == ["abcdef", "abcdef!"]


def test_another_composition_is_divided_off_before_its_question() -> None:
    first = (
        Message(role="user", text="a", created_at=NOW),
        Message(role="assistant", text="b", created_at=NOW, stamp=stamp("one")),
    )
    second = (
        Message(role="user", text="c", created_at=NOW),
        Message(
            role="assistant", text="d", created_at=NOW, stamp=stamp("two", "composition_changed")
        ),
    )
    talked = Talked(
        Conversation(id=1, title="t", created_at=NOW, nodes=line(*first, *second), leaf=4),
        {Digest("sha256:two"): "renamed"},
    )
    assert entries(talked) == (
        Turn("user", "a"),
        Turn("assistant", "b", "one · 7 tokens · 41.2 tok/s · complete"),
        Divider("renamed"),
        Turn("user", "c"),
        Turn(
            "assistant",
            "d",
            "renamed · 7 tokens · 41.2 tok/s · the composition was changed",
            cut=True,
        ),
    )


def test_greedy_is_a_temperature_of_nothing() -> None:
    assert Chosen(temperature=1.2, greedy=True, seed=4).sampling.temperature == 0.0
    assert Chosen(temperature=1.2, seed=4).sampling.seed == 4


def test_an_answer_loads_nothing_and_shows_html_as_text(qtbot: QtBot) -> None:
    shown = AnswerText("Answer")
    qtbot.addWidget(shown)
    loaded = []
    load = shown.loadResource
    shown.loadResource = lambda kind, name: loaded.append(load(kind, name))
    shown.say("<b>bold</b> ![x](file:///etc/hostname) ![y](https://example.org/y.png)")
    assert "<b>bold</b>" in shown.toPlainText()
    assert all(value is None for value in loaded)
