"""The model's Markdown, without HTML, and nothing in it is ever loaded, neither from the network
nor from this computer."""

from typing import Any

from veneer_app.chat.code import CodeBlock
from veneer_app.chat.markdown import Code, Piece, Prose, pieces
from veneer_app.parts.controls import column
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets

_FEATURES = (
    QtGui.QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QtGui.QTextDocument.MarkdownFeature.MarkdownNoHTML
)
_NOTHING = QtGui.QImage(1, 1, QtGui.QImage.Format.Format_ARGB32)
_NOTHING.fill(Qt.GlobalColor.transparent)
_FENCE = QtGui.QTextFormat.Property.BlockCodeFence
_CODE_GROUND = QtGui.QColor(128, 116, 104, 36)
_RULE = QtGui.QColor(128, 116, 104, 96)


class ProseText(QtWidgets.QTextBrowser):
    """Markdown as high as it is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setAcceptDrops(False)
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def say(self, text: str) -> None:
        """Show a text."""
        self.document().setMarkdown(text, _FEATURES)
        self._ground_code()
        self._rule_tables()
        self._fit()

    def _ground_code(self) -> None:
        """Give code a ground of its own, in a grey that suits both themes."""
        block = self.document().begin()
        while block.isValid():
            shape = block.blockFormat()
            if shape.hasProperty(_FENCE) or shape.nonBreakableLines():
                shape.setBackground(_CODE_GROUND)
                QtGui.QTextCursor(block).setBlockFormat(shape)
            block = block.next()

    def _rule_tables(self) -> None:
        """Draw thin lines around cells, in a grey that suits both themes."""
        for part in self.document().rootFrame().childFrames():
            if isinstance(part, QtGui.QTextTable):
                shape = part.format()
                shape.setBorderStyle(shape.BorderStyle.BorderStyle_Solid)
                shape.setBorderBrush(_RULE)
                shape.setBorderCollapse(True)
                shape.setCellPadding(6)
                shape.setTopMargin(8)
                shape.setBottomMargin(8)
                part.setFormat(shape)

    def loadResource(self, kind: int, name: QtCore.QUrl | str) -> Any:  # noqa: N802
        """Nothing is loaded, whatever the text names. Without a value Qt would read the file."""
        return _NOTHING

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """Another width gives another height."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:  # noqa: N802
        """The transcript scrolls, not the answer in it."""
        event.ignore()

    def _fit(self) -> None:
        height = round(self.document().size().height()) + 4
        if height != self.height():
            self.setFixedHeight(height)


class AnswerText(QtWidgets.QWidget):
    """An answer's text, piece by piece. What did not change is not drawn again."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._shown: list[tuple[Piece, ProseText | CodeBlock]] = []
        self._list = column(spacing=8)
        self.setLayout(self._list)

    @property
    def blocks(self) -> list[CodeBlock]:
        """The blocks of code, first to last."""
        return [part for _, part in self._shown if isinstance(part, CodeBlock)]

    def toPlainText(self) -> str:  # noqa: N802
        """What is to be read, without Markdown's signs."""
        texts = (
            part.text.toPlainText() if isinstance(part, CodeBlock) else part.toPlainText()
            for _, part in self._shown
        )
        return "\n".join(texts)

    def say(self, text: str) -> None:
        """Show a text; of one that has only grown, draw what is new."""
        wanted = pieces(text)
        for number, piece in enumerate(wanted):
            self._show(number, piece)
        for _, part in self._shown[len(wanted) :]:
            self._drop(part)
        del self._shown[len(wanted) :]

    def _show(self, number: int, piece: Piece) -> None:
        if number < len(self._shown):
            shown, part = self._shown[number]
            if shown == piece:
                return
            if _become(part, piece):
                self._shown[number] = piece, part
                return
            self._drop(part)
            del self._shown[number]
        made = CodeBlock(piece) if isinstance(piece, Code) else self._prose(piece)
        self._list.insertWidget(number, made)
        self._shown.insert(number, (piece, made))

    def _prose(self, piece: Prose) -> ProseText:
        made = ProseText(self._name)
        made.say(piece.text)
        return made

    def _drop(self, part: QtWidgets.QWidget) -> None:
        self._list.removeWidget(part)
        part.hide()
        part.deleteLater()


def _become(part: ProseText | CodeBlock, piece: Piece) -> bool:
    """Have a part show another piece, if it is of the same kind."""
    if isinstance(part, CodeBlock):
        return isinstance(piece, Code) and part.say(piece)
    if isinstance(piece, Prose):
        part.say(piece.text)
        return True
    return False
