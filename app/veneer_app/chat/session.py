"""The conversation at hand: opening, asking, stopping. No widgets.

Order of a question: a conversation is made if there is none -> `began` -> the answer streams
(`stream.grew`) -> `ended` -> the conversation is read again and `shown`.
"""

from dataclasses import dataclass
from typing import Any

from veneer.chat.conversation import Conversation, Message, title_from
from veneer.errors import Cancelled
from veneer.store.changes import Changes
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app import reads
from veneer_app.chat.sampling import Chosen
from veneer_app.chat.stream import Stream
from veneer_app.operations import Latest, Operations, Task
from veneer_app.qt import QtCore, Signal


@dataclass(frozen=True)
class Asking:
    """A question that is being answered."""

    conversation: int
    question: str


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
        self._creating = False
        self.stream = Stream(self)
        self.current: int | None = None
        self.asking: Asking | None = None
        operations.changed.connect(self._changed)

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._creating or self.asking is not None

    @property
    def live(self) -> Asking | None:
        """What is being answered in the conversation that is open."""
        here = self.asking is not None and self.asking.conversation == self.current
        return self.asking if here else None

    def refresh(self) -> None:
        """Read the list and the open conversation again."""
        self._list.ask(lambda ws: ws.history.all(), self.listed.emit)
        self.reload()

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

    def send(self, question: str, chosen: Chosen) -> bool:
        """Ask. False if there is nothing to ask, or an answer is on its way."""
        if self.busy or not question.strip():
            return False
        if self.current is not None:
            self._ask(self.current, question, chosen)
            return True
        self._creating = True

        def made(conversation: Conversation) -> None:
            self._creating = False
            self.current = conversation.id
            self._ask(conversation.id, question, chosen)

        task = self._operations.change(
            lambda ws, progress, cancel: ws.history.create(title_from(question))
        )
        task.succeeded.connect(made)
        task.failed.connect(self._not_made)
        return True

    def stop(self) -> None:
        """Stop the answer; what was said stays."""
        if self._task is not None:
            self._task.cancel()

    def rename(self, number: int, title: str) -> None:
        """Give a conversation another title."""
        self._operations.do(lambda ws: ws.history.rename(number, title))

    def delete(self, number: int) -> None:
        """Delete a conversation, after the answer that it may be waiting for was stopped."""
        if self.asking is not None and self.asking.conversation == number:
            self.stop()
        if self.current == number:
            self.open(None)
        # In the answers' own queue, so that no answer is written to what is gone.
        task = self._operations.answer(lambda ws, progress, cancel: ws.history.delete(number))
        task.failed.connect(self._operations.refused)

    def _ask(self, number: int, question: str, chosen: Chosen) -> None:
        self.asking = Asking(number, question)
        self.stream.begin()
        self.began.emit(self.asking)
        feed = self.stream.feed

        def work(workspace: Workspace, progress: Progress, cancel: CancelToken) -> Any:
            workspace.history.set_up(number, chosen.setup)
            return workspace.talk.say(number, question, on_text=feed, cancel=cancel)

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
