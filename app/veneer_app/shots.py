"""Pictures of every place and of the chat's states, light and dark, without a display.

For the README, and for looking at.
"""

import os
from pathlib import Path
from time import monotonic

from veneer.workspace import Workspace
from veneer_app.chat.states import leave, states
from veneer_app.main import ensure_application
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.theme.apply import Mode, Theme
from veneer_app.window import PLACES, MainWindow

_SIZE = (1200, 800)
_MODES: tuple[Mode, ...] = ("light", "dark")
_PATIENCE = 20.0
_SETTLE = 0.06


def render(root: Path, out: Path, size: tuple[int, int] = _SIZE) -> tuple[Path, ...]:
    """Render the workspace at `root` into `out`; gives the files."""
    if QtWidgets.QApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    theme = Theme(ensure_application())
    out.mkdir(parents=True, exist_ok=True)
    with Workspace.open(root, by="window") as workspace:
        window = MainWindow(workspace, theme)
        window.resize(*size)
        window.show()
        _settle(window)
        window.chat.list.open_newest()
        _settle(window)
        made: list[Path] = []
        for mode in _MODES:
            theme.use(mode)
            made += [_place(window, out, mode, number) for number in range(len(PLACES))]
            window.go(0)
            made += [_state(window, out, mode, name) for name in states()]
            leave(window.chat)
            window.chat.list.open_newest()
        window.close()
    return tuple(made)


def _place(window: MainWindow, out: Path, mode: Mode, number: int) -> Path:
    window.go(number)
    return _shoot(window, out / f"{PLACES[number]}-{mode}.png")


def _state(window: MainWindow, out: Path, mode: Mode, name: str) -> Path:
    """The chat in a state that is seldom met."""
    leave(window.chat)
    _settle(window)
    states()[name](window.chat)
    return _shoot(window, out / f"chat-{name}-{mode}.png")


def _shoot(window: MainWindow, path: Path) -> Path:
    _settle(window)
    window.grab().save(str(path))
    return path


def _settle(window: MainWindow) -> None:
    """Until nothing is under way and everything is laid out."""
    quiet, end = monotonic(), monotonic() + _PATIENCE
    while monotonic() < end and monotonic() - quiet < _SETTLE:
        QtWidgets.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 10)
        if not window.operations.idle:
            quiet = monotonic()
