"""Opening, settings, pictures, and the report of a bug."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import settled, wait
from veneer import Workspace
from veneer.errors import WorkspaceBusy
from veneer.store.settings import Settings
from veneer_app import bugs, main
from veneer_app.qt import Qt, QtWidgets
from veneer_app.theme import tokens
from veneer_app.window import MainWindow


def test_a_busy_workspace_is_said_and_not_opened(
    tmp_path: Path, qapp: QtWidgets.QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def busy(*args: object, **kwargs: object) -> None:
        raise WorkspaceBusy("Another program has it.")

    monkeypatch.setattr(Workspace, "open", busy)
    monkeypatch.setattr(bugs, "install", lambda: None)
    monkeypatch.setattr(
        QtWidgets.QMessageBox, "exec", lambda box: said.append(box.informativeText())
    )
    assert main.open_window(tmp_path) == 1
    assert said == ["Another program has it. [WORKSPACE_BUSY]"]


def test_settings_are_kept_and_the_theme_follows(window: MainWindow, qtbot: QtBot) -> None:
    window.settings.bound["n_ctx"].field.setValue(2048)
    theme = window.settings.bound["theme"].field
    theme.setCurrentIndex(theme.findData("dark"))
    wait(qtbot, lambda: tokens.current().dark)
    settled(qtbot, window)
    kept = window.operations._workspace.settings
    assert (kept.n_ctx, kept.theme) == (2048, "dark")
    theme.setCurrentIndex(theme.findData("light"))
    wait(qtbot, lambda: not tokens.current().dark)
    settled(qtbot, window)


def test_a_context_that_cannot_fit_is_refused_and_the_field_shows_what_is_kept(
    window: MainWindow, qtbot: QtBot
) -> None:
    workspace = window.operations._workspace
    number = workspace.journal.request(workspace.stacks.find("plain").id, "window")
    workspace.journal.commit(number, {})
    window.settings.bound["memory_budget"].field.setValue(256)
    window.settings.bound["n_ctx"].field.setValue(8192)
    wait(qtbot, lambda: window.notices.code.text() == "OVER_BUDGET")
    wait(qtbot, lambda: window.settings.bound["n_ctx"].field.value() == 4096)
    window.settings.bound["n_threads"].field.setValue(1)
    settled(qtbot, window)
    kept = workspace.settings
    assert (kept.n_ctx, kept.n_threads, kept.memory_budget) == (4096, 1, 256_000_000)


def test_a_bug_gives_a_report(qtbot: QtBot) -> None:
    try:
        raise ValueError("wrong")
    except ValueError as error:
        dialog = bugs.BugDialog(bugs.report_of(error))
    qtbot.addWidget(dialog)
    assert dialog.report.toPlainText().startswith("Veneer ")
    assert "ValueError: wrong" in dialog.report.toPlainText()


def test_an_error_of_the_programs_own_is_no_message(window: MainWindow, qtbot: QtBot) -> None:
    seen: list[BaseException] = []
    window.operations.went_wrong.disconnect()
    window.operations.went_wrong.connect(seen.append)
    window.operations.do(lambda ws: 1 // 0)
    wait(qtbot, lambda: seen)
    assert isinstance(seen[0], ZeroDivisionError)
    assert not window.notices.isVisible()


def test_a_gpu_is_named_once_it_was_typed(window: MainWindow, qtbot: QtBot):
    window.go(4)
    field = window.settings.bound["device"].field
    kept: list[Settings] = []
    window.operations.settings_changed.connect(kept.append)
    field.setFocus()
    window.settings.bound["n_ctx"].field.setFocus()
    assert kept == []
    qtbot.keyClicks(field, "CUDA1")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    wait(qtbot, lambda: [settings.device for settings in kept] == ["CUDA1"])


def test_the_price_of_the_overlay_on_a_gpu_is_told(window: MainWindow, qtbot: QtBot):
    window.go(4)
    settings = window.settings
    assert not settings.gpu_cost.isVisible()
    settings.bound["n_gpu_layers"].field.setValue(8)
    wait(qtbot, settings.gpu_cost.isVisible)
    assert "copies each result" in settings.gpu_cost.text()
    settings.bound["lane"].field.setCurrentIndex(1)
    wait(qtbot, lambda: not settings.gpu_cost.isVisible())
