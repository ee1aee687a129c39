"""Compare: one question to two or three stacks, their answers side by side, and a vote.

The stacks are activated one after another, and what was active before comes back by itself.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from veneer.chat.comparisons import Kept, Side
from veneer.chat.conversation import title_from
from veneer.chat.setup import Setup
from veneer.errors import Cancelled
from veneer.identity import Digest
from veneer.store.changes import Outcome
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app import reads, text
from veneer_app.chat.difference import Parts, differences
from veneer_app.chat.session import Session
from veneer_app.chat.sides import Sides
from veneer_app.chat.stream import Stream
from veneer_app.operations import Latest, Operations, Task, merged
from veneer_app.parts import fields
from veneer_app.parts.controls import button, column, icon_button, label, row
from veneer_app.parts.keys import key
from veneer_app.qt import QtWidgets, Signal
from veneer_app.services import Services

_LONGEST = 32
Done = tuple[int, Kept, reads.Names]
"""The conversation, its new comparison, and what to call the compositions in it."""


class ComparePage(QtWidgets.QWidget):
    """The page. `left` asks for the conversation again."""

    left = Signal()

    def __init__(self, services: Services, session: Session) -> None:
        super().__init__()
        self._operations: Operations = services.operations
        self._session = session
        self._latest = Latest(services.operations, self)
        self._earlier = Latest(services.operations, self)
        self._task: Task | None = None
        self._kept: Kept | None = None
        self._picked: set[QtWidgets.QComboBox] = set()
        self.setup: Callable[[], Setup] = Setup
        self.streams = [Stream(self) for _ in range(3)]
        self.sides = Sides(self._vote)
        self._make_question()
        self._make_judgement()
        self._arrange()
        for number, stream in enumerate(self.streams):
            stream.grew.connect(self.sides.views[number].grow)
        services.operations.changed.connect(lambda changes: self._look())
        key(self, "Esc", self._escape)
        key(self, "Ctrl+Return", self.run)
        for number in range(3):
            key(self, f"Ctrl+Alt+{number + 1}", self.sides.views[number].vote.click)
        self._look()

    @property
    def running(self) -> bool:
        """Whether the stacks are being asked."""
        return self._task is not None

    def open(self, question: str) -> None:
        """Begin with this question, and what was compared in this conversation before."""
        if question:
            self.question.setPlainText(question)
        self._list_earlier()
        self.question.setFocus()

    def run(self) -> None:
        """Ask."""
        question, chosen = self.question.toPlainText().strip(), self._chosen()
        if not question or len(chosen) < 2 or self._session.busy:
            return
        number, setup = self._session.current, self.setup()
        self._kept = None
        self.sides.show_count(len(chosen))
        for view, stream, choice in zip(self.sides.views, self.streams, chosen, strict=False):
            view.begin(text.plain(choice.title, 60))
            stream.begin()
        feeds = [stream.feed for stream in self.streams]
        refs: list[str] = [choice.composition or choice.base for choice in chosen]

        def work(workspace: Workspace, progress: Progress, cancel: CancelToken) -> Outcome[Done]:
            return _compared(workspace, number, setup, question, refs, feeds, cancel)

        self._task = self._operations.answer(work)
        self._task.succeeded.connect(self._done)
        self._task.failed.connect(self._failed)
        self._session.hold(self._task)
        self._show_running()

    def stop(self) -> None:
        """Stop; what was answered stays, and what was active before comes back."""
        if self._task is not None:
            self._task.cancel()

    def show_kept(self, kept: Kept, titles: reads.Names) -> None:
        """Show a comparison that is finished."""
        self._kept = kept
        sides = kept.comparison.sides
        self.question.setPlainText(kept.comparison.question)
        self.sides.show_count(len(sides))
        for view, side in zip(self.sides.views, sides, strict=False):
            view.begin(_title(side, titles))
            view.end(side)
        self.note.setText(kept.comparison.note)
        self._show_vote()
        self._show_judgement()
        texts = [side.text for side in sides]
        self._operations.read(lambda ws: differences(texts), partial(self._mark, kept))

    def _make_question(self) -> None:
        self.choices = [
            fields.choice(self.tr("First stack"), ()),
            fields.choice(self.tr("Second stack"), ()),
            fields.choice(self.tr("Third stack"), ()),
        ]
        for made in self.choices:
            made.setMinimumWidth(120)
            made.setSizeAdjustPolicy(
                QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            made.currentIndexChanged.connect(self._allow)
            made.activated.connect(lambda _, made=made: self._picked.add(made))
        asks = self.tr("The question for all of them")
        self.question = fields.several_lines(self.tr("Question"), asks, 64)
        self.question.textChanged.connect(self._allow)
        self.go = button(self.tr("Ask them"), "play", kind="primary", on_click=self.run)
        self.go.setToolTip(self.tr("Ctrl+Enter"))
        self.halt = button(self.tr("Stop"), "stop", on_click=self.stop)
        self.halt.hide()

    def _make_judgement(self) -> None:
        self.note = fields.line(self.tr("Note"), self.tr("A note about these answers"))
        self.note.editingFinished.connect(self._keep_judgement)
        self.marked = QtWidgets.QCheckBox(self.tr("Mark differences"))
        self.marked.setAccessibleName(self.marked.text())
        self.marked.setChecked(True)
        self.marked.toggled.connect(self._remark)
        self.judgement = QtWidgets.QWidget()
        self.judgement.setLayout(row(self.marked, self.note, spacing=16))
        self.judgement.hide()

    def _arrange(self) -> None:
        back = icon_button("left", self.tr("Back to the conversation (Esc)"), self.left.emit)
        self.earlier = fields.choice(self.tr("Earlier comparisons"), ())
        self.earlier.setPlaceholderText(self.tr("Earlier comparisons"))
        self.earlier.setMinimumWidth(200)
        self.earlier.activated.connect(self._open_earlier)
        self.hint = label(
            self.tr(
                "Each stack answers in turn, with the same seed. What is active now comes back "
                "afterwards."
            ),
            "muted",
            wrap=True,
        )
        self.hint.setMinimumWidth(200)
        head = row(back, label(self.tr("Compare"), "title"), None, self.earlier)
        ask = row(self.question, column(self.go, self.halt, None))
        body = column(head, row(*self.choices), ask, self.hint, self.sides, self.judgement)
        body.setStretch(4, 1)
        body.setContentsMargins(24, 16, 24, 16)
        body.setSpacing(12)
        self.setLayout(body)
        self.sides.show_count(0)

    def _look(self) -> None:
        self._latest.ask(reads.choices, self._list)

    def _list(self, choices: tuple[reads.Choice, ...]) -> None:
        """Offer what there is; the active one first, then the ones after it."""
        ordered = sorted(choices, key=lambda choice: not choice.active)
        for number, made in enumerate(self.choices):
            # What was only offered gives way to what is there by now.
            before = made.currentData() if made in self._picked else None
            blocked = made.blockSignals(True)
            made.clear()
            if number == 2:
                made.addItem(self.tr("No third stack"), None)
            for choice in choices:
                made.addItem(text.plain(choice.title, _LONGEST), choice)
            wanted = _same(choices, before) or (
                ordered[number] if number < 2 and number < len(ordered) else None
            )
            made.setCurrentIndex(max(0, made.findText(text.plain(wanted.title, _LONGEST))
                                     if wanted else 0))  # fmt: skip
            made.blockSignals(blocked)
        self._allow()

    def _chosen(self) -> list[reads.Choice]:
        data = [made.currentData() for made in self.choices]
        return [choice for choice in data if choice is not None]

    def _allow(self) -> None:
        asked = bool(self.question.toPlainText().strip())
        self.go.setEnabled(asked and len(self._chosen()) > 1 and not self.running)

    def _show_running(self) -> None:
        self.go.setVisible(not self.running)
        self.halt.setVisible(self.running)
        self._show_judgement()
        self._allow()

    def _show_judgement(self) -> None:
        self.judgement.setVisible(self._kept is not None and not self.running)
        self.hint.setVisible(self._kept is None or self.running)

    def _end(self) -> None:
        for stream in self.streams:
            stream.end()
        self._task = None
        self._show_running()

    def _done(self, done: Done) -> None:
        number, kept, titles = done
        self._end()
        if self._session.current != number:
            self._session.open(number)
        self.show_kept(kept, titles)
        self._list_earlier()

    def _failed(self, error: BaseException) -> None:
        self._end()
        self.sides.show_count(0)
        if not isinstance(error, Cancelled):
            self._operations.refused.emit(error)

    def _list_earlier(self) -> None:
        number = self._session.current
        if number is None:
            self._show_earlier(())
        else:
            self._earlier.ask(lambda ws: _kept(ws, number), self._show_earlier)

    def _show_earlier(self, kept: tuple[tuple[Kept, reads.Names], ...]) -> None:
        self.earlier.clear()
        for one, titles in kept:
            self.earlier.addItem(text.plain(one.comparison.question, 40), (one, titles))
        self.earlier.setCurrentIndex(-1)
        self.earlier.setVisible(bool(kept))

    def _open_earlier(self) -> None:
        if not self.running:
            self.show_kept(*self.earlier.currentData())

    def _mark(self, kept: Kept, parts: tuple[Parts, ...]) -> None:
        if kept is self._kept and self.marked.isChecked():
            for view, of_view in zip(self.sides.views, parts, strict=False):
                view.mark(of_view)

    def _remark(self, marked: bool) -> None:
        kept = self._kept
        if kept is None:
            return
        texts = [side.text for side in kept.comparison.sides]
        if marked:
            self._operations.read(lambda ws: differences(texts), partial(self._mark, kept))
        else:
            for view, side in zip(self.sides.views, kept.comparison.sides, strict=False):
                view.end(side)

    def _vote(self, number: int) -> None:
        """Find one best; once more, none."""
        if self._kept is not None:
            voted = self._kept.comparison.vote
            self._judge(None if voted == number else number)

    def _keep_judgement(self) -> None:
        if self._kept is not None and self.note.text() != self._kept.comparison.note:
            self._judge(self._kept.comparison.vote)

    def _judge(self, vote: int | None) -> None:
        """Keep it; what is shown is what comes next, for the one after it may come before."""
        if self._kept is None:
            return
        number, note = self._kept.id, self.note.text()
        judged = msgspec.structs.replace(self._kept.comparison, vote=vote, note=note)
        self._kept = Kept(number, judged)
        self._show_vote()
        self._operations.do(
            lambda ws: ws.comparisons.judge(number, vote, note), lambda kept: self._list_earlier()
        )

    def _show_vote(self) -> None:
        vote = self._kept.comparison.vote if self._kept is not None else None
        for number, view in enumerate(self.sides.views):
            view.vote.setChecked(number == vote)

    def _escape(self) -> None:
        if self.running:
            self.stop()
        else:
            self.left.emit()


def _compared(
    workspace: Workspace,
    number: int | None,
    setup: Setup,
    question: str,
    refs: list[str],
    feeds: list[Callable[[str], None]],
    cancel: CancelToken,
) -> Outcome[Done]:
    """Compare in a conversation, which is made if there is none."""
    if number is None:
        number = workspace.history.create(title_from(question)).value.id
    changes = workspace.history.set_up(number, setup)
    done = workspace.compare(
        number, question, refs, on_side=lambda side, said: feeds[side](said), cancel=cancel
    )
    value = (number, done.value, reads.titles(workspace, _ids(done.value)))
    return Outcome(value, merged(changes, done.changes))


def _kept(workspace: Workspace, number: int) -> tuple[tuple[Kept, reads.Names], ...]:
    kept = workspace.comparisons.of(number)
    return tuple((one, reads.titles(workspace, _ids(one))) for one in kept)


def _ids(kept: Kept) -> set[Digest]:
    return {side.composition_id for side in kept.comparison.sides}


def _title(side: Side, titles: reads.Names) -> str:
    return text.plain(titles.get(side.composition_id, ""), 60)


def _same(choices: tuple[reads.Choice, ...], before: reads.Choice | None) -> reads.Choice | None:
    """What was chosen before, as it is now."""
    if before is None:
        return None
    wanted = (before.base, before.composition)
    return next((c for c in choices if (c.base, c.composition) == wanted), None)
