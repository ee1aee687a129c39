"""A block of code in an answer: coloured, with its language and a button that copies it."""

from veneer_app.chat.lexer import Kind, language_of, spans
from veneer_app.chat.markdown import Code
from veneer_app.parts.controls import column, frame, icon_button, label, row
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current

_TONES: dict[Kind, str] = {
    "keyword": "accent",
    "string": "good",
    "comment": "muted",
    "number": "accent_hover",
}


class _Colours(QtGui.QSyntaxHighlighter):
    """Colours code in the tones of the theme; a line is looked at again only if it changes."""

    def __init__(self, document: QtGui.QTextDocument, language: str) -> None:
        super().__init__(document)
        self._language = language_of(language)

    def highlightBlock(self, line: str) -> None:  # noqa: N802
        """Colour one line."""
        found, state = spans(self._language, line, max(0, self.previousBlockState()))
        self.setCurrentBlockState(state)
        tokens = current()
        for span in found:
            self.setFormat(
                span.start, span.length, QtGui.QColor(getattr(tokens, _TONES[span.kind]))
            )


class _CodeText(QtWidgets.QPlainTextEdit):
    """The code, as high as it is; long lines scroll sideways."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("role", "code")
        self.setReadOnly(True)
        self.setAcceptDrops(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFont(QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont))
        self.document().setDocumentMargin(0)
        self.horizontalScrollBar().rangeChanged.connect(self.fit)

    def fit(self) -> None:
        """Be as high as the lines, and the scroll bar if there is one."""
        lines = max(1, self.blockCount()) * self.fontMetrics().lineSpacing()
        bar = self.horizontalScrollBar()
        height = lines + 6 + (bar.sizeHint().height() if bar.maximum() > 0 else 0)
        if height != self.height():
            self.setFixedHeight(height)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """The transcript scrolls, except sideways."""
        if event.angleDelta().x():
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeBlock(QtWidgets.QWidget):
    """The block."""

    def __init__(self, code: Code) -> None:
        super().__init__()
        self.code = Code(code.language, "")
        name = self.tr("Code, {language}").format(language=code.language or self.tr("plain"))
        self.text = _CodeText(name)
        self._colours = _Colours(self.text.document(), code.language)
        self.copy = icon_button("copy", self.tr("Copy this code"), self._to_clipboard)
        head = row(label(code.language, "caption"), None, self.copy)
        inside = frame("code", column(head, self.text, spacing=0), (12, 2, 4, 8))
        self.setLayout(column(inside))
        self.say(code)

    def say(self, code: Code) -> bool:
        """Show more of it. False if it is not the same block any more."""
        if code.language != self.code.language:
            return False
        if code.text.startswith(self.code.text):
            cursor = QtGui.QTextCursor(self.text.document())
            cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
            cursor.insertText(code.text[len(self.code.text) :])
        else:
            self.text.setPlainText(code.text)
        self.code = code
        self.text.fit()
        return True

    def changeEvent(self, event: QtCore.QEvent) -> None:  # noqa: N802
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QtCore.QEvent.Type.PaletteChange:
            self._colours.rehighlight()

    def _to_clipboard(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self.code.text)
