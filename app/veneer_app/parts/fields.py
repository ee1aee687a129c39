"""Making the things a person types into, each with its accessible name.

None of them takes drops: a file dropped anywhere belongs to the window, which imports it.
"""

from collections.abc import Sequence

from veneer_app.qt import Qt, QtGui, QtWidgets

_ROOM_BESIDE = 12
"""Frame, padding and the room that Qt leaves for the cursor."""


class Line(QtWidgets.QLineEdit):
    """One line of text, which ends in … where it does not fit while nobody types in it."""

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """The field, and as much of the text as there is room for."""
        room = self.width() - 2 * _ROOM_BESIDE
        if self.hasFocus() or self.fontMetrics().horizontalAdvance(self.text()) <= room:
            super().paintEvent(event)
            return
        option = QtWidgets.QStyleOptionFrame()
        self.initStyleOption(option)
        painter = QtWidgets.QStylePainter(self)
        painter.drawPrimitive(QtWidgets.QStyle.PrimitiveElement.PE_PanelLineEdit, option)
        inside = self.rect().adjusted(_ROOM_BESIDE, 0, -_ROOM_BESIDE, 0)
        mode = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.text(), mode, inside.width())
        painter.setPen(self.palette().color(QtGui.QPalette.ColorRole.Text))
        along = self.alignment() | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inside, int(along), shown)


def line(name: str, placeholder: str = "", role: str = "") -> Line:
    """One line of text."""
    made = Line()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    made.setAcceptDrops(False)
    made.setMaxLength(200)
    if role:
        made.setProperty("role", role)
    return made


def several_lines(name: str, placeholder: str = "", height: int = 72) -> QtWidgets.QPlainTextEdit:
    """A few lines of text. Tab leaves it."""
    made = QtWidgets.QPlainTextEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    made.setAcceptDrops(False)
    made.setTabChangesFocus(True)
    made.setFixedHeight(height)
    return made


class Whole(QtWidgets.QSpinBox):
    """A whole number. The wheel changes it only while it has the focus."""

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """Leave the wheel to what is around, unless the field is in use."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class Decimal(QtWidgets.QDoubleSpinBox):
    """A number. The wheel changes it only while it has the focus."""

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """Leave the wheel to what is around, unless the field is in use."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class Choice(QtWidgets.QComboBox):
    """One of several; what is chosen ends in … where it does not fit.

    The wheel changes it only while it has the focus.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToContents)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """The field, and as much of the text as there is room for."""
        option = QtWidgets.QStyleOptionComboBox()
        self.initStyleOption(option)
        painter, style = QtWidgets.QStylePainter(self), self.style()
        painter.drawComplexControl(style.ComplexControl.CC_ComboBox, option)
        part = style.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(style.ComplexControl.CC_ComboBox, option, part, self).width()
        mode = Qt.TextElideMode.ElideRight
        option.currentText = self.fontMetrics().elidedText(option.currentText, mode, room)
        painter.drawControl(style.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """Leave the wheel to what is around, unless the field is in use."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def whole(name: str, low: int, high: int, step: int = 1) -> Whole:
    """A field for a whole number."""
    made = Whole()
    made.setRange(low, high)
    made.setSingleStep(step)
    _prepare(made, name)
    return made


def decimal(name: str, low: float, high: float, step: float = 0.05) -> Decimal:
    """A field for a number with two digits."""
    made = Decimal()
    made.setDecimals(2)
    made.setRange(low, high)
    made.setSingleStep(step)
    _prepare(made, name)
    return made


def _prepare(field: QtWidgets.QAbstractSpinBox, name: str) -> None:
    field.setAccessibleName(name)
    # A number counts when it is complete, not at each digit.
    field.setKeyboardTracking(False)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.lineEdit().setAcceptDrops(False)
    # The style sheet does not reach the text inside a spin box.
    field.lineEdit().setTextMargins(6, 0, 0, 0)
    field.setMinimumWidth(88)


def choice(name: str, options: Sequence[tuple[str, object]]) -> Choice:
    """A field that offers (text, value) pairs."""
    made = Choice()
    made.setAccessibleName(name)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    for text, value in options:
        made.addItem(text, value)
    return made


def choose(field: QtWidgets.QComboBox, value: object) -> None:
    """Select a value without telling anybody."""
    with_value = field.findData(value)
    blocked = field.blockSignals(True)
    field.setCurrentIndex(with_value)
    field.blockSignals(blocked)
