"""The line of time: a dot for each thing that happened, joined from the first to the last."""

from veneer_app.history.rows import tone_of
from veneer_app.parts.rows import Index
from veneer_app.parts.table import ROW
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current

_RADIUS = 5
_WIDTH = 2
BESIDE = 16
"""How far from the edge of a column the middle of the line is."""


class DotBeside(QtWidgets.QStyledItemDelegate):
    """A cell of a table of generations, with the line at the side where reading begins."""

    def paint(
        self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index
    ) -> None:
        """The cell, then the line and its dot."""
        super().paint(painter, option, index)
        model = index.model()
        first, last = index.row() == 0, index.row() == model.rowCount() - 1
        area = QtCore.QRect(option.rect)
        backwards = option.direction == Qt.LayoutDirection.RightToLeft
        x = area.right() - BESIDE if backwards else area.left() + BESIDE
        draw(
            painter,
            QtCore.QPoint(x, area.center().y()),
            area,
            (first, last),
            tone_of(index.data(ROW)),
        )


class Knot(QtWidgets.QWidget):
    """A piece of the line in a layout, with a dot in `tone`, or (None) without."""

    def __init__(self, tone: str | None, *, first: bool = False, last: bool = False) -> None:
        super().__init__()
        self._tone, self._ends = tone, (first, last)
        self.setFixedWidth(2 * _RADIUS + 4)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """As high as the row that it is in."""
        draw(QtGui.QPainter(self), self.rect().center(), self.rect(), self._ends, self._tone)


def draw(
    painter: QtGui.QPainter,
    middle: QtCore.QPoint,
    area: QtCore.QRect,
    ends: tuple[bool, bool],
    tone: str | None,
) -> None:
    """Draw the line through `middle` from edge to edge, but not beyond its (first, last) end."""
    first, last = ends
    painter.save()
    painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
    top = middle.y() if first else area.top()
    bottom = middle.y() if last else area.bottom() + 1
    line = QtCore.QRect(middle.x() - _WIDTH // 2, top, _WIDTH, bottom - top)
    painter.fillRect(line, QtGui.QColor(current().border))
    if tone is not None:
        painter.setPen(QtGui.QPen(QtGui.QColor(current().surface), _WIDTH))
        painter.setBrush(QtGui.QColor(getattr(current(), tone)))
        painter.drawEllipse(middle, _RADIUS, _RADIUS)
    painter.restore()
