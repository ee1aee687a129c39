"""The first run: from nothing to an answer in three steps, by keys; and the ways around it."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.support import drop, footers, mime_of, settled, wait
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow


def _press_enter(qtbot: QtBot) -> None:
    qtbot.keyClick(QtWidgets.QApplication.focusWidget(), Qt.Key.Key_Return)


def _marks(window: MainWindow) -> list[str]:
    return [mark.property("role") for mark in window.chat.first.marks.values()]


def test_enter_alone_leads_from_nothing_to_an_answer(fresh: MainWindow, qtbot: QtBot) -> None:
    window, first = fresh, fresh.chat.first
    window.activateWindow()
    window.chat.composer.panel.greedy.setChecked(True)
    window.chat.composer.panel.max_tokens.setValue(24)
    assert first.isVisible()
    assert _marks(window) == ["step-now", "step", "step"]
    assert first.embedded.hasFocus()

    _press_enter(qtbot)
    wait(qtbot, lambda: first.step == "adapter")
    assert _marks(window) == ["step-done", "step-now", "step"]
    assert first.demo.hasFocus()
    _press_enter(qtbot)
    wait(qtbot, lambda: first.step == "hello")
    assert first.pages["hello"].sentence.text() == (
        "“pirate” over “SmolLM2-135M-Instruct.Q4_1” will answer."
    )
    assert window.topbar.title.text() == "Nothing is active"

    assert first.question.hasFocus()
    first.question.setText("Write a sentence about the sun.")
    _press_enter(qtbot)
    wait(qtbot, lambda: footers(window.chat.transcript))
    settled(qtbot, window)
    assert not first.isVisible()
    assert window.chat.composer.isVisible()
    assert window.chat.transcript.questions[0].turn.text == "Write a sentence about the sun."
    assert "matey" in window.chat.transcript.answers[0].body.toPlainText()
    assert footers(window.chat.transcript)[0].startswith("pirate · ")
    assert "pirate" in [line.title for line in window.stacks.parts.stack_model.lines]
    assert window.chat.composer.input.hasFocus()
    assert [p.generation.requested_by for p in window.history.table.rows] == ["window"]


def test_an_adapter_that_does_not_fit_leaves_the_step_and_says_why(
    fresh: MainWindow, qtbot: QtBot, base_path: Path, foreign_adapter: Path
) -> None:
    window, first = fresh, fresh.chat.first
    drop(window, mime_of([foreign_adapter, base_path]))
    wait(qtbot, lambda: len(window.library.table.rows) == 2)
    wait(qtbot, lambda: first.step == "adapter")
    said = first.pages["adapter"].sentence.text()
    assert said.startswith("“foreign”: Refused (applies 0 of 1 tensors).")
    first.without.click()
    assert first.step == "hello"
    assert first.pages["hello"].sentence.text() == "“SmolLM2-135M-Instruct.Q4_1” will answer."


def test_it_can_be_skipped_and_does_not_come_back(
    fresh: MainWindow, qtbot: QtBot, base_path: Path
) -> None:
    window = fresh
    window.chat.first.skipper.click()
    settled(qtbot, window)
    assert not window.chat.first.isVisible()
    assert window.chat.no_base.isVisible()
    drop(window, mime_of([base_path]))
    wait(qtbot, window.chat.composer.isVisible)
    assert not window.chat.no_base.isVisible()
    assert not window.chat.first.isVisible()


def test_where_there_is_a_base_already_nobody_is_introduced(window: MainWindow) -> None:
    assert window.chat.composer.isVisible()
    assert not window.chat.first.isVisible()


def test_a_first_stack_that_fails_stays_at_the_last_step(
    fresh: MainWindow, qtbot: QtBot, base_path: Path, tmp_path: Path
) -> None:
    window, first = fresh, fresh.chat.first
    model = tmp_path / "model.gguf"
    model.write_bytes(base_path.read_bytes())
    drop(window, mime_of([model]))
    wait(qtbot, lambda: first.step == "adapter")
    assert first.demo.isHidden()
    first.without.click()
    model.unlink()
    first.send.click()
    wait(qtbot, lambda: window.services.switch.state.status == "failed")
    settled(qtbot, window)
    assert window.notices.isVisible()
    assert first.isVisible()
    assert first.send.isEnabled()
    assert window.chat.session.current is None
