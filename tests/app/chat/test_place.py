"""The Chat without a model: streaming from a script, branches, scrolling, search, export."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.app.chat.support import Script
from tests.app.support import ask, drop, footers, mime_of, settled, wait
from veneer.chat.setup import Setup
from veneer.errors import RuntimeCrashed
from veneer_app.chat.maker import Maker
from veneer_app.chat.session import Ask
from veneer_app.chat.stream import Stream
from veneer_app.chat.turns import Made
from veneer_app.qt import Qt, QtCore, QtWidgets
from veneer_app.window import MainWindow


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
    assert footers(window.chat.transcript) == [
        "abc · 7 tokens · 41.2 tok/s · first after 1.0 ms · complete"
    ]
    assert window.topbar.speed.text() == "41.2 tok/s"
    assert script.asked[0].max_tokens == 99
    assert [line.title for line in window.chat.list.lines.lines] == ["Count."]
    settled(qtbot, window)


def test_only_one_question_at_a_time(window: MainWindow, qtbot: QtBot, script: Script) -> None:
    ask(qtbot, window, "First.")
    wait(qtbot, lambda: script.asked)
    assert not window.chat.session.ask(Ask("say", "Second."), Setup())
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
    lines = window.chat.list.lines
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


def _shown(window: MainWindow) -> list[str]:
    transcript = window.chat.transcript
    bubbles = [*transcript.questions, *transcript.answers]
    return [b.turn.text for b in sorted(bubbles, key=lambda b: b.turn.node)]


def _answered(qtbot: QtBot, window: MainWindow, script: Script, count: int) -> None:
    """Let the script end, and wait until so many answers are shown."""
    script.go.release(len(script.pieces))
    wait(qtbot, lambda: len(window.chat.transcript.answers) == count)
    wait(qtbot, lambda: not window.chat.session.busy)
    settled(qtbot, window)


def test_answers_and_questions_branch_and_arrows_go_between_them(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    chat = window.chat
    ask(qtbot, window, "Count.")
    _answered(qtbot, window, script, 1)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, lambda: chat.session.live)
    # What is being said anew is not shown meanwhile, and its question stays.
    assert [q.turn.text for q in chat.transcript.questions] == ["Count."]
    assert chat.transcript.answers == []
    _answered(qtbot, window, script, 1)
    assert chat.transcript.answers[0].turn.beside == (2, 3)
    assert chat.composer.meter.words.text() == "97 of 100 tokens"
    assert chat.composer.meter.words.property("role") == "bad"

    qtbot.keyClick(chat.composer.input, Qt.Key.Key_Up)
    assert chat.composer.input.toPlainText() == "Count."
    chat.composer.input.setPlainText("Count down.")
    qtbot.keyClick(chat.composer.input, Qt.Key.Key_Return)
    _answered(qtbot, window, script, 1)
    assert _shown(window) == ["Count down.", "**one** two"]
    assert script.deeds == [("say", "Count."), ("again", 2), ("resay", 1, "Count down.")]

    alt = Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(window, Qt.Key.Key_Left, alt)
    wait(qtbot, lambda: _shown(window)[0] == "Count.")
    settled(qtbot, window)
    assert chat.transcript.answers[0].turn.node == 3
    qtbot.keyClick(window, Qt.Key.Key_Left, alt)
    wait(qtbot, lambda: chat.transcript.answers[0].turn.node == 2)
    settled(qtbot, window)


def test_an_answer_that_was_cut_goes_on_where_it_ended(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    script.pieces, script.reason = ["one "], "length"
    ask(qtbot, window, "Count.")
    _answered(qtbot, window, script, 1)
    qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, lambda: window.chat.session.live)
    live = window.chat.transcript.live
    assert live is not None
    assert live.body.toPlainText() == "one"
    script.reason = "stop"
    _answered(qtbot, window, script, 1)
    assert _shown(window) == ["Count.", "one one "]
    assert window.chat.transcript.answers[0].turn.beside == (2, 3)


def test_a_message_is_deleted_with_what_follows_after_asking(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    for number, question in enumerate(("One?", "Two?"), 1):
        ask(qtbot, window, question)
        _answered(qtbot, window, script, number)
    window.chat.transcript.questions[1].delete.click()
    box = window.chat.findChild(QtWidgets.QMessageBox)
    assert isinstance(box, QtWidgets.QMessageBox)
    assert _shown(window) == ["One?", "**one** two", "Two?", "**one** two"]
    next(b for b in box.buttons() if b.text() == "Delete").click()
    wait(qtbot, lambda: _shown(window) == ["One?", "**one** two"])
    settled(qtbot, window)


def test_conversations_are_searched_pinned_and_exported(
    window: MainWindow, qtbot: QtBot, script: Script, tmp_path: Path
) -> None:
    chat, workspace = window.chat, window.operations._workspace
    for number, question in enumerate(("Apples are red.", "Plums are blue."), 1):
        ask(qtbot, window, question)
        _answered(qtbot, window, script, 1)
        qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        wait(qtbot, lambda number=number: len(chat.list.lines.lines) == number)
    settled(qtbot, window)
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert chat.list.search.hasFocus()
    qtbot.keyClicks(chat.list.search, "ARE RED")
    wait(qtbot, lambda: [x.title for x in chat.list.lines.lines] == ["Apples are red."])
    chat.list.open_newest()
    wait(qtbot, lambda: _shown(window)[:1] == ["Apples are red."])
    settled(qtbot, window)
    chat.list.deeds["pin"].click()
    chat.list.search.clear()
    wait(qtbot, lambda: len(chat.list.lines.lines) == 2)
    settled(qtbot, window)
    assert [x.title for x in chat.list.lines.lines] == ["Apples are red.", "Plums are blue."]
    assert chat.list.lines.lines[0].subtitle.startswith("Pinned · ")
    assert chat.list.deeds["pin"].accessibleName() == "Unpin"
    chat.list.export(tmp_path / "red.json")
    settled(qtbot, window)
    assert json.loads((tmp_path / "red.json").read_text("utf-8"))["title"] == "Apples are red."
    assert workspace.history.all()[0].pinned


def test_text_goes_along_with_the_question_and_the_rest_is_imported(
    window: MainWindow, qtbot: QtBot, script: Script, tmp_path: Path
) -> None:
    notes, picture = tmp_path / "notes.txt", tmp_path / "notes.md"
    notes.write_text("Milk, eggs.")
    picture.write_bytes(b"\xff\xd8\xff\xe0")
    drop(window, mime_of([notes]))
    wait(qtbot, lambda: window.chat.composer.files.files)
    drop(window, mime_of([picture]))
    wait(qtbot, window.notices.isVisible)
    assert window.notices.code.text() == "NOT_TEXT"
    assert window.services.imports.items() == ()
    ask(qtbot, window, "What is missing?")
    _answered(qtbot, window, script, 1)
    (question,) = window.chat.transcript.questions
    assert question.turn.files == ("notes.txt",)
    assert window.chat.composer.files.files == ()
    kept = window.operations._workspace.history.get(1).messages[0]
    assert kept.attachments[0].text == "Milk, eggs."


def test_a_conversation_keeps_how_it_is_held(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    chat = window.chat
    panel = chat.composer.panel
    qtbot.keyClick(window, Qt.Key.Key_Semicolon, Qt.KeyboardModifier.ControlModifier)
    assert panel.isVisible()
    panel.presets.setCurrentIndex(panel.presets.findText("Greedy"))
    panel.presets.activated.emit(panel.presets.currentIndex())
    panel.system.setPlainText("Be kind.")
    panel.name.setText("Kind")
    panel.save.click()
    wait(qtbot, lambda: panel.presets.findText("Kind") > 0)
    panel.hide()
    assert chat.composer.held.text() == "System prompt · Greedy"
    ask(qtbot, window, "Hello?")
    _answered(qtbot, window, script, 1)
    assert script.asked[0].system == "Be kind."
    assert script.asked[0].sampling.temperature == 0.0
    chat.new()
    settled(qtbot, window)
    assert (panel.setup, chat.composer.held.text()) == (Setup(), "")
    chat.list.open_newest()
    settled(qtbot, window)
    assert panel.setup == script.asked[0]
    assert window.operations._workspace.presets.all()[-1].setup == script.asked[0]


def test_what_made_an_answer_is_looked_at_and_made_active_again(
    window: MainWindow, qtbot: QtBot, script: Script
) -> None:
    ask(qtbot, window, "Hello?")
    _answered(qtbot, window, script, 1)
    answer = window.chat.transcript.answers[0]
    workspace = window.operations._workspace
    pirates = next(s for s in workspace.stacks.saved() if s.name == "pirates")
    made = Made(pirates.id, "pirates", 3)
    window.chat.transcript.inspected.emit(made, answer.makers[0])
    wait(qtbot, lambda: window.chat.findChild(Maker) and window.chat.findChild(Maker).isVisible())
    maker: Any = window.chat.findChild(Maker)
    said = [part.text() for part in maker.findChildren(QtWidgets.QLabel)]
    assert {"pirates", "Generation 3", "pirate  ×  1.0", "over smol", pirates.id} == set(said)
    maker.activate.click()
    wait(qtbot, lambda: window.topbar.title.text() == "pirates")
    settled(qtbot, window)
