"""Where a person writes: Enter sends, Shift+Enter begins a new line, Escape stops the answer."""

from veneer_app.chat.sampling import SamplingPanel
from veneer_app.parts.controls import icon_button, repolish, row
from veneer_app.qt import Qt, QtGui, QtWidgets, Signal

_LINES = 6
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class _Input(QtWidgets.QPlainTextEdit):
    """The text. It grows with what is written, up to a few lines."""

    sent = Signal()
    focused = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "composer")
        self.setAccessibleName(self.tr("Message"))
        self.setPlaceholderText(self.tr("Ask something"))
        self.setAcceptDrops(False)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(4)
        self.textChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:  # noqa: N802
        """Enter sends."""
        shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in _ENTER and not shifted:
            self.sent.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:  # noqa: N802
        """The frame around it is the focus ring."""
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:  # noqa: N802
        """The frame around it is the focus ring."""
        super().focusOutEvent(event)
        self.focused.emit(False)

    def _fit(self) -> None:
        lines = min(max(self.document().blockCount(), len(self.toPlainText()) // 90 + 1), _LINES)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + 12)


class Composer(QtWidgets.QFrame):
    """The text with its buttons."""

    send_wanted = Signal(str)
    stop_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "composer")
        self.input = _Input()
        self.panel = SamplingPanel(self)
        self.sampling = icon_button("sliders", self.tr("Sampling"), self._open_panel)
        self.send = icon_button("send", self.tr("Send (Enter)"), self._send, kind="round")
        stop = self.tr("Stop (Esc)")
        self.stop = icon_button("stop", stop, self.stop_wanted.emit, kind="round")
        self.stop.hide()
        layout = row(self.input, self.sampling, self.send, self.stop)
        layout.setContentsMargins(12, 8, 8, 8)
        for part in (self.sampling, self.send, self.stop):
            layout.setAlignment(part, Qt.AlignmentFlag.AlignBottom)
        self.setLayout(layout)
        self.setFocusProxy(self.input)
        self.input.sent.connect(self._send)
        self.input.focused.connect(self._ring)
        self.input.textChanged.connect(self._allow)
        self._allow()

    def set_busy(self, busy: bool) -> None:
        """While an answer comes, there is something to stop and nothing to send."""
        self.stop.setVisible(busy)
        self.send.setVisible(not busy)

    def _send(self) -> None:
        if not self.stop.isVisibleTo(self):
            self.send_wanted.emit(self.input.toPlainText().strip())

    def _open_panel(self) -> None:
        self.panel.open_above(self.sampling)

    def _allow(self) -> None:
        self.send.setEnabled(bool(self.input.toPlainText().strip()))

    def _ring(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        repolish(self)
