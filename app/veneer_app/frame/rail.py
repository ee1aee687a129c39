"""The rail at the left: the five places.

An adapter that is held over one of them for a moment opens it, and can be dropped there.
"""

from veneer_app.parts.carry import carried
from veneer_app.parts.controls import column
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.theme.icons import set_icon

_MOMENT_MS = 400
_ICON = 24
_WIDTH = 88
_AROUND = 28
"""Margins and borders beside a name."""


class Rail(QtWidgets.QFrame):
    """`chosen` has the number of the place that was asked for, `dropped` an adapter."""

    chosen = Signal(int)
    dropped = Signal(str)

    def __init__(self, places: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        self.setFixedWidth(
            max(_WIDTH, _widest(self.font(), [name for _, name in places]) + _AROUND)
        )
        self._group = QtWidgets.QButtonGroup(self)
        self._group.setExclusive(True)
        layout = column(spacing=4)
        layout.setContentsMargins(8, 12, 8, 12)
        for number, (icon, name) in enumerate(places):
            layout.addWidget(self._button(number, icon, name))
        layout.addStretch(1)
        self.setLayout(layout)
        self._group.idClicked.connect(self.chosen)
        self.setAcceptDrops(True)
        self._over = -1
        self._moment = QtCore.QTimer(self)
        self._moment.setSingleShot(True)
        self._moment.setInterval(_MOMENT_MS)
        self._moment.timeout.connect(lambda: self.chosen.emit(self._over))

    def show_place(self, number: int) -> None:
        """Mark a place."""
        self._group.button(number).setChecked(True)

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:  # noqa: N802
        """Adapters are welcome; files are the window's."""
        event.setAccepted(carried(event.mimeData()) is not None)

    def dragMoveEvent(self, event: QtGui.QDragMoveEvent) -> None:  # noqa: N802
        """Held over a place for a moment, it opens."""
        over = self.childAt(event.position().toPoint())
        number = self._group.id(over) if isinstance(over, QtWidgets.QToolButton) else -1
        if number != self._over:
            self._over = number
            self._moment.start() if number >= 0 else self._moment.stop()
        event.setAccepted(number >= 0)

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:  # noqa: N802
        """It went elsewhere."""
        self._over = -1
        self._moment.stop()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:  # noqa: N802
        """It was let go here: it goes on top of the stack."""
        self._over = -1
        self._moment.stop()
        adapter = carried(event.mimeData())
        if adapter is not None:
            event.acceptProposedAction()
            self.dropped.emit(adapter)

    def _button(self, number: int, icon: str, name: str) -> QtWidgets.QToolButton:
        made = QtWidgets.QToolButton()
        made.setProperty("kind", "rail")
        made.setText(name)
        made.setAccessibleName(name)
        made.setCheckable(True)
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        made.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed
        )
        set_icon(made, icon, "muted", _ICON)
        keys = QtGui.QKeySequence(f"Ctrl+{number + 1}")
        made.setToolTip(f"{name} ({keys.toString(QtGui.QKeySequence.SequenceFormat.NativeText)})")
        made.setShortcut(keys)
        self._group.addButton(made, number)
        return made


def _widest(font: QtGui.QFont, names: list[str]) -> int:
    """As wide as the longest name is while its place is shown."""
    bold = QtGui.QFont(font)
    bold.setWeight(bold.Weight.DemiBold)
    return max(map(QtGui.QFontMetrics(bold).horizontalAdvance, names))
