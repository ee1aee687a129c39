"""Taking the pictures: a window on the workspace and one on an empty one, in each look.

What has other pixels to a point is taken in a process of its own, for Qt asks about that once.
"""

import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from veneer.workspace import Workspace
from veneer_app.main import ensure_application
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.shots import scenes
from veneer_app.shots.looks import LOOKS, Look
from veneer_app.shots.scenes import Scene
from veneer_app.theme import icons
from veneer_app.theme.apply import Theme
from veneer_app.window import PLACES, MainWindow

_PATIENCE = 20.0
_PASSES = 6
"""What is shown for the first time has its place after the second pass of the layouts."""


def render(root: Path, out: Path, looks: Sequence[Look] = LOOKS) -> tuple[Path, ...]:
    """Render the workspace at `root` into `out`; gives the files."""
    out.mkdir(parents=True, exist_ok=True)
    _render(root, out, [look for look in looks if look.scale == 1])
    for look in looks:
        if look.scale > 1:
            _render_scaled(root, out, look)
    wanted = (*scenes.of_workspace(), *scenes.of_nothing())
    return tuple(_file(out, scene, look) for look in looks for scene in wanted)


def _render_scaled(root: Path, out: Path, look: Look) -> None:
    before = os.environ.get("QT_SCALE_FACTOR")
    os.environ["QT_SCALE_FACTOR"] = str(look.scale)
    try:
        process = multiprocessing.get_context("spawn").Process(
            target=_render, args=(root, out, [look])
        )
        process.start()
    finally:
        del os.environ["QT_SCALE_FACTOR"]
        if before is not None:
            os.environ["QT_SCALE_FACTOR"] = before
    process.join()


def _render(root: Path, out: Path, looks: Sequence[Look]) -> None:
    if QtWidgets.QApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application = ensure_application()
    theme, direction = Theme(application), application.layoutDirection()
    with TemporaryDirectory() as empty:
        for place, wanted in ((root, scenes.of_workspace()), (Path(empty), scenes.of_nothing())):
            with Workspace.open(place, by="window") as workspace:
                window = MainWindow(workspace, theme)
                # What the scenes show is not there, so what is asked about it is refused.
                window.operations.refused.disconnect(window.notices.show_error)
                window.show()
                _settle(window)
                for look in looks:
                    _wear(window, theme, look)
                    for scene in wanted:
                        _shoot(window, scene, _file(out, scene, look))
                window.close()
                # Or each look would be put on it, too.
                window.deleteLater()
                QtCore.QCoreApplication.sendPostedEvents(
                    window, QtCore.QEvent.Type.DeferredDelete.value
                )
    application.setLayoutDirection(direction)


def _wear(window: MainWindow, theme: Theme, look: Look) -> None:
    QtWidgets.QApplication.setLayoutDirection(look.direction)
    theme.use(look.mode)
    icons.refresh()
    window.resize(*look.size)
    _settle(window)


def _shoot(window: MainWindow, scene: Scene, file: Path) -> None:
    window.go(PLACES.index(scene.place))
    if scene.place == "chat" and not scene.state:
        window.chat.list.open_newest()
    _settle(window)
    over = scene.arrange(window)
    _settle(window)
    (over or window).grab().save(str(file))
    if over is not None:
        over.close()
    scene.leave(window)


def _file(out: Path, scene: Scene, look: Look) -> Path:
    return out / f"{scene.name}-{look.name}.png"


def _settle(window: MainWindow) -> None:
    """Until nothing is under way and everything is laid out."""
    end, left = monotonic() + _PATIENCE, _PASSES
    while left and monotonic() < end:
        QtWidgets.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 10)
        left = left - 1 if window.operations.idle else _PASSES
