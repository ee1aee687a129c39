"""The bar under the top bar that says what did not work, until it is dismissed."""

from veneer.errors import Cancelled, RuntimeCrashed, RuntimeTimeout, VeneerError
from veneer_app import text
from veneer_app.parts.controls import button, icon_button, label, row, set_role
from veneer_app.qt import Qt, QtWidgets, Signal

_LOST = (RuntimeCrashed, RuntimeTimeout)


class NoticeBar(QtWidgets.QFrame):
    """One sentence with its code. A newer one takes its place.

    Where the worker was lost, it can be tried again, and what llama.cpp printed can be read.
    """

    retry_wanted = Signal()
    details_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setAccessibleName(self.tr("Message"))
        self.sentence = label(wrap=True, selectable=True)
        self.sentence.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Preferred
        )
        self.code = label(role="muted")
        self._copy = button(self.tr("Copy"), "copy", kind="quiet", on_click=self._to_clipboard)
        close = icon_button("close", self.tr("Dismiss this message"), self.hide)
        self.retry = button(self.tr("Retry"), "again", kind="quiet", on_click=self._try_again)
        self.details = button(self.tr("Details"), kind="quiet", on_click=self.details_wanted.emit)
        layout = row(self.sentence, self.code, self.retry, self.details, self._copy, close)
        layout.setContentsMargins(16, 6, 8, 6)
        layout.setAlignment(self.code, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(layout)
        self.hide()

    def show_error(self, error: BaseException) -> None:
        """Show what failed. A bug has its own dialog, and a cancelled operation needs no word."""
        if not isinstance(error, VeneerError) or isinstance(error, Cancelled):
            return
        self._show("notice", text.reason(error), error.full_code)
        for part in (self.retry, self.details):
            part.setVisible(isinstance(error, _LOST))

    def show_info(self, sentence: str) -> None:
        """Say something that is not a failure."""
        self._show("notice-info", sentence, "")

    def _show(self, role: str, sentence: str, code: str) -> None:
        set_role(self, role)
        self.sentence.setText(sentence)
        self.code.setText(code)
        self.code.setVisible(bool(code))
        self._copy.setVisible(bool(code))
        for part in (self.retry, self.details):
            part.hide()
        self.show()

    def _try_again(self) -> None:
        self.hide()
        self.retry_wanted.emit()

    def _to_clipboard(self) -> None:
        written = f"error[{self.code.text()}]: {self.sentence.text()}"
        QtWidgets.QApplication.clipboard().setText(written)
