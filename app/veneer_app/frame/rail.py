"""The rail at the left: the five places."""

from veneer_app.parts.controls import column
from veneer_app.qt import Qt, QtGui, QtWidgets, Signal
from veneer_app.theme.icons import set_icon

_ICON = 24


class Rail(QtWidgets.QFrame):
    """`chosen` has the number of the place that was asked for."""

    chosen = Signal(int)

    def __init__(self, places: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        self.setFixedWidth(88)
        self._group = QtWidgets.QButtonGroup(self)
        self._group.setExclusive(True)
        layout = column(spacing=4)
        layout.setContentsMargins(8, 12, 8, 12)
        for number, (icon, name) in enumerate(places):
            layout.addWidget(self._button(number, icon, name))
        layout.addStretch(1)
        self.setLayout(layout)
        self._group.idClicked.connect(self.chosen)

    def show_place(self, number: int) -> None:
        """Mark a place."""
        self._group.button(number).setChecked(True)

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
