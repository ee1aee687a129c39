"""The transcript: turns one below the other, and the answer that is on its way at the end.

It follows the end only while the reader is at the end.
"""

from veneer_app.chat.bubbles import Answer, Question, divider
from veneer_app.chat.turns import Divider, Entry, Turn
from veneer_app.parts.controls import column, label, row, scrolled
from veneer_app.qt import QtWidgets

_WIDTH = 760
_NEAR = 32


class Transcript(QtWidgets.QWidget):
    """Shows entries; what stays the same is not built again."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: list[tuple[Entry, QtWidgets.QWidget]] = []
        self._extra: list[QtWidgets.QWidget] = []
        self.live: Answer | None = None
        self._list = column(spacing=16)
        self._list.setContentsMargins(24, 24, 24, 24)
        holder = QtWidgets.QWidget()
        holder.setProperty("role", "clear")
        holder.setMaximumWidth(_WIDTH)
        holder.setLayout(self._list)
        inside = QtWidgets.QWidget()
        across = row(None, holder, None, spacing=0)
        across.setStretch(1, 100)
        inside.setLayout(column(across, None, spacing=0))
        self.area = scrolled(inside, self.tr("Transcript"))
        self.setLayout(column(self.area))
        self._follows = True
        bar = self.area.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.rangeChanged.connect(self._grown)

    @property
    def answers(self) -> list[Answer]:
        """The finished answers, oldest first."""
        return [w for _, w in self._shown if isinstance(w, Answer)]

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        """Show exactly these, and nothing that is on its way."""
        self._drop_extra()
        same = 0
        for (old, _), new in zip(self._shown, entries, strict=False):
            if old != new:
                break
            same += 1
        for _, widget in self._shown[same:]:
            self._drop(widget)
        del self._shown[same:]
        for entry in entries[same:]:
            widget = _widget(entry)
            self._list.addWidget(widget)
            self._shown.append((entry, widget))

    def show_live(self, question: str | None, said: str) -> None:
        """Show a question, unless it is there already, and the beginning of its answer."""
        self._drop_extra()
        if question is not None:
            self._add(Question(question))
        self.live = Answer(Turn("assistant", said, self.tr("Thinking…")))
        self._add(self.live)
        self.to_end()

    def grow(self, text: str) -> None:
        """Show more of the answer."""
        if self.live is not None:
            self.live.note(self.tr("Answering…"))
            self.live.say(text)

    def complain(self, sentence: str) -> None:
        """Say at the end why there is no answer."""
        self._add(label(sentence, "bad", wrap=True, selectable=True))

    def to_end(self) -> None:
        """Go to the end and follow it."""
        self._follows = True
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _add(self, widget: QtWidgets.QWidget) -> None:
        self._extra.append(widget)
        self._list.addWidget(widget)

    def _drop_extra(self) -> None:
        for widget in self._extra:
            self._drop(widget)
        self._extra, self.live = [], None

    def _drop(self, widget: QtWidgets.QWidget) -> None:
        self._list.removeWidget(widget)
        widget.hide()
        widget.deleteLater()

    def _scrolled(self, value: int) -> None:
        self._follows = value >= self.area.verticalScrollBar().maximum() - _NEAR

    def _grown(self, low: int, high: int) -> None:
        if self._follows:
            self.area.verticalScrollBar().setValue(high)


def _widget(entry: Entry) -> QtWidgets.QWidget:
    if isinstance(entry, Divider):
        return divider(entry.title)
    return Answer(entry) if entry.role == "assistant" else Question(entry.text)
