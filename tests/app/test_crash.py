"""A worker that is lost is a bar with a way on, never a dead window."""

import os
import signal

from pytestqt.qtbot import QtBot

from tests.app.support import ask, chip, settled, wait
from veneer.errors import RuntimeCrashed
from veneer_app.qt import Qt, QtWidgets
from veneer_app.settings.about import AboutDialog
from veneer_app.settings.log import LogDialog
from veneer_app.window import MainWindow


def test_a_lost_worker_is_told_looked_into_and_started_again(
    window: MainWindow, qtbot: QtBot
) -> None:
    chip(window, "pirates").click()
    wait(qtbot, lambda: window.services.switch.state.status == "done")
    settled(qtbot, window)
    ask(qtbot, window, "Write a very long story about a house.")
    wait(qtbot, lambda: window.chat.session.stream.text)
    os.kill(window.operations._workspace._runtime.pid, signal.SIGKILL)
    wait(qtbot, window.notices.retry.isVisible)
    settled(qtbot, window)
    assert window.notices.code.text() == "RUNTIME_CRASHED"

    window.notices.details.click()
    log = window.findChild(LogDialog)
    wait(qtbot, lambda: "llama" in log.text.toPlainText())
    log.accept()
    window.notices.retry.click()
    settled(qtbot, window)
    assert window.operations._workspace._runtime.alive
    assert not window.notices.isVisible()
    assert window.topbar.title.text() == "pirates"


def test_a_switch_that_lost_the_worker_is_asked_for_again(window: MainWindow, qtbot: QtBot) -> None:
    switch, asked = window.services.switch, []

    def lose_once() -> object:
        asked.append(len(asked))
        if len(asked) == 1:
            raise RuntimeCrashed("It is gone.")
        return window.operations._workspace.activate("plain")

    switch._begin("x", lambda ws, progress, cancel: lose_once(), again=lambda: None)
    wait(qtbot, window.notices.retry.isVisible)
    window.notices.retry.click()
    wait(qtbot, lambda: len(asked) == 2)
    settled(qtbot, window)


def test_other_messages_offer_no_retry(window: MainWindow) -> None:
    window.notices.show_info("Something is well.")
    assert window.notices.retry.isHidden()
    assert window.notices.details.isHidden()


def test_what_this_is_is_a_key_away(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    wait(qtbot, lambda: window.findChild(AboutDialog))
    dialog = window.findChild(AboutDialog)
    dialog.about.copy.click()
    assert QtWidgets.QApplication.clipboard().text().startswith("Veneer ")
    dialog.accept()
