"""Pictures of every place, light and dark, without a display: for the README and for looking at."""

import os
from pathlib import Path
from time import monotonic

from veneer.workspace import Workspace
from veneer_app.main import ensure_application
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.theme.apply import Mode, Theme
from veneer_app.window import PLACES, MainWindow

_SIZE = (1200, 800)
_MODES: tuple[Mode, ...] = ("light", "dark")
_PATIENCE = 20.0
_SETTLE = 0.15


def render(root: Path, out: Path, size: tuple[int, int] = _SIZE) -> tuple[Path, ...]:
    """Render the five places of the workspace at `root` into `out`; gives the files."""
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
        made = tuple(
            _shoot(window, theme, out, mode, n) for mode in _MODES for n in range(len(PLACES))
        )
        window.close()
    return made


def _shoot(window: MainWindow, theme: Theme, out: Path, mode: Mode, number: int) -> Path:
    theme.use(mode)
    window.go(number)
    _settle(window)
    path = out / f"{PLACES[number]}-{mode}.png"
    window.grab().save(str(path))
    return path


def _settle(window: MainWindow) -> None:
    """Until nothing is under way and everything is laid out."""
    quiet, end = monotonic(), monotonic() + _PATIENCE
    while monotonic() < end and monotonic() - quiet < _SETTLE:
        QtWidgets.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 10)
        if not window.operations.idle:
            quiet = monotonic()
