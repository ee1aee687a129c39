"""A person who has no mouse: import, stack, activate, chat, compare and roll back, by keys alone.

Nothing of the window is called: keys go to whatever has the focus, and what is looked for is
found with the Tab key by the name that a screen reader says.
"""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.support import footers, settled, wait
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow

_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_ALT = Qt.KeyboardModifier.AltModifier
_FAR = 80


class Keyboard:
    """Presses keys where the focus is."""

    def __init__(self, qtbot: QtBot, window: MainWindow) -> None:
        self._qtbot = qtbot
        self._window = window
        window.activateWindow()

    @property
    def focused(self) -> QtWidgets.QWidget:
        return QtWidgets.QApplication.focusWidget() or self._window

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier | None = None) -> None:
        self._qtbot.keyClick(self.focused, key, held or Qt.KeyboardModifier.NoModifier)

    def write(self, words: str) -> None:
        self._qtbot.keyClicks(self.focused, words)

    def tab_to(self, name: str) -> None:
        passed: list[str] = []
        while self.focused.accessibleName() != name:
            passed.append(self.focused.accessibleName())
            assert len(passed) < _FAR, " | ".join(passed)
            self.press(Qt.Key.Key_Tab)

    def go(self, number: int) -> None:
        self.press(Qt.Key(Qt.Key.Key_1 + number), _CONTROL)
        wait(self._qtbot, lambda: self._window.places.currentIndex() == number)

    def leave(self, key: Qt.Key) -> None:
        """End what lies over the window, which the window manager then puts in front again."""
        self.press(key)
        self._window.activateWindow()

    def choose_file(self, path: Path) -> None:
        self.press(Qt.Key.Key_O, _CONTROL)
        wait(self._qtbot, lambda: isinstance(self.focused, QtWidgets.QLineEdit))
        self.write(str(path))
        self.leave(Qt.Key.Key_Return)


def test_everything_is_done_with_keys_alone(
    fresh: MainWindow, qtbot: QtBot, base_path: Path, adapter_paths: dict[str, Path]
) -> None:
    window, keys = fresh, Keyboard(qtbot, fresh)
    switch = window.services.switch

    keys.choose_file(base_path)
    wait(qtbot, lambda: len(window.library.table.rows) == 1)
    settled(qtbot, window)
    keys.choose_file(adapter_paths["pirate"] / "adapter_config.json")
    wait(qtbot, lambda: len(window.library.table.rows) == 2)
    settled(qtbot, window)

    keys.go(2)
    keys.tab_to("Adapters; Enter adds one")
    keys.press(Qt.Key.Key_Down)
    keys.press(Qt.Key.Key_Return)
    wait(qtbot, lambda: any(c.isVisible() for c in window.stacks.parts.pile.cards.values()))
    keys.tab_to("Exact strength of pirate")
    keys.write("1.25\t")
    keys.tab_to("Name of the stack")
    keys.write("matey")
    keys.press(Qt.Key.Key_S, _CONTROL)
    wait(qtbot, lambda: not window.stacks.editor.dirty)
    keys.press(Qt.Key.Key_Return, _CONTROL)
    wait(qtbot, lambda: switch.state.status == "done")
    settled(qtbot, window)
    assert window.topbar.title.text() == "matey"
    (layer,) = window.topbar._active.composition.manifest.composition.adapters
    assert layer.scale == 1.25

    keys.go(0)
    keys.tab_to("Message")
    keys.press(Qt.Key.Key_Semicolon, _CONTROL)
    keys.tab_to("Most tokens")
    keys.write("16\t")
    keys.leave(Qt.Key.Key_Escape)
    keys.tab_to("Message")
    keys.write("Write a sentence about the sun.")
    keys.press(Qt.Key.Key_Return)
    wait(qtbot, lambda: footers(window.chat.transcript))
    settled(qtbot, window)
    assert footers(window.chat.transcript)[0].startswith("matey · ")

    keys.press(Qt.Key.Key_K, _CONTROL)
    keys.press(Qt.Key.Key_A, _CONTROL)
    keys.write("Say hello.")
    keys.press(Qt.Key.Key_Return, _CONTROL)
    wait(qtbot, lambda: window.chat.compare._kept is not None)
    settled(qtbot, window)
    keys.press(Qt.Key.Key_1, _CONTROL | _ALT)
    settled(qtbot, window)
    compared = window.chat.compare._kept.comparison
    assert compared.vote == 0
    assert len({side.composition_id for side in compared.sides}) == 2
    keys.press(Qt.Key.Key_Escape)

    keys.tab_to("Base only")
    keys.press(Qt.Key.Key_Space)
    assert keys.focused.accessibleName() == "Message"
    wait(qtbot, lambda: window.topbar.title.text() != "matey")
    settled(qtbot, window)
    keys.press(Qt.Key.Key_R, _CONTROL | _SHIFT)
    wait(qtbot, lambda: window.topbar.title.text() == "matey")
    settled(qtbot, window)
