"""The conversation at hand: opening, asking, stopping. No widgets.

Order of a question: a conversation is made if there is none -> `began` -> the answer streams
(`stream.grew`) -> `ended` -> the conversation is read again and `shown`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from veneer.chat.conversation import Attachment, Conversation, Message, title_from
from veneer.chat.export import Form
from veneer.chat.setup import Setup
from veneer.errors import Cancelled
from veneer.store.changes import Changes, Outcome
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app import reads
from veneer_app.chat.stream import Stream
from veneer_app.operations import Latest, Operations, Task
from veneer_app.qt import QtCore, Signal

Deed = Literal["say", "resay", "again", "go_on"]


@dataclass(frozen=True)
class Ask:
    """What a person wants answered.

    `text` and `files` are a question's; `node` is the message in whose stead there will be another
    one; `begun` is what an answer that goes on begins with.
    """

    deed: Deed
    text: str = ""
    node: int = 0
    files: tuple[Attachment, ...] = ()
    begun: str = ""


@dataclass(frozen=True)
class Asking:
    """A question that is being answered."""

    conversation: int
    ask: Ask


@dataclass(frozen=True)
class Listed:
    """A row of the list: a conversation, and where in it the words are that were searched for."""

    conversation: Conversation
    node: int | None = None
    excerpt: str = ""


class Session(QtCore.QObject):
    """Which conversation is open, and what is being answered."""

    listed = Signal(object)
    shown = Signal(object)
    began = Signal(object)
    ended = Signal(object)
    answered = Signal(object)

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._operations = operations
        self._list = Latest(operations, self)
        self._one = Latest(operations, self)
        self._task: Task | None = None
        self._creating = self._held = False
        self._words = ""
        self.stream = Stream(self)
        self.current: int | None = None
        self.asking: Asking | None = None
        operations.changed.connect(self._changed)

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way, or stacks are being compared."""
        return self._creating or self._held or self.asking is not None

    @property
    def live(self) -> Asking | None:
        """What is being answered in the conversation that is open."""
        here = self.asking is not None and self.asking.conversation == self.current
        return self.asking if here else None

    def refresh(self) -> None:
        """Read the list and the open conversation again."""
        self.list_again()
        self.reload()

    def list_again(self) -> None:
        """Read the list again."""
        words = self._words
        self._list.ask(lambda ws: _listed(ws, words), self.listed.emit)

    def search(self, words: str) -> None:
        """List only where these words were said; none of them lists everything."""
        self._words = words.strip()
        self.list_again()

    def reload(self) -> None:
        """Read the open conversation again."""
        number = self.current
        if number is None:
            self._one.ask(lambda ws: None, self.shown.emit)
        else:
            self._one.ask(lambda ws: reads.conversation(ws, number), self.shown.emit)

    def open(self, number: int | None) -> None:
        """Open another conversation; None is one that begins with the next question."""
        self.current = number
        self.reload()

    def ask(self, ask: Ask, setup: Setup) -> bool:
        """Have something answered. False if it is nothing, or an answer is on its way."""
        nothing = ask.deed in ("say", "resay") and not (ask.text.strip() or ask.files)
        if self.busy or nothing:
            return False
        if self.current is not None:
            self._ask(self.current, ask, setup)
            return True
        self._creating = True

        def made(conversation: Conversation) -> None:
            self._creating = False
            self.current = conversation.id
            self._ask(conversation.id, ask, setup)

        title = title_from(ask.text or ask.files[0].name)
        task = self._operations.change(lambda ws, progress, cancel: ws.history.create(title, setup))
        task.succeeded.connect(made)
        task.failed.connect(self._not_made)
        return True

    def hold(self, task: Task) -> None:
        """Ask nothing until this is over."""
        self._held = True
        task.succeeded.connect(self._let_go)
        task.failed.connect(self._let_go)

    def _let_go(self, _: object) -> None:
        self._held = False

    def stop(self) -> None:
        """Stop the answer; what was said stays."""
        if self._task is not None:
            self._task.cancel()

    def show_way(self, node: int) -> None:
        """Show the way through this message instead of the one beside it."""
        number = self.current
        if number is not None and self.live is None:
            self._operations.do(lambda ws: ws.history.show(number, node))

    def delete_message(self, node: int) -> None:
        """Delete a message of the open conversation, and what follows it."""
        number = self.current
        if number is not None and self.live is None:
            self._operations.do(lambda ws: ws.history.delete_message(number, node))

    def set_up(self, setup: Setup) -> None:
        """Hold the open conversation in another way from its next answer on."""
        number = self.current
        if number is not None:
            self._operations.do(lambda ws: ws.history.set_up(number, setup))

    def rename(self, number: int, title: str) -> None:
        """Give a conversation another title."""
        self._operations.do(lambda ws: ws.history.rename(number, title))

    def pin(self, number: int, *, pinned: bool) -> None:
        """Keep a conversation at the top of the list, or no longer."""
        self._operations.do(lambda ws: ws.history.pin(number, pinned=pinned))

    def export(self, number: int, out: Path, form: Form) -> None:
        """Write a conversation to a file."""
        self._operations.do(lambda ws: ws.export_conversation(number, out, form))

    def delete(self, number: int) -> None:
        """Delete a conversation, after the answer that it may be waiting for was stopped."""
        if self.asking is not None and self.asking.conversation == number:
            self.stop()
        if self.current == number:
            self.open(None)
        # In the answers' own queue, so that no answer is written to what is gone.
        task = self._operations.answer(lambda ws, progress, cancel: ws.history.delete(number))
        task.failed.connect(self._operations.refused)

    def _ask(self, number: int, ask: Ask, setup: Setup) -> None:
        self.asking = Asking(number, ask)
        self.stream.begin(ask.begun)
        self.began.emit(self.asking)
        feed = self.stream.feed

        def work(workspace: Workspace, progress: Progress, cancel: CancelToken) -> Outcome[Message]:
            workspace.history.set_up(number, setup)
            talk = workspace.talk
            match ask.deed:
                case "say":
                    return talk.say(
                        number, ask.text, attachments=ask.files, on_text=feed, cancel=cancel
                    )
                case "resay":
                    return talk.resay(
                        number, ask.node, ask.text, attachments=ask.files, on_text=feed,
                        cancel=cancel,
                    )  # fmt: skip
                case "again":
                    return talk.again(number, ask.node, on_text=feed, cancel=cancel)
                case "go_on":
                    return talk.go_on(number, ask.node, on_text=feed, cancel=cancel)

        task = self._operations.answer(work)
        task.succeeded.connect(self._answered)
        task.failed.connect(self._failed)
        self._task = task

    def _answered(self, message: Message) -> None:
        self._finish(None)
        self.answered.emit(message.stamp)

    def _failed(self, error: BaseException) -> None:
        self._finish(None if isinstance(error, Cancelled) else error)
        # The question is kept even so.
        self.refresh()

    def _finish(self, error: BaseException | None) -> None:
        self.stream.end()
        self._task, self.asking = None, None
        self.ended.emit(error)

    def _not_made(self, error: BaseException) -> None:
        self._creating = False
        self.ended.emit(error)

    def _changed(self, changes: Changes) -> None:
        if changes.conversations:
            self.refresh()


def _listed(workspace: Workspace, words: str) -> tuple[Listed, ...]:
    if not words:
        return tuple(Listed(c) for c in workspace.history.all())
    return tuple(Listed(f.conversation, f.node, f.excerpt) for f in workspace.search(words))
