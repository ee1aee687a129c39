"""The widgets of a transcript: question, answer, divider.

An answer is the model's text: Markdown without HTML, and nothing in it is ever loaded, neither
from the network nor from this computer.
"""

from typing import Any

from veneer_app.chat.turns import Turn
from veneer_app.parts.controls import Elided, frame, icon_button, label, row, set_role
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets

_FEATURES = (
    QtGui.QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QtGui.QTextDocument.MarkdownFeature.MarkdownNoHTML
)

_FENCE = QtGui.QTextFormat.Property.BlockCodeFence
_CODE_GROUND = QtGui.QColor(128, 116, 104, 36)
_QUESTION_WIDTH = 440


class AnswerText(QtWidgets.QTextBrowser):
    """Markdown as high as it is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setAcceptDrops(False)
        self.setOpenLinks(False)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def say(self, text: str) -> None:
        """Show a text."""
        self.document().setMarkdown(text, _FEATURES)
        self._ground_code()
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

    def loadResource(self, kind: int, name: QtCore.QUrl | str) -> Any:  # noqa: N802
        """Nothing is loaded, whatever the text names."""
        return None

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


class Question(QtWidgets.QWidget):
    """What a person asked, at the right."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.said = text
        self.text = label(text, wrap=True, selectable=True)
        self.text.setAccessibleName(self.tr("Question"))
        # As wide as its longest line, up to where it wraps.
        wanted = max(map(self.text.fontMetrics().horizontalAdvance, text.split("\n")), default=0)
        self.text.setMinimumWidth(min(wanted + 4, _QUESTION_WIDTH))
        self.text.setMaximumWidth(_QUESTION_WIDTH)
        inside = QtWidgets.QVBoxLayout()
        inside.addWidget(self.text)
        bubble = frame("bubble", inside, (16, 8, 16, 8))
        self.setLayout(row(None, bubble))


class Answer(QtWidgets.QWidget):
    """What the model said, with what made it below."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self._said = turn.text
        self.body = AnswerText(self.tr("Answer"))
        self.footer = Elided(turn.footer, "bad" if turn.cut else "muted")
        self.copy = icon_button("copy", self.tr("Copy this answer"), self._to_clipboard)
        foot = row(self.footer, self.copy, None, spacing=4)
        layout = QtWidgets.QVBoxLayout()
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.body)
        layout.addLayout(foot)
        self.setLayout(layout)
        self.say(turn.text)

    def say(self, text: str) -> None:
        """Show more of it."""
        self._said = text
        self.body.say(text)
        self.copy.setVisible(bool(text))

    def become(self, turn: Turn) -> None:
        """It is finished: show what was kept of it, and what made it."""
        if turn.text != self._said:
            self.say(turn.text)
        set_role(self.footer, "bad" if turn.cut else "muted")
        self.footer.setText(turn.footer)

    def note(self, text: str) -> None:
        """Say something below it."""
        set_role(self.footer, "muted")
        self.footer.setText(text)

    def _to_clipboard(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self._said)


def divider(title: str) -> QtWidgets.QWidget:
    """A line across: from here on, another composition answers."""
    made = QtWidgets.QWidget()
    left, right = frame("line", QtWidgets.QHBoxLayout()), frame("line", QtWidgets.QHBoxLayout())
    layout = row(left, label(title, "caption"), right, spacing=12)
    layout.setStretch(0, 1)
    layout.setStretch(2, 1)
    made.setLayout(layout)
    return made
