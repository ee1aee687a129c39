"""Where a person writes: Enter sends, Shift+Enter begins a new line, Escape stops the answer.

An earlier question is written anew here too; `editing` is its message then.
"""

from pathlib import Path

from veneer.chat.conversation import Attachment
from veneer_app.chat.attachments import Attachments
from veneer_app.chat.meter import Meter
from veneer_app.chat.session import Ask
from veneer_app.chat.setup_panel import SetupPanel
from veneer_app.operations import Operations
from veneer_app.parts.controls import column, icon_button, label, repolish, row
from veneer_app.qt import Qt, QtGui, QtWidgets, Signal

_LINES = 8
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class _Input(QtWidgets.QPlainTextEdit):
    """The text. It grows with what is written, up to a few lines."""

    sent = Signal()
    back = Signal()
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
        """Enter sends; the arrow up in an empty field fetches the last question back."""
        shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in _ENTER and not shifted:
            self.sent.emit()
        elif event.key() == Qt.Key.Key_Up and not self.toPlainText():
            self.back.emit()
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
    """The text with its files and buttons."""

    send_wanted = Signal(object)
    stop_wanted = Signal()
    compare_wanted = Signal()
    edit_wanted = Signal()
    held_so = Signal(str)

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self.setProperty("role", "composer")
        self.editing: int | None = None
        self.input = _Input()
        self.files = Attachments(operations)
        self.panel = SetupPanel(operations)
        self.meter = Meter()
        self._make_banner()
        self._make_buttons()
        tools = row(self.attach, self.setup, self.compare, 4, self.held, None, self.meter)
        layout = column(self.banner, self.files, self.input, row(tools, self.send, self.stop))
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(4)
        self.setLayout(layout)
        self.setFocusProxy(self.input)
        self.input.sent.connect(self._send)
        self.input.back.connect(self.edit_wanted)
        self.input.focused.connect(self._ring)
        self.input.textChanged.connect(self._allow)
        self.files.changed.connect(self._allow)
        self._allow()

    def set_busy(self, busy: bool) -> None:
        """While an answer comes, there is something to stop and nothing to send."""
        self.stop.setVisible(busy)
        self.send.setVisible(not busy)

    def show_held(self) -> None:
        """Say in a few words how the conversation is held, where that is not the usual way."""
        setup, said = self.panel.setup, list[str]()
        if setup.system:
            said.append(self.tr("System prompt"))
        if setup.sampling.temperature <= 0:
            said.append(self.tr("Greedy"))
        if setup.sampling.seed is not None:
            said.append(self.tr("Seed {n}").format(n=setup.sampling.seed))
        self.held.setText(" · ".join(said))
        self.held_so.emit(setup.system)

    def insert(self, words: str) -> None:
        """Put words where the cursor is, apart from what is around them."""
        cursor = self.input.textCursor()
        before = self.input.toPlainText()[: cursor.position()]
        gap = " " if before and not before[-1].isspace() else ""
        cursor.insertText(f"{gap}{words} ")
        self.input.setFocus()

    def edit(self, node: int, words: str, files: tuple[Attachment, ...]) -> None:
        """Write a question anew."""
        self.editing = node
        self.banner.show()
        self.input.setPlainText(words)
        self.input.moveCursor(QtGui.QTextCursor.MoveOperation.End)
        self.files.set_files(files)
        self.input.setFocus()

    def leave_edit(self) -> None:
        """Write a new question after all."""
        if self.editing is not None:
            self.editing = None
            self.clear()

    def clear(self) -> None:
        """Begin with nothing."""
        self.editing = None
        self.banner.hide()
        self.input.clear()
        self.files.set_files(())

    def _make_banner(self) -> None:
        said = label(self.tr("The question is asked anew, beside the one before it."), "muted")
        cancel = icon_button("close", self.tr("Leave the question as it is (Esc)"), self.leave_edit)
        self.banner = QtWidgets.QWidget()
        self.banner.setLayout(row(said, None, cancel))
        self.banner.hide()

    def _make_buttons(self) -> None:
        self.attach = icon_button("attach", self.tr("Attach text files"), self._choose_files)
        self.setup = icon_button(
            "sliders", self.tr("System prompt, sampling, presets (Ctrl+;)"), self.open_panel
        )
        self.compare = icon_button(
            "compare", self.tr("Compare stacks (Ctrl+K)"), self.compare_wanted.emit
        )
        self.held = label(role="muted")
        self.send = icon_button("send", self.tr("Send (Enter)"), self._send, kind="round")
        stop = self.tr("Stop (Esc)")
        self.stop = icon_button("stop", stop, self.stop_wanted.emit, kind="round")
        self.stop.hide()
        self.panel.settled.connect(self.show_held)

    def _send(self) -> None:
        if self.stop.isVisibleTo(self):
            return
        words, files = self.input.toPlainText().strip(), self.files.files
        if self.editing is None:
            self.send_wanted.emit(Ask("say", words, files=files))
        else:
            self.send_wanted.emit(Ask("resay", words, self.editing, files))

    def open_panel(self) -> None:
        """Open the panel with the system prompt and the sampling."""
        self.panel.open_above(self.setup)

    def _choose_files(self) -> None:
        dialog = QtWidgets.QFileDialog(self, self.tr("Attach text files"))
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda chosen: self.files.add(tuple(map(Path, chosen))))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _allow(self) -> None:
        self.send.setEnabled(bool(self.input.toPlainText().strip() or self.files.files))

    def _ring(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        repolish(self)
