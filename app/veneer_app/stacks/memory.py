"""The memory that the draft would need, against what it may have."""

from veneer.activation.running import Room
from veneer_app import text
from veneer_app.parts.controls import Elided, column, set_role
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current

_HEIGHT = 6
_GAP = 2
translate = text.translate


class Memory(QtWidgets.QWidget):
    """A bar with one part for each thing that needs memory, and the same in words."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = MemoryBar()
        self.said = Elided(role="muted")
        self.setLayout(column(self.said, self.bar, spacing=4))
        self.setAccessibleName(self.tr("Memory"))
        self.hide()

    def show_room(self, room: Room | None) -> None:
        """Show what is needed and what may be had, or nothing while it is not known."""
        self.setVisible(room is not None)
        self.bar.show_room(room)
        if room is None:
            return
        needed, limit = text.size(room.needed.total), text.size(room.limit)
        fits = room.needed.total <= room.limit
        words = (
            self.tr("Needs {needed} of {limit} of memory")
            if fits
            else self.tr("Needs {needed} of memory, but only {limit} may be used")
        )
        said = words.format(needed=needed, limit=limit)
        self.said.setText(f"{said}: {', '.join(_parts(room))}")
        set_role(self.said, "muted" if fits else "bad")


def _parts(room: Room) -> list[str]:
    needed = room.needed
    words = (
        (translate("Memory", "base {size}"), needed.base),
        (translate("Memory", "context {size}"), needed.kv + needed.compute),
        (translate("Memory", "adapters {size}"), needed.adapters),
        (translate("Memory", "runtime {size}"), needed.scratch),
    )
    return [said.format(size=text.size(count)) for said, count in words if count]


class MemoryBar(QtWidgets.QWidget):
    """Base, context, adapters and the rest, as shares of what may be used."""

    def __init__(self) -> None:
        super().__init__()
        self._room: Room | None = None
        self.setFixedHeight(_HEIGHT)

    def show_room(self, room: Room | None) -> None:
        """Draw this."""
        self._room = room
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """The groove, then the parts from the side where reading begins."""
        if self._room is None:
            return
        tokens, painter = current(), QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        self._fill(painter, 0, self.width(), tokens.border)
        needed = self._room.needed
        fits = needed.total <= self._room.limit
        whole, begin = max(needed.total, self._room.limit, 1), 0.0
        for count, tone in (
            (needed.base, tokens.muted),
            (needed.kv + needed.compute, tokens.border_strong),
            (needed.adapters, tokens.accent),
            (needed.scratch, tokens.border_strong),
        ):
            width = self.width() * count / whole
            if width > _GAP:
                self._fill(painter, begin, width - _GAP, tone if fits else tokens.bad)
            begin += width

    def _fill(self, painter: QtGui.QPainter, begin: float, width: float, tone: str) -> None:
        painter.setBrush(QtGui.QColor(tone))
        painter.drawRoundedRect(QtCore.QRectF(begin, 0, width, _HEIGHT), 3, 3)
