"""Lists whose rows have a title and a smaller line below it, and perhaps a dot and a number."""

from functools import partial

from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current

SUBTITLE = Qt.ItemDataRole.UserRole + 1
MARK = Qt.ItemDataRole.UserRole + 2
"""True where the row is the active one: it gets a dot."""
CAP = Qt.ItemDataRole.UserRole + 3
"""The key that stands for the row, drawn as the cap of a key."""

_HEIGHT = 48
_MARGIN = 12
_CAP = 18
_DOT = 8
Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex


class TwoLines(QtWidgets.QStyledItemDelegate):
    """Paints such a row."""

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> QtCore.QSize:  # noqa: N802
        """As high as two lines need."""
        lines = option.fontMetrics.height() * 2 + 14
        return QtCore.QSize(80, max(_HEIGHT, lines))

    def paint(
        self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index
    ) -> None:
        """Background, dot, title, subtitle."""
        tokens, area = current(), option.rect.adjusted(4, 2, -4, -2)
        painter.save()
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        _background(painter, area, option.state)
        text = area.adjusted(_MARGIN - 4, 5, -_MARGIN + 4, -5)
        mirrored = partial(QtWidgets.QStyle.visualRect, option.direction, QtCore.QRect(text))
        cap = str(index.data(CAP) or "")
        if cap:
            _cap(painter, mirrored(_at_end(text, _CAP)), cap, option.font)
            text.setRight(text.right() - _CAP - 6)
        if index.data(MARK):
            _dot(painter, mirrored(_at_end(text, _DOT)))
            text.setRight(text.right() - _DOT - 6)
        text = mirrored(text)
        upper, lower = QtCore.QRect(text), QtCore.QRect(text)
        upper.setHeight(text.height() // 2)
        lower.setTop(upper.bottom() + 1)
        title = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        _line(painter, upper, title, option.font, tokens.text)
        smaller = QtGui.QFont(option.font)
        smaller.setPointSizeF(option.font.pointSizeF() * 0.85)
        _line(painter, lower, str(index.data(SUBTITLE) or ""), smaller, tokens.muted)
        painter.restore()


def _background(
    painter: QtGui.QPainter, area: QtCore.QRect, state: QtWidgets.QStyle.StateFlag
) -> None:
    chosen = bool(state & QtWidgets.QStyle.StateFlag.State_Selected)
    hovered = bool(state & QtWidgets.QStyle.StateFlag.State_MouseOver)
    if chosen or hovered:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(current().accent_soft if chosen else current().raised))
        painter.drawRoundedRect(area, 6, 6)


def _at_end(text: QtCore.QRect, size: int) -> QtCore.QRect:
    """A square in the middle of the right side."""
    return QtCore.QRect(text.right() - size, text.center().y() - size // 2, size, size)


def _dot(painter: QtGui.QPainter, area: QtCore.QRect) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QtGui.QColor(current().good))
    painter.drawEllipse(area)


def _cap(painter: QtGui.QPainter, key: QtCore.QRect, cap: str, font: QtGui.QFont) -> None:
    tokens = current()
    painter.setPen(QtGui.QColor(tokens.border_strong))
    painter.setBrush(QtGui.QColor(tokens.surface))
    painter.drawRoundedRect(key, 4, 4)
    smaller = QtGui.QFont(font)
    smaller.setPointSizeF(font.pointSizeF() * 0.85)
    painter.setFont(smaller)
    painter.setPen(QtGui.QColor(tokens.muted))
    painter.drawText(key, int(Qt.AlignmentFlag.AlignCenter), cap)


def _line(
    painter: QtGui.QPainter, area: QtCore.QRect, text: str, font: QtGui.QFont, colour: str
) -> None:
    painter.setFont(font)
    painter.setPen(QtGui.QColor(colour))
    fitted = QtGui.QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), fitted)


def two_line_list(name: str) -> QtWidgets.QListView:
    """A list view of such rows."""
    view = QtWidgets.QListView()
    view.setItemDelegate(TwoLines(view))
    view.setMouseTracking(True)
    view.setUniformItemSizes(True)
    view.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setAccessibleName(name)
    return view
