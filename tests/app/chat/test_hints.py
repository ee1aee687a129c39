"""What is noted about the active adapters, where it is of use: beside the question."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import settled, wait
from veneer import Workspace
from veneer_app.chat.hints import Hints
from veneer_app.qt import Qt
from veneer_app.window import MainWindow


@pytest.fixture
def noted(root: Path, open_window: Open) -> MainWindow:
    """A stack is active of which one adapter has notes."""
    with Workspace.open(root) as workspace:
        pirate = workspace.library.find_adapter("pirate")
        told = {"trigger_text": "ahoy & avast", "system_prompt": "You are a pirate."}
        workspace.library.update_adapter(pirate.digest, **told)
        journal = workspace.journal
        journal.commit(journal.request(workspace.stacks.find("both").id, "cli"), {})
    return open_window(root)


def _said(hints: Hints) -> list[str]:
    return [made.text() for made in (*hints.triggers, *hints.prompts)]


def test_trigger_words_go_into_the_question_when_asked_for(noted: MainWindow, qtbot: QtBot) -> None:
    chat = noted.chat
    assert chat.hints.isVisible()
    assert _said(chat.hints) == ["ahoy && avast", "Use it"]
    chat.composer.input.setPlainText("Say hello,")
    cursor = chat.composer.input.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    chat.composer.input.setTextCursor(cursor)
    qtbot.keyClick(chat.hints.triggers[0], Qt.Key.Key_Space)
    assert chat.composer.input.toPlainText() == "Say hello, ahoy & avast "


def test_a_system_prompt_that_is_missing_is_said_and_can_be_used(
    noted: MainWindow, qtbot: QtBot
) -> None:
    hints, panel = noted.chat.hints, noted.chat.composer.panel
    assert panel.setup.system == ""
    hints.prompts[0].click()
    assert panel.setup.system == "You are a pirate."
    assert noted.chat.composer.held.text() == "System prompt"
    assert _said(hints) == ["ahoy && avast"]
    panel.use_system("You are terse.")
    assert _said(hints) == ["ahoy && avast", "Use it"]
    settled(qtbot, noted)


def test_without_notes_nothing_is_shown(noted: MainWindow, qtbot: QtBot) -> None:
    def forget(workspace: Workspace) -> object:
        pirate = workspace.library.find_adapter("pirate").digest
        return workspace.library.update_adapter(pirate, trigger_text="", system_prompt="")

    noted.operations.do(forget)
    wait(qtbot, noted.chat.hints.isHidden)
    settled(qtbot, noted)
