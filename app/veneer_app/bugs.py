"""What happens when Veneer itself is at fault: a dialog with a report that can be copied.

A `VeneerError` is not a bug and never comes here.
"""

import platform
import sys
import threading
import traceback
from types import TracebackType

from veneer.workspace import VERSION
from veneer_app.parts.controls import button, column, label, row
from veneer_app.qt import QtCore, QtWidgets

_open: list["BugDialog"] = []


def report_of(error: BaseException) -> str:
    """The report: versions, then the traceback."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    head = f"Veneer {VERSION}, Python {platform.python_version()}, Qt {QtCore.qVersion()}"
    return f"{head}\n{platform.platform()}\n\n{''.join(lines)}"


class BugDialog(QtWidgets.QDialog):
    """Says that something went wrong and offers the report."""

    def __init__(self, report: str, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Something went wrong"))
        self.resize(640, 400)
        self.report = QtWidgets.QPlainTextEdit(report, self)
        self.report.setReadOnly(True)
        self.report.setAccessibleName(self.tr("Report"))
        said = self.tr(
            "This is a mistake in Veneer, not yours. What was active is still active, and nothing "
            "was lost. The report below helps to find it; it contains file paths of this computer."
        )
        copy = button(self.tr("Copy report"), "copy", on_click=self._copy)
        close = button(self.tr("Close"), kind="primary", on_click=self.accept)
        layout = column(label(said, wrap=True), self.report, row(None, copy, close))
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)

    def _copy(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self.report.toPlainText())


def show(error: BaseException) -> None:
    """Show the dialog for an error, one at a time."""
    if _open and _open[0].isVisible():
        return
    _open[:] = [BugDialog(report_of(error), QtWidgets.QApplication.activeWindow())]
    _open[0].open()


def install() -> None:
    """Send every exception that nobody caught to the dialog, from any thread."""
    sys.excepthook = _caught
    threading.excepthook = lambda args: _caught(args.exc_type, args.exc_value, args.exc_traceback)


def _caught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if error is None or issubclass(kind, KeyboardInterrupt):
        return
    sys.__excepthook__(kind, error, trace)
    application = QtWidgets.QApplication.instance()
    if application is not None:
        QtCore.QTimer.singleShot(0, application, lambda: show(error))
