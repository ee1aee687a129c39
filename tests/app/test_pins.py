"""Stacks under keys: pinned in the menu, switched to from any place, a digit where one types."""

from pytestqt.qtbot import QtBot

from tests.app.support import settled, wait
from veneer_app.qt import Qt
from veneer_app.window import MainWindow


def _pin(window: MainWindow, stack: str, key: int) -> None:
    window.stacks.open_stack(stack)
    pins = window.stacks.parts.menu.pins
    next(action for action in pins.actions() if action.data() == key).trigger()


def test_a_key_switches_to_its_stack_from_any_place(window: MainWindow, qtbot: QtBot) -> None:
    _pin(window, "pirates", 1)
    settled(qtbot, window)
    _pin(window, "objects", 2)
    settled(qtbot, window)
    caps = {line.title: line.cap for line in window.stacks.parts.stack_model.lines}
    assert (caps["pirates"], caps["objects"], caps["both"]) == ("1", "2", "")

    window.go(1)
    window.library.view.setFocus()
    qtbot.keyClick(window.library.view, Qt.Key.Key_1)
    wait(qtbot, lambda: window.topbar.title.text() == "pirates")
    window.go(0)
    window.chat.composer.input.setFocus()
    qtbot.keyClick(window.chat.composer.input, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    wait(qtbot, lambda: window.topbar.title.text() == "objects")
    settled(qtbot, window)
    assert window.chat.composer.input.toPlainText() == ""


def test_a_digit_that_is_typed_is_text(window: MainWindow, qtbot: QtBot) -> None:
    _pin(window, "pirates", 1)
    settled(qtbot, window)
    window.go(0)
    qtbot.keyClicks(window.chat.composer.input, "1")
    window.go(1)
    qtbot.keyClicks(window.library.search, "1")
    settled(qtbot, window)
    assert window.chat.composer.input.toPlainText() == "1"
    assert window.library.search.text() == "1"
    assert window.topbar.title.text() == "Nothing is active"


def test_a_key_without_a_stack_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.go(3)
    qtbot.keyClick(window, Qt.Key.Key_7)
    wait(qtbot, window.notices.isVisible)
    assert "key 7" in window.notices.sentence.text()


def test_the_menu_shows_what_is_under_each_key(window: MainWindow, qtbot: QtBot) -> None:
    _pin(window, "pirates", 4)
    settled(qtbot, window)
    actions = {a.data(): a for a in window.stacks.parts.menu.pins.actions()}
    wait(qtbot, actions[4].isChecked)
    assert actions[4].text() == "Key 4: pirates"
    assert not actions[0].isChecked()
    actions[0].trigger()
    settled(qtbot, window)
    assert actions[0].isChecked()
    assert actions[4].text() == "Key 4"
