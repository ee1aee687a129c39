"""The transcript: turns one below the other, and the answer that is on its way at the end.

It follows the end only while the reader is at the end.
"""

from dataclasses import dataclass
from itertools import takewhile

from veneer_app.chat.bubbles import Answer, Question, divider
from veneer_app.chat.turns import Divider, Entry, Turn
from veneer_app.parts.controls import column, label, row, scrolled
from veneer_app.qt import QtWidgets

_WIDTH = 760
_NEAR = 32


@dataclass(frozen=True)
class Live:
    """An answer on its way. `question` is None where it is among the entries already."""

    question: str | None
    said: str


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

    def show_entries(self, entries: tuple[Entry, ...], live: Live | None = None) -> None:
        """Show exactly these, and then the answer that is on its way.

        A widget that showed a turn on its way goes on showing it when it is finished, so that
        nothing moves under the reader.
        """
        pairs = zip(self._shown, entries, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], pairs))
        for _, widget in self._shown[same:]:
            self._drop(widget)
        del self._shown[same:]
        for entry in entries[same:]:
            widget = self._adopted(entry, finished=live is None)
            if widget is None:
                widget = _widget(entry)
                self._list.insertWidget(len(self._shown), widget)
            self._shown.append((entry, widget))
        if live is None:
            self._drop_extra()
        elif self.live is None:
            self.show_live(live)

    def show_live(self, live: Live) -> None:
        """Show a question, unless it is there already, and the beginning of its answer."""
        self._drop_extra()
        if live.question is not None:
            self._add(Question(live.question))
        self.live = Answer(Turn("assistant", live.said, self.tr("Thinking…")))
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

    def _adopted(self, entry: Entry, *, finished: bool) -> QtWidgets.QWidget | None:
        """The widget that shows this entry already, if it was on its way."""
        first = self._extra[0] if self._extra else None
        if isinstance(entry, Divider) or first is None:
            return None
        asked = isinstance(first, Question) and (entry.role, entry.text) == ("user", first.said)
        answered = finished and first is self.live and entry.role == "assistant"
        if not asked and not answered:
            return None
        if isinstance(first, Answer):
            first.become(entry)
            self.live = None
        return self._extra.pop(0)

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
