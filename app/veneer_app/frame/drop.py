"""The sheet that appears over the window while files are held over it."""

from pathlib import Path

from veneer.store import hub
from veneer_app.parts.controls import column, label
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current


class DropOverlay(QtWidgets.QWidget):
    """Covers its parent, and lets every event through to it."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._covered = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(self.tr("Drop files to import them"))
        title = label(self.tr("Drop to import"), "title")
        more = label(
            self.tr("GGUF models, LoRA adapters, PEFT folders, stacks (.slm); several at once"),
            "muted",
        )
        for part in (title, more):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setLayout(column(None, title, more, None))
        self.hide()

    def cover(self) -> None:
        """Appear over everything."""
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """Dim what is below, and draw the target."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        shade = QtGui.QColor(current().window)
        shade.setAlphaF(0.92)
        painter.fillRect(self.rect(), shade)
        painter.setPen(QtGui.QPen(QtGui.QColor(current().accent), 2, Qt.PenStyle.DashLine))
        inside = QtCore.QRectF(self.rect()).adjusted(24, 24, -24, -24)
        painter.drawRoundedRect(inside, 16, 16)


def paths_of(mime: QtCore.QMimeData) -> tuple[Path, ...]:
    """The local files and folders, and the pages of a hub's repositories, in what is dragged."""
    places = (
        url.toLocalFile() if url.isLocalFile() else str(hub.parse(url.toString()) or "")
        for url in mime.urls()
    )
    return tuple(Path(place) for place in places if place)


def repository(said: str) -> Path:
    """What a person typed as what can be imported: of a hub, unless it is something else."""
    return Path(str(hub.parse(said) or hub.parse(f"hf:{said.strip()}") or said.strip()))
