"""The token for the hub in the Settings. The system's keyring keeps it, and no file."""

from veneer.store import hub
from veneer_app import text
from veneer_app.operations import Latest, Operations
from veneer_app.parts.controls import button, column, label, row
from veneer_app.qt import QtWidgets

_WIDTH = 216


class HubToken(QtWidgets.QWidget):
    """Says whether there is one, takes another, and takes it away."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._latest = Latest(operations, self)
        # Not one of our own lines, which show what does not fit in a painting of their own.
        self.field = QtWidgets.QLineEdit()
        self.field.setAcceptDrops(False)
        self.field.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(self.tr("Hub token"))
        self.field.setFixedWidth(_WIDTH)
        self.field.returnPressed.connect(self._keep_typed)
        self.keep = button(self.tr("Keep"), "check", on_click=self._keep_typed)
        self.forget = button(self.tr("Forget"), "close", on_click=lambda: self._keep(""))
        self.said = label(role="muted", wrap=True)
        self.setLayout(column(row(self.field, self.keep, self.forget, None), self.said))
        self._show(False)

    def refresh(self) -> None:
        """Ask the keyring, which may want to be unlocked: only once somebody looks."""
        self._latest.ask(lambda ws: hub.has_token(), self._show, self._cannot)

    def _keep_typed(self) -> None:
        typed = self.field.text().strip()
        self.field.clear()
        if typed:
            self._keep(typed)

    def _keep(self, token: str) -> None:
        task = self._operations.change(lambda ws, progress, cancel: hub.keep_token(token))
        # Asked anew, as an answer from before may still be on its way.
        task.succeeded.connect(lambda _: self.refresh())
        task.failed.connect(self._cannot)

    def _cannot(self, error: BaseException) -> None:
        self.said.setText(text.reason(error))
        self.said.show()

    def _show(self, kept: bool) -> None:
        self.field.setPlaceholderText(self.tr("In the keyring") if kept else self.tr("None"))
        self.forget.setEnabled(kept)
        self.said.hide()
