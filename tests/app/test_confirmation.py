"""The question before an adapter of which only the shapes fit, on the real worker."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import drop, mime_of, settled, wait
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow


@pytest.fixture
def asked(window: MainWindow, qtbot: QtBot, stranger: Path) -> QtWidgets.QMessageBox:
    """The question, after pressing Activate on a stack with “stranger” alone."""
    drop(window, mime_of([stranger]))
    wait(qtbot, lambda: any(r.name == "stranger" for r in window.library.table.rows))
    settled(qtbot, window)
    adapter = next(r for r in window.library.table.rows if r.name == "stranger").digest
    window.go(2)
    window.stacks.new_stack()
    window.stacks.editor.add(adapter, 1.0)
    window.stacks.activate()
    wait(qtbot, lambda: window.findChild(QtWidgets.QMessageBox))
    settled(qtbot, window)
    box = window.findChild(QtWidgets.QMessageBox)
    assert isinstance(box, QtWidgets.QMessageBox)
    return box


def test_the_question_names_both_and_begins_nothing(
    asked: QtWidgets.QMessageBox, window: MainWindow
) -> None:
    assert asked.accessibleName() == asked.text() == "Does it belong on this base?"
    said = asked.informativeText()
    assert said.startswith("Only the shapes of “stranger” fit “smol”: It was made for ")
    assert "“somebody/another-model”" in said
    assert {b.accessibleName() for b in asked.buttons()} == {"Activate", "Cancel"}
    assert asked.defaultButton().accessibleName() == "Cancel"
    assert window.services.switch.state.status == "idle"
    assert window.history.table.rows == ()


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_enter_and_escape_mean_no(
    asked: QtWidgets.QMessageBox, window: MainWindow, qtbot: QtBot, key: Qt.Key
) -> None:
    pressed = asked if key == Qt.Key.Key_Escape else asked.defaultButton()
    qtbot.keyClick(pressed, key)
    wait(qtbot, lambda: not asked.isVisible())
    settled(qtbot, window)
    assert window.history.table.rows == ()
    assert window.services.switch.state.status == "idle"


def test_what_a_file_says_is_never_markup(asked: QtWidgets.QMessageBox) -> None:
    shown = {label.text(): label.textFormat() for label in asked.findChildren(QtWidgets.QLabel)}
    assert shown[asked.text()] == Qt.TextFormat.PlainText
    assert shown[asked.informativeText()] == Qt.TextFormat.PlainText


def test_yes_activates_and_is_kept_in_the_history(
    asked: QtWidgets.QMessageBox, window: MainWindow, qtbot: QtBot
) -> None:
    yes = next(b for b in asked.buttons() if b.accessibleName() == "Activate")
    assert yes.focusPolicy() & Qt.FocusPolicy.TabFocus
    yes.setFocus()
    qtbot.keyClick(yes, Qt.Key.Key_Space)
    wait(qtbot, lambda: window.services.switch.state.status == "done")
    settled(qtbot, window)
    (past,) = window.history.table.rows
    assert (past.active, past.confirmed) == (True, (("stranger", "smol"),))
    window.go(3)
    assert "Confirmed: “stranger” belongs on “smol”" in window.history.events.about.text()

    # Said once, it holds for the pair at any strength.
    window.stacks.editor.set_scale(next(iter(window.stacks.parts.pile.cards)), 0.5)
    window.stacks.activate()
    wait(qtbot, lambda: window.history.table.rows[0].generation.number == 2)
    settled(qtbot, window)
    assert [p.generation.state for p in window.history.table.rows] == ["COMMITTED"] * 2


def test_the_library_and_the_card_say_that_only_shapes_fit(
    asked: QtWidgets.QMessageBox, window: MainWindow
) -> None:
    asked.reject()
    row = next(r for r in window.library.table.rows if r.name == "stranger")
    found = window.library.found
    index = found.index_of(lambda r: r.name == "stranger")
    assert found.index(index.row(), 6).data() == "Unsure"
    window.library.view.setCurrentIndex(index)
    assert window.library.details.verdict.text().startswith(
        "Applies 60 of 60 tensors. It was made for “somebody/another-model”;"
    )
    assert window.stacks.parts.pile.cards[row.digest].badge.property("role") == "badge"
