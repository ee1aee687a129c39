"""Shortcuts. Those of a place work only while it is shown; none opens twice on one key."""

from collections.abc import Callable

from veneer_app.qt import Qt, QtGui, QtWidgets


def key(parent: QtWidgets.QWidget, keys: str, act: Callable[[], object]) -> QtGui.QShortcut:
    """A key that does something while `parent` is visible."""
    made = QtGui.QShortcut(QtGui.QKeySequence(keys), parent)
    made.setContext(Qt.ShortcutContext.WindowShortcut)
    made.activated.connect(lambda: act() if parent.isVisible() else None)
    return made
