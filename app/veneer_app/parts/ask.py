"""Asking before something that a person must be sure of.

Nothing waits for the answer: the window goes on.
"""

from collections.abc import Callable

from veneer_app.qt import Qt, QtCore, QtWidgets


def confirm(
    parent: QtWidgets.QWidget, question: str, detail: str, verb: str, then: Callable[[], object]
) -> QtWidgets.QMessageBox:
    """Open the question; `then` runs if the answer is the verb."""
    box = QtWidgets.QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(question)
    box.setAccessibleName(question)
    box.setText(question)
    box.setInformativeText(detail)
    yes = box.addButton(verb, QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
    no = box.addButton(QtWidgets.QMessageBox.StandardButton.Cancel)
    for made in (yes, no):
        made.setAccessibleName(made.text().replace("&", ""))
    yes.clicked.connect(lambda: QtCore.QTimer.singleShot(0, parent, then))
    box.setDefaultButton(QtWidgets.QMessageBox.StandardButton.Cancel)
    box.open()
    return box
