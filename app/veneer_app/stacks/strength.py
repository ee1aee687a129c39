"""The strength of an adapter: a slider from -2 to 2 that catches at 0 and 1, and a field beyond."""

from veneer_app import text
from veneer_app.parts import fields
from veneer_app.parts.controls import row
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.stacks.draft import LIMIT
from veneer_app.theme.tokens import current

_REACH = 200
_CATCH = 7
_DETENTS = (0, 100)
_KNOB = 8


class Slider(QtWidgets.QSlider):
    """In hundredths. The mouse is caught by the detents; the keyboard passes them."""

    chosen = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(-_REACH, _REACH)
        self.setSingleStep(5)
        self.setPageStep(25)
        self.setFixedHeight(36)
        self.setMinimumWidth(120)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.actionTriggered.connect(self._moved_by_key)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """The wheel scrolls the stack, not a strength."""
        event.ignore()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:  # noqa: N802
        """Go where the mouse is."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._go(event.position().x())

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:  # noqa: N802
        """Follow the mouse."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position().x())

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """Groove, the part from 0 to the value, ticks at the detents, knob."""
        tokens, painter = current(), QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        # Numbers grow to the right everywhere, and their signs stand before them.
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        middle = 13.0
        self._groove(painter, middle)
        for detent in (-_REACH, *_DETENTS, _REACH):
            self._tick(painter, detent, middle)
        knob = QtCore.QPointF(self._x(self.value()), middle)
        painter.setBrush(QtGui.QColor(tokens.accent if self.isEnabled() else tokens.border_strong))
        rim = tokens.text if self.hasFocus() else tokens.surface
        painter.setPen(QtGui.QPen(QtGui.QColor(rim), 2))
        painter.drawEllipse(knob, _KNOB, _KNOB)

    def _groove(self, painter: QtGui.QPainter, middle: float) -> None:
        tokens = current()
        left, right = self._x(-_REACH), self._x(_REACH)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(tokens.border))
        painter.drawRoundedRect(QtCore.QRectF(left, middle - 2, right - left, 4), 2, 2)
        painter.setBrush(QtGui.QColor(tokens.accent if self.isEnabled() else tokens.border_strong))
        zero, here = sorted((self._x(0), self._x(self.value())))
        painter.drawRect(QtCore.QRectF(zero, middle - 2, here - zero, 4))

    def _tick(self, painter: QtGui.QPainter, value: int, middle: float) -> None:
        x = self._x(value)
        painter.setPen(QtGui.QPen(QtGui.QColor(current().border_strong), 1))
        painter.drawLine(QtCore.QPointF(x, middle + 6), QtCore.QPointF(x, middle + 10))
        font = QtGui.QFont(self.font())
        font.setPointSizeF(7.0)
        painter.setFont(font)
        painter.setPen(QtGui.QColor(current().muted))
        area = QtCore.QRectF(x - 16, middle + 10, 32, 13)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), str(value // 100))

    def _x(self, value: int) -> float:
        width = self.width() - 2 * _KNOB - 4
        return _KNOB + 2 + width * (value + _REACH) / (2 * _REACH)

    def _go(self, x: float) -> None:
        width = self.width() - 2 * _KNOB - 4
        value = round((x - _KNOB - 2) / width * 2 * _REACH) - _REACH
        caught = next((d for d in _DETENTS if abs(value - d) <= _CATCH), value)
        self.setValue(caught)
        self.chosen.emit(self.value())

    def _moved_by_key(self, action: int) -> None:
        self.chosen.emit(self.sliderPosition())


class Strength(QtWidgets.QWidget):
    """Slider and field together. `chosen` is a person's choice, not what was set."""

    chosen = Signal(float)

    def __init__(self, adapter: str) -> None:
        super().__init__()
        self.slider = Slider(self.tr("Strength of {name}").format(name=adapter))
        exactly = self.tr("Exact strength of {name}").format(name=adapter)
        self.field = fields.decimal(exactly, -LIMIT, LIMIT)
        self.field.setFixedWidth(88)
        layout = row(self.slider, self.field)
        layout.setStretch(0, 1)
        self.setLayout(layout)
        self.slider.chosen.connect(lambda value: self._choose(value / 100))
        self.field.valueChanged.connect(self._choose)

    def set_value(self, value: float) -> None:
        """Show a value without choosing it."""
        for part in (self.slider, self.field):
            part.blockSignals(True)
        self.slider.setValue(round(value * 100))
        self.field.setValue(value)
        self.slider.setToolTip(text.scale(value))
        for part in (self.slider, self.field):
            part.blockSignals(False)

    def _choose(self, value: float) -> None:
        self.set_value(value)
        self.chosen.emit(value)
