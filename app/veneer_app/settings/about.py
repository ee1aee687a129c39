"""What this is: versions, and which lanes there are."""

import platform

from veneer.compose.lanes import Offer
from veneer.workspace import VERSION
from veneer_app.operations import Operations
from veneer_app.parts.controls import button, column, label, row
from veneer_app.qt import QtCore, QtWidgets


class About(QtWidgets.QWidget):
    """Versions. llama.cpp's is asked of the worker, which takes a moment, so only on request."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self.build = label("", "muted", wrap=True, selectable=True)
        self.build.hide()
        self.ask_build = button(self.tr("Ask llama.cpp"), on_click=self._ask)
        self.copy = button(self.tr("Copy"), "copy", on_click=self._copy)
        self.versions = label("\n".join(_versions()), selectable=True)
        self.setLayout(
            column(self.versions, row(self.ask_build, self.copy, None), self.build, spacing=8)
        )

    def _ask(self) -> None:
        self.ask_build.setEnabled(False)
        task = self._operations.change(lambda ws, progress, cancel: ws.runtime_offer())
        task.succeeded.connect(self._show)
        task.failed.connect(self._operations.refused)
        task.failed.connect(lambda error: self.ask_build.setEnabled(True))

    def _show(self, offer: Offer) -> None:
        gpus = self.tr("GPUs: {0}").format(", ".join(offer.gpus) or self.tr("none"))
        self.build.setText("\n".join((offer.build, gpus, *self._lanes(offer))))
        self.build.show()
        self.ask_build.hide()

    def _lanes(self, offer: Offer) -> tuple[str, str]:
        kernels = self.tr("Lane overlay: available, with the kernels {0}").format(offer.overlay)
        off = self.tr("Lane overlay: not available: {0}").format(offer.why_not)
        return self.tr("Lane stock: available"), off if offer.why_not else kernels

    def _copy(self) -> None:
        said = "\n".join(part for part in (self.versions.text(), self.build.text()) if part)
        QtWidgets.QApplication.clipboard().setText(said)


def _versions() -> tuple[str, ...]:
    return (
        f"Veneer {VERSION}",
        f"Python {platform.python_version()}, Qt {QtCore.qVersion()}",
        platform.platform(),
    )


class AboutDialog(QtWidgets.QDialog):
    """The same in a window of its own, from any place."""

    def __init__(self, operations: Operations, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Veneer"))
        self.about = About(operations)
        said = self.tr("Stack, weigh, switch and share LoRA adapters over one immutable base.")
        close = button(self.tr("Close"), kind="primary", on_click=self.accept)
        layout = column(
            label("Veneer", "title"),
            label(said, "muted", wrap=True),
            self.about,
            label("Apache-2.0", "muted"),
            row(None, close),
            spacing=12,
        )
        layout.setContentsMargins(24, 24, 24, 16)
        self.setLayout(layout)
        self.setMinimumWidth(420)


def show_about(operations: Operations, parent: QtWidgets.QWidget) -> AboutDialog:
    """Open it."""
    dialog = AboutDialog(operations, parent)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
