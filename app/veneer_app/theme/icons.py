"""Icons drawn in the tones of the theme in use.

Each is a small SVG whose strokes are `currentColor`; it is read once, and drawn again in other
tones when the theme changes (`refresh`). A button remembers the name of its icon as a property.
"""

from functools import lru_cache
from pathlib import Path

import veneer
from veneer_app.qt import Qt, QtCore, QtGui, QtSvg, QtWidgets
from veneer_app.theme.tokens import Tokens, current

_NAME = "iconName"
_TONE = "iconTone"
_SIZE = 16
_GAP = 4
_DIRECTED = frozenset({"left", "right", "forward", "undo", "redo", "rollback"})
"""They point where reading goes or comes from."""


def folder() -> Path:
    """Where the icons lie: beside the installed engine, or in a checkout."""
    installed = Path(veneer.__file__).with_name("_resources") / "icons"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "resources" / "icons"


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return (folder() / f"{name}.svg").read_text(encoding="utf-8")


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QtGui.QPixmap:
    """The icon in one colour, `size` logical pixels wide and high."""
    return _pixmap(name, colour, size, ratio, QtGui.QGuiApplication.isRightToLeft())


def _pixmap(name: str, colour: str, size: int, ratio: float, right_to_left: bool) -> QtGui.QPixmap:
    return _drawn(name, colour, size, ratio, right_to_left and name in _DIRECTED)


@lru_cache(maxsize=512)
def _drawn(name: str, colour: str, size: int, ratio: float, mirrored: bool) -> QtGui.QPixmap:
    image = QtGui.QPixmap(round(size * ratio), round(size * ratio))
    image.fill(Qt.GlobalColor.transparent)
    drawn = _source(name).replace("currentColor", colour).encode()
    painter = QtGui.QPainter(image)
    QtSvg.QSvgRenderer(QtCore.QByteArray(drawn)).render(painter)
    painter.end()
    if mirrored:
        image = image.transformed(QtGui.QTransform.fromScale(-1, 1))
    image.setDevicePixelRatio(ratio)
    return image


def icon(name: str, tone: str = "text", gap: int = 0, size: int = _SIZE) -> QtGui.QIcon:
    """The icon in a tone of the theme in use (the name of a field of `Tokens`).

    With a `gap` there is that much empty room beside it, towards the words that follow it: a style
    sheet cannot ask for it.
    """
    application = QtGui.QGuiApplication.instance()
    assert isinstance(application, QtGui.QGuiApplication)
    ratio, mirrored = application.devicePixelRatio(), application.isRightToLeft()
    return _icon(name, current(), tone, gap, size, ratio, mirrored)


@lru_cache(maxsize=512)
def _icon(
    name: str, tokens: Tokens, tone: str, gap: int, size: int, ratio: float, mirrored: bool
) -> QtGui.QIcon:
    made = QtGui.QIcon()
    colours = {
        QtGui.QIcon.Mode.Normal: getattr(tokens, tone),
        QtGui.QIcon.Mode.Disabled: tokens.border_strong,
    }
    for mode, colour in colours.items():
        drawn = _pixmap(name, colour, size, ratio, mirrored)
        made.addPixmap(_with_gap(drawn, gap, mirrored), mode)
    checked = _pixmap(name, _checked_colour(tokens, tone), size, ratio, mirrored)
    made.addPixmap(checked, QtGui.QIcon.Mode.Normal, QtGui.QIcon.State.On)
    return made


def _with_gap(image: QtGui.QPixmap, gap: int, mirrored: bool) -> QtGui.QPixmap:
    if not gap:
        return image
    ratio = image.devicePixelRatio()
    wider = QtGui.QPixmap(image.width() + round(gap * ratio), image.height())
    wider.fill(Qt.GlobalColor.transparent)
    wider.setDevicePixelRatio(ratio)
    painter = QtGui.QPainter(wider)
    painter.drawPixmap(gap if mirrored else 0, 0, image)
    painter.end()
    return wider


def _checked_colour(tokens: Tokens, tone: str) -> str:
    return tokens.accent if tone in {"text", "muted"} else getattr(tokens, tone)


def set_icon(
    button: QtWidgets.QAbstractButton, name: str, tone: str = "text", size: int = _SIZE
) -> None:
    """Give a button an icon that follows the theme."""
    button.setProperty(_NAME, name)
    button.setProperty(_TONE, tone)
    button.setIconSize(QtCore.QSize(size + _gap_of(button), size))
    _draw(button)


def _gap_of(button: QtWidgets.QAbstractButton) -> int:
    return _GAP if isinstance(button, QtWidgets.QPushButton) else 0


def _draw(button: QtWidgets.QAbstractButton) -> None:
    name, tone = button.property(_NAME), button.property(_TONE)
    button.setIcon(icon(name, tone, _gap_of(button), button.iconSize().height()))


def refresh() -> None:
    """Draw the icons of all buttons again, in the theme that is in use now."""
    for widget in QtWidgets.QApplication.allWidgets():
        name = widget.property(_NAME)
        if name and isinstance(widget, QtWidgets.QAbstractButton):
            _draw(widget)


def application_icon() -> QtGui.QIcon:
    """Veneer's own picture."""
    return QtGui.QIcon(str(folder() / "veneer.svg"))
