"""What the window's tests do again and again."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pytestqt.qtbot import QtBot

from veneer_app.chat.transcript import Transcript
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.window import MainWindow

PATIENCE = 30_000


def mime_of(paths: Sequence[Path]) -> QtCore.QMimeData:
    """What a file manager hands over."""
    data = QtCore.QMimeData()
    data.setUrls([QtCore.QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def enter(window: MainWindow, data: QtCore.QMimeData) -> QtGui.QDragEnterEvent:
    """Hold something over the window."""
    event = QtGui.QDragEnterEvent(
        QtCore.QPoint(300, 300),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QtWidgets.QApplication.sendEvent(window, event)
    return event


def drop(window: MainWindow, data: QtCore.QMimeData) -> None:
    """Hold it over the window and let it go."""
    enter(window, data)
    event = QtGui.QDropEvent(
        QtCore.QPointF(300, 300),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QtWidgets.QApplication.sendEvent(window, event)


def wait(qtbot: QtBot, condition: Callable[[], object]) -> None:
    """Until it is true."""
    qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE)


def settled(qtbot: QtBot, window: MainWindow) -> None:
    """Until nothing is under way."""
    wait(qtbot, lambda: window.operations.idle)


def ask(qtbot: QtBot, window: MainWindow, question: str) -> None:
    """Type a question and press Enter."""
    window.chat.composer.input.setPlainText(question)
    qtbot.keyClick(window.chat.composer.input, Qt.Key.Key_Return)


def footers(transcript: Transcript) -> list[str]:
    """What is below each finished answer."""
    return [
        " · ".join([*(maker.text() for maker in answer.makers), answer.footer.text()])
        for answer in transcript.answers
    ]


def chip(window: MainWindow, name: str) -> QtWidgets.QPushButton:
    """The chip of the switcher with this name."""
    return next(c for c in window.chat.switcher.chips if c.accessibleName() == name)
