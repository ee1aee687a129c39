"""The widgets of a transcript: question, answer, and the lines between them.

What a person wants done with a turn is told as a `Wish`; the bubbles themselves do nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from veneer_app.chat.prose import AnswerText
from veneer_app.chat.turns import Made, Turn, badge, step
from veneer_app.parts.controls import (
    Elided,
    button,
    clear,
    column,
    frame,
    icon_button,
    label,
    row,
    set_role,
)
from veneer_app.qt import Qt, QtWidgets, Signal

_QUESTION_WIDTH = 440
_PREVIEW = 4000
Verb = Literal["edit", "again", "go_on", "delete", "show"]


@dataclass(frozen=True)
class Wish:
    """What is to be done with which message."""

    verb: Verb
    turn: Turn
    node: int


class Bubble(QtWidgets.QWidget):
    """What question and answer have in common: their row of buttons."""

    wished = Signal(object)

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.turn = turn

    def wish(self, verb: Verb, node: int | None = None) -> None:
        """Ask for something to be done with this message, or another in its place."""
        self.wished.emit(Wish(verb, self.turn, self.turn.node if node is None else node))

    def _beside(self) -> QtWidgets.QWidget | None:
        """Arrows to what lies beside this message, if something does."""
        if len(self.turn.beside) < 2:
            return None
        at = self.turn.beside.index(self.turn.node) + 1
        back = self._arrow("left", self.tr("Show the one before (Alt+Left)"), -1)
        on = self._arrow("right", self.tr("Show the next one (Alt+Right)"), 1)
        count = self.tr("{n} of {all}").format(n=at, all=len(self.turn.beside))
        made = QtWidgets.QWidget()
        made.setLayout(row(back, label(count, "muted"), on, spacing=0))
        return made

    def _arrow(self, icon: str, name: str, by: int) -> QtWidgets.QToolButton:
        node = step(self.turn, by)
        made = icon_button(icon, name, lambda: self.wish("show", node))
        made.setEnabled(node is not None)
        return made

    def _copy(self, name: str) -> QtWidgets.QToolButton:
        return icon_button("copy", name, self.copy)

    def copy(self) -> None:
        """Put the text on the clipboard."""
        QtWidgets.QApplication.clipboard().setText(self.turn.text)


class Question(Bubble):
    """What a person asked, at the right."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn)
        shown = turn.text if len(turn.text) <= _PREVIEW else turn.text[:_PREVIEW] + "…"
        self.text = label(shown, wrap=True, selectable=True)
        self.text.setAccessibleName(self.tr("Question"))
        # As wide as its longest line, up to where it wraps.
        wanted = max(map(self.text.fontMetrics().horizontalAdvance, shown.split("\n")), default=0)
        self.text.setMinimumWidth(min(wanted + 4, _QUESTION_WIDTH))
        self.text.setMaximumWidth(_QUESTION_WIDTH)
        files = [Elided(name, "muted") for name in turn.files]
        bubble = frame("bubble", column(self.text, *files, spacing=4), (16, 8, 16, 8))
        self._foot = row(None, spacing=0)
        self.setLayout(column(row(None, bubble), self._foot, spacing=0))
        self._fill_foot()

    def become(self, turn: Turn) -> None:
        """It has its place in the tree now."""
        self.turn = turn
        clear(self._foot)
        self._foot.addStretch(1)
        self._fill_foot()

    def _fill_foot(self) -> None:
        if not self.turn.node:
            return
        beside = self._beside()
        if beside is not None:
            self._foot.addWidget(beside)
        if self.turn.open:
            self._foot.addWidget(
                icon_button("again", self.tr("Answer this question"), lambda: self.wish("again"))
            )
        self.edit = icon_button("edit", self.tr("Ask it in other words"), lambda: self.wish("edit"))
        self.delete = icon_button(
            "trash", self.tr("Delete from here on"), lambda: self.wish("delete")
        )
        copy = self._copy(self.tr("Copy this question"))
        for part in (self.edit, copy, self.delete):
            self._foot.addWidget(part)


class Answer(Bubble):
    """What the model said, with what made it below."""

    inspected = Signal(object, object)

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn)
        self.body = AnswerText(self.tr("Answer"))
        self.footer = Elided(turn.footer, "bad" if turn.cut else "muted")
        self.makers: list[QtWidgets.QPushButton] = []
        self._foot = row(self.footer, None, spacing=4)
        self.setLayout(column(self.body, self._foot, spacing=4))
        self.body.say(turn.text)
        self._fill_foot()

    def say(self, text: str) -> None:
        """Show more of it."""
        self.body.say(text)

    def become(self, turn: Turn) -> None:
        """It is finished: show what was kept of it, and what made it."""
        self.turn = turn
        self.body.say(turn.text)
        set_role(self.footer, "bad" if turn.cut else "muted")
        self.footer.setText(turn.footer)
        self._fill_foot()

    def note(self, text: str) -> None:
        """Say something below it."""
        self.footer.setText(text)

    def _fill_foot(self) -> None:
        for number, made in enumerate(self.turn.made):
            self.makers.append(self._maker(made))
            self._foot.insertWidget(number, self.makers[-1])
        if not self.turn.node:
            return
        beside = self._beside()
        if beside is not None:
            self._foot.addWidget(beside)
        for part in self._deeds():
            self._foot.addWidget(part)

    def _maker(self, made: Made) -> QtWidgets.QPushButton:
        name = badge(made)
        shown = button(name.replace("&", "&&"), kind="quiet")
        shown.setAccessibleName(self.tr("Made by {name}").format(name=name))
        shown.setToolTip(self.tr("What made this answer"))
        shown.clicked.connect(lambda: self.inspected.emit(made, shown))
        return shown

    def _deeds(self) -> list[QtWidgets.QToolButton]:
        deeds: list[tuple[str, str, Callable[[], None]]] = [
            ("copy", self.tr("Copy this answer"), self.copy),
            ("again", self.tr("Answer once more (Ctrl+R)"), lambda: self.wish("again")),
            ("trash", self.tr("Delete from here on"), lambda: self.wish("delete")),
        ]
        if self.turn.short:
            go_on = self.tr("Go on with this answer (Ctrl+Return)")
            deeds.insert(2, ("forward", go_on, lambda: self.wish("go_on")))
        return [icon_button(icon, name, act) for icon, name, act in deeds]


def divider(title: str) -> QtWidgets.QWidget:
    """A line across with words in it."""
    made = QtWidgets.QWidget()
    left, right = frame("line", QtWidgets.QHBoxLayout()), frame("line", QtWidgets.QHBoxLayout())
    middle = Elided(title, "caption")
    middle.setAlignment(Qt.AlignmentFlag.AlignCenter)
    layout = row(left, middle, right, spacing=12)
    layout.setStretch(0, 1)
    layout.setStretch(2, 1)
    made.setLayout(layout)
    return made
