"""What llama.cpp printed, in a window of its own."""

from veneer_app.operations import Operations
from veneer_app.parts.controls import button, column, row
from veneer_app.qt import QtGui, QtWidgets


class LogDialog(QtWidgets.QDialog):
    """The end of the worker's log, read when it is opened and when asked again."""

    def __init__(self, operations: Operations, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._operations = operations
        self.setWindowTitle(self.tr("What llama.cpp printed"))
        self.resize(800, 520)
        self.text = QtWidgets.QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(self.tr("Log"))
        self.text.setPlaceholderText(self.tr("Nothing yet: no model has run."))
        self.text.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
        fixed = QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont)
        self.text.setFont(fixed)
        again = button(self.tr("Read again"), "again", on_click=self.read)
        copy = button(self.tr("Copy"), "copy", on_click=self._copy)
        close = button(self.tr("Close"), kind="primary", on_click=self.accept)
        layout = column(self.text, row(again, copy, None, close))
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)
        self.read()

    def read(self) -> None:
        """Show what there is now, its end in sight."""
        self._operations.read(lambda ws: ws.runtime_log(), self._show)

    def _show(self, said: str) -> None:
        self.text.setPlainText(said)
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _copy(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self.text.toPlainText())


def show_log(operations: Operations, parent: QtWidgets.QWidget) -> LogDialog:
    """Open the log."""
    dialog = LogDialog(operations, parent)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
