"""The answers of a comparison side by side: they scroll together, and what differs is marked."""

from collections.abc import Callable

from veneer.chat.comparisons import Side
from veneer_app import text
from veneer_app.chat.difference import Parts
from veneer_app.chat.turns import footer
from veneer_app.parts.controls import Elided, button, column, frame, label, row, set_role
from veneer_app.qt import QtCore, QtGui, QtWidgets
from veneer_app.theme.tokens import current


class SideView(QtWidgets.QWidget):
    """One answer, with what made it above and its vote below."""

    def __init__(self, number: int, on_vote: Callable[[], None]) -> None:
        super().__init__()
        self.title = Elided("", "heading")
        self.footer = Elided("", "muted")
        self.text = QtWidgets.QTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAcceptDrops(False)
        self.text.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.text.setProperty("role", "side")
        self.text.setAccessibleName(self.tr("Answer {n}").format(n=number + 1))
        better = self.tr("This one is better (Ctrl+Alt+{n})").format(n=number + 1)
        self.vote = button(self.tr("Better"), "check", kind="chip", tip=better, on_click=on_vote)
        self.vote.setAccessibleName(better)
        self.vote.setCheckable(True)
        self.reason = label(role="bad", wrap=True, selectable=True)
        self._parts: Parts = ()
        inside = column(self.title, self.reason, self.text, self.footer, row(None, self.vote))
        self.setLayout(column(frame("card", inside, (12, 12, 12, 8))))

    def begin(self, title: str) -> None:
        """Nothing was said yet."""
        self.title.setText(title)
        self._parts = ()
        self.text.clear()
        self.reason.hide()
        set_role(self.footer, "muted")
        self.footer.setText(self.tr("Waiting…"))
        self.vote.setChecked(False)
        self.vote.setEnabled(False)

    def grow(self, said: str) -> None:
        """Show more of it."""
        shown = self.text.toPlainText()
        cursor = QtGui.QTextCursor(self.text.document())
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        cursor.insertText(said[len(shown) :])
        self.footer.setText(self.tr("Answering…"))

    def end(self, side: Side) -> None:
        """It is finished, or there is a reason why not."""
        self.text.setPlainText(side.text)
        self.reason.setText(text.plain(side.error, 600))
        self.reason.setVisible(bool(side.error))
        said = footer(side.stamp) if side.stamp is not None else self.tr("No answer")
        self.footer.setText(said)
        self.vote.setEnabled(bool(side.text))

    def mark(self, parts: Parts) -> None:
        """Show what is different from the others."""
        self._parts = parts
        self.text.clear()
        cursor = QtGui.QTextCursor(self.text.document())
        plain, other = QtGui.QTextCharFormat(), QtGui.QTextCharFormat()
        other.setBackground(QtGui.QColor(current().accent_soft))
        other.setFontUnderline(True)
        for part in parts:
            cursor.insertText(part.text, plain if part.same else other)
        self.text.moveCursor(QtGui.QTextCursor.MoveOperation.Start)

    def refresh(self) -> None:
        """Mark again, in the tones of another theme."""
        if self._parts:
            self.mark(self._parts)


class Sides(QtWidgets.QWidget):
    """Two or three of them."""

    def __init__(self, on_vote: Callable[[int], None]) -> None:
        super().__init__()
        self.views = [SideView(n, lambda n=n: on_vote(n)) for n in range(3)]
        across = row(*self.views, spacing=12)
        for number, view in enumerate(self.views):
            across.setStretch(number, 1)
            view.setMinimumWidth(120)
        self.setLayout(across)
        self._moving = False
        for view in self.views:
            bar = view.text.verticalScrollBar()
            bar.valueChanged.connect(lambda _, bar=bar: self._follow(bar))

    def show_count(self, count: int) -> None:
        """Have so many of them in sight."""
        for number, view in enumerate(self.views):
            view.setVisible(number < count)

    def changeEvent(self, event: QtCore.QEvent) -> None:  # noqa: N802
        """The marks have colours of the theme."""
        super().changeEvent(event)
        if event.type() == event.Type.PaletteChange:
            for view in self.views:
                view.refresh()

    def _follow(self, moved: QtWidgets.QScrollBar) -> None:
        """Scroll the others to where this one is, as a part of their length."""
        if self._moving or not moved.maximum():
            return
        self._moving = True
        part = moved.value() / moved.maximum()
        for view in self.views:
            bar = view.text.verticalScrollBar()
            if bar is not moved:
                bar.setValue(round(part * bar.maximum()))
        self._moving = False
