"""Making controls in one line each, so that none is made without its name and plain text.

Whatever has no visible text gets an accessible name here; labels never guess at rich text.
"""

import re
from collections.abc import Callable
from typing import Literal

from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.icons import set_icon

Kind = Literal["plain", "primary", "quiet", "danger", "chip"]
_ENDLESS = re.compile(r"\S{32,}")
_MAY_BREAK = "\u200b"
_TONES = {"primary": "on_accent", "danger": "bad"}


def label(
    text: str = "", role: str = "", *, wrap: bool = False, selectable: bool = False
) -> QtWidgets.QLabel:
    """A label that shows exactly this text."""
    made = Wrapped() if wrap else QtWidgets.QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    if role:
        made.setProperty("role", role)
    if role.startswith("badge"):
        made.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Maximum
        )
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


class Wrapped(QtWidgets.QLabel):
    """A label of several lines, which may break anywhere in a word that is too long for one."""

    def __init__(self) -> None:
        super().__init__()
        self._said = ""
        self.setWordWrap(True)

    def setText(self, text: str) -> None:  # noqa: N802
        """Show another text."""
        self._said = text
        super().setText(_ENDLESS.sub(lambda found: _MAY_BREAK.join(found.group()), text))

    def text(self) -> str:
        """What is shown, without the places where it may break."""
        return self._said

    def copy(self) -> None:
        """Put what is selected on the clipboard, as it was said."""
        chosen = self.selectedText().replace(_MAY_BREAK, "")
        QtWidgets.QApplication.clipboard().setText(chosen)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:  # noqa: N802
        """Qt would copy the places where it may break, too."""
        if event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:  # noqa: N802
        """The same with the mouse."""
        if self.hasSelectedText():
            menu = QtWidgets.QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self.tr("Copy")).triggered.connect(self.copy)
            menu.popup(event.globalPos())


class Elided(QtWidgets.QLabel):
    """A label that ends in … where it does not fit, and says all of it in its tool tip."""

    def __init__(self, text: str = "", role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed
        )
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802
        """Show another text."""
        super().setText(text)
        self.setToolTip(escaped(text))

    def minimumSizeHint(self) -> QtCore.QSize:  # noqa: N802
        """It may shrink to a few letters."""
        return QtCore.QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """Draw as much as fits."""
        painter = QtGui.QPainter(self)
        inside = self.contentsRect()
        mode = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.text(), mode, inside.width())
        painter.setPen(self.palette().color(QtGui.QPalette.ColorRole.WindowText))
        painter.drawText(inside, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)


def escaped(text: str) -> str:
    """Foreign text for a tool tip, which would otherwise guess at rich text."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<qt>{safe}</qt>" if text else ""


def button(
    text: str,
    icon: str | None = None,
    *,
    kind: Kind = "plain",
    tip: str = "",
    on_click: Callable[[], object] | None = None,
) -> QtWidgets.QPushButton:
    """A button with text."""
    made = QtWidgets.QPushButton(text)
    made.setProperty("kind", kind)
    made.setAutoDefault(False)
    made.setAccessibleName(text.replace("&", ""))
    if icon is not None:
        set_icon(made, icon, _TONES.get(kind, "text"))
    if tip:
        made.setToolTip(tip)
    if on_click is not None:
        made.clicked.connect(lambda _=False: on_click())
    return made


def icon_button(
    icon: str, name: str, on_click: Callable[[], object] | None = None, *, kind: str = "icon"
) -> QtWidgets.QToolButton:
    """A button that is a picture; `name` is its tool tip and what a screen reader says."""
    made = QtWidgets.QToolButton()
    made.setProperty("kind", kind)
    made.setToolTip(name)
    made.setAccessibleName(name)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    set_icon(made, icon, "on_accent" if kind == "round" else "muted")
    if on_click is not None:
        made.clicked.connect(lambda _=False: on_click())
    return made


Item = QtWidgets.QWidget | QtWidgets.QLayout | int | None


def row(*items: Item, spacing: int = 8) -> QtWidgets.QHBoxLayout:
    """Widgets and layouts side by side; None stretches, a number is a gap."""
    made = QtWidgets.QHBoxLayout()
    _fill(made, items, spacing)
    return made


def column(*items: Item, spacing: int = 8) -> QtWidgets.QVBoxLayout:
    """Widgets and layouts one below the other; None stretches, a number is a gap."""
    made = QtWidgets.QVBoxLayout()
    _fill(made, items, spacing)
    return made


def _fill(layout: QtWidgets.QBoxLayout, items: tuple[Item, ...], spacing: int) -> None:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    for item in items:
        if item is None:
            layout.addStretch(1)
        elif isinstance(item, int):
            layout.addSpacing(item)
        elif isinstance(item, QtWidgets.QLayout):
            layout.addLayout(item)
        else:
            layout.addWidget(item)


def frame(
    role: str, layout: QtWidgets.QLayout, margins: tuple[int, int, int, int] = (16, 16, 16, 16)
) -> QtWidgets.QFrame:
    """A panel around a layout, with margins left, top, right and bottom."""
    made = QtWidgets.QFrame()
    made.setProperty("role", role)
    layout.setContentsMargins(*margins)
    made.setLayout(layout)
    return made


def scrolled(inside: QtWidgets.QWidget, name: str) -> QtWidgets.QScrollArea:
    """A scroll area around a widget that takes all the width."""
    inside.setProperty("role", "clear")
    area = QtWidgets.QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    area.viewport().setAutoFillBackground(False)
    area.setWidget(inside)
    return area


def set_role(widget: QtWidgets.QWidget, role: str) -> None:
    """Change what a widget looks like while it is shown."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        repolish(widget)


def repolish(widget: QtWidgets.QWidget) -> None:
    """Have the style sheet look at a widget's properties again."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def clear(layout: QtWidgets.QLayout) -> None:
    """Remove and delete every widget of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
