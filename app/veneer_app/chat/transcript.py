"""The transcript: turns one below the other, and the answer that is on its way at the end.

It follows the end only while the reader is at the end.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial

from veneer_app.chat.bubbles import Answer, Bubble, Question, divider
from veneer_app.chat.turns import Divider, Entry, Forgotten, Turn
from veneer_app.parts.controls import button, column, label, row, scrolled
from veneer_app.qt import Qt, QtCore, QtWidgets, Signal

_WIDTH = 760
_NEAR = 32


@dataclass(frozen=True)
class Live:
    """An answer on its way. `question` is None where it is among the entries already."""

    question: Turn | None
    said: str


class Transcript(QtWidgets.QWidget):
    """Shows entries; what stays the same is not built again."""

    wished = Signal(object)
    inspected = Signal(object, object)

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
        self._inside = QtWidgets.QWidget()
        across = row(None, holder, None, spacing=0)
        across.setStretch(1, 100)
        self._inside.setLayout(column(across, None, spacing=0))
        self.area = scrolled(self._inside, self.tr("Transcript"))
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setLayout(column(self.area))
        self._follows = True
        bar = self.area.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.rangeChanged.connect(self._grown)

    @property
    def answers(self) -> list[Answer]:
        """The finished answers, oldest first."""
        return [w for _, w in self._shown if isinstance(w, Answer)]

    @property
    def questions(self) -> list[Question]:
        """The questions that are kept, oldest first."""
        return [w for _, w in self._shown if isinstance(w, Question)]

    def show_entries(self, entries: tuple[Entry, ...], live: Live | None = None) -> None:
        """Show exactly these, and then the answer that is on its way.

        A widget that showed a turn on its way goes on showing it when it is finished, so that
        nothing moves under the reader.
        """
        kept = self._kept(entries)
        for number, entry in enumerate(entries):
            same = kept.get(entry)
            widget = same.pop(0) if same else self._adopted(entry, finished=live is None)
            if widget is None:
                widget = self._made(entry)
            if self._list.indexOf(widget) != number:
                self._list.insertWidget(number, widget)
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
        """Say at the end why there is no answer, and offer to try again."""
        said = label(sentence, "bad", wrap=True, selectable=True)
        last = self._shown[-1][1] if self._shown else None
        if isinstance(last, Bubble):
            again = button(self.tr("Try again"), "again", on_click=lambda: last.wish("again"))
            said_and_again = QtWidgets.QWidget()
            said_and_again.setLayout(column(said, row(again, None)))
            self._add(said_and_again)
        else:
            self._add(said)

    def to_end(self) -> None:
        """Go to the end and follow it."""
        self._follows = True
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.maximum())

    def reveal(self, node: int) -> None:
        """Bring a message into sight, and the keyboard to it."""
        for entry, widget in self._shown:
            if isinstance(entry, Turn) and entry.node == node:
                self._follows = False
                # It has its place only after the layout has run.
                QtCore.QTimer.singleShot(0, widget, partial(self._to, widget))
                return

    def _to(self, widget: QtWidgets.QWidget) -> None:
        top = widget.mapTo(self._inside, QtCore.QPoint(0, 0)).y()
        self.area.verticalScrollBar().setValue(top - _NEAR)
        self.area.setFocus()

    def _kept(self, entries: tuple[Entry, ...]) -> dict[Entry, list[QtWidgets.QWidget]]:
        """The widgets that are needed again, by what they show. All others are dropped."""
        wanted, kept = Counter(entries), dict[Entry, list[QtWidgets.QWidget]]()
        for entry, widget in self._shown:
            if wanted[entry]:
                wanted[entry] -= 1
                kept.setdefault(entry, []).append(widget)
            else:
                self._drop(widget)
        self._shown = []
        return kept

    def _adopted(self, entry: Entry, *, finished: bool) -> QtWidgets.QWidget | None:
        """The widget that shows this entry already, if it was on its way."""
        first = self._extra[0] if self._extra else None
        if not isinstance(entry, Turn) or not isinstance(first, Question | Answer):
            return None
        asked = isinstance(first, Question) and (entry.role, entry.text) == (
            "user",
            first.turn.text,
        )
        answered = finished and first is self.live and entry.role == "assistant"
        if not asked and not answered:
            return None
        first.become(entry)
        if first is self.live:
            self.live = None
        return self._extra.pop(0)

    def _made(self, entry: Entry) -> QtWidgets.QWidget:
        if isinstance(entry, Divider):
            return divider(entry.title)
        if isinstance(entry, Forgotten):
            said = self.tr("The context is full: what is above is not told to the model any more")
            return divider(said)
        return self._bubble(Answer(entry) if entry.role == "assistant" else Question(entry))

    def _bubble(self, made: Bubble) -> Bubble:
        made.wished.connect(self.wished)
        if isinstance(made, Answer):
            made.inspected.connect(self.inspected)
        return made

    def _add(self, widget: QtWidgets.QWidget) -> None:
        if isinstance(widget, Bubble):
            self._bubble(widget)
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
