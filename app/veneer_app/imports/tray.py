"""The list at the foot of the window: imports with their progress, failures with their reason.

What succeeded leaves by itself after a moment; what failed stays until it is dismissed.
"""

from veneer_app import text
from veneer_app.imports.queue import ImportItem, ImportQueue
from veneer_app.parts.controls import (
    Elided,
    button,
    column,
    icon_button,
    label,
    row,
    scrolled,
    set_role,
)
from veneer_app.qt import QtCore, QtGui, QtWidgets

_STAY_MS = 5000
_MOST_HEIGHT = 168


class ImportTray(QtWidgets.QFrame):
    """Shows the queue; hidden while it is empty."""

    def __init__(self, queue: ImportQueue) -> None:
        super().__init__()
        self.setProperty("role", "tray")
        self._queue = queue
        self.rows: dict[int, ImportRow] = {}
        self._list = column(spacing=0)
        inside = QtWidgets.QWidget()
        inside.setLayout(column(self._list, None, spacing=0))
        self._area = scrolled(inside, self.tr("Imports"))
        layout = column(self._area)
        layout.setContentsMargins(16, 4, 8, 4)
        self.setLayout(layout)
        queue.updated.connect(self._update)
        queue.removed.connect(self._remove)
        self.hide()

    def _update(self, item: ImportItem) -> None:
        if item.number not in self.rows:
            made = ImportRow(self._queue, item.number)
            self.rows[item.number] = made
            self._list.addWidget(made)
        self.rows[item.number].show_item(item)
        if item.status in {"done", "stopped"}:
            QtCore.QTimer.singleShot(_STAY_MS, self, lambda: self._queue.dismiss(item.number))
        self._fit()

    def _remove(self, number: int) -> None:
        gone = self.rows.pop(number)
        self._list.removeWidget(gone)
        gone.hide()
        gone.deleteLater()
        self._fit()

    def _fit(self) -> None:
        self.setVisible(bool(self.rows))
        width = self.width() - 24
        wanted = sum(r.height_at(width) for r in self.rows.values()) + 12
        self.setFixedHeight(min(wanted, _MOST_HEIGHT))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """Another width breaks the reasons elsewhere."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()


class ImportRow(QtWidgets.QWidget):
    """One item: its name, how far it is or what went wrong, and what can be done about it."""

    def __init__(self, queue: ImportQueue, number: int) -> None:
        super().__init__()
        self._item: ImportItem | None = None
        self.name = Elided(role="heading")
        self.name.setFixedWidth(200)
        self.sentence = label(wrap=True, selectable=True)
        self.sentence.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Preferred
        )
        self.bar = QtWidgets.QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of this import"))
        self.cancel = icon_button("stop", self.tr("Stop this import"), lambda: queue.cancel(number))
        self.copy = button(
            self.tr("Copy details"), "copy", kind="quiet", on_click=self._to_clipboard
        )
        self.dismiss = icon_button("close", self.tr("Dismiss"), lambda: queue.dismiss(number))
        layout = row(self.name, self.sentence, self.bar, self.copy, self.cancel, self.dismiss)
        layout.setContentsMargins(0, 2, 0, 2)
        self._layout = layout
        self.setLayout(layout)

    def show_item(self, item: ImportItem) -> None:
        """Show an item as it is now."""
        self._item = item
        self.name.setText(item.name)
        self.sentence.setText(self._words(item))
        set_role(self.sentence, "bad" if item.status == "failed" else "muted")
        self.bar.setRange(0, 1000 if item.total else 0)
        self.bar.setValue(1000 * item.done // item.total if item.total else 0)
        self.bar.setVisible(not item.over)
        self.cancel.setVisible(not item.over)
        self.copy.setVisible(item.status == "failed")
        self.dismiss.setVisible(item.over)

    def height_at(self, width: int) -> int:
        """How high it is at a width."""
        least = self._layout.minimumSize().height()
        return max(self._layout.totalHeightForWidth(width), least)

    def _words(self, item: ImportItem) -> str:
        if item.status == "waiting":
            return self.tr("Waiting…")
        if item.status == "running":
            far = f"{text.size(item.done)} / {text.size(item.total)}"
            rate = self.tr("{size}/s").format(size=text.size(int(item.rate)))
            return f"{far}, {rate}" if item.rate else far
        return item.sentence

    def _to_clipboard(self) -> None:
        if self._item is not None:
            written = f"{self._item.path}\nerror[{self._item.code}]: {self._item.sentence}"
            QtWidgets.QApplication.clipboard().setText(written)
