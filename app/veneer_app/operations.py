"""Everything the window does to the engine, off the event loop.

One thread carries out changes one after another, a few carry out reads, one carries the answer
that streams. Results come back on the main thread through one queued signal. After a change,
`changed` tells every view, once, what to look at again.

Order of an operation: `change` (or `read`, `answer`) -> a pool thread runs the work -> back on
the main thread `Task.succeeded` or `Task.failed`, then `changed`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any

from veneer.errors import VeneerError
from veneer.store.changes import Changes, Outcome
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app.qt import Qt, QtCore, Signal

Read = Callable[[Workspace], Any]
Change = Callable[[Workspace, Progress, CancelToken], Any]

_READERS = 3
_PROGRESS_EVERY = 0.05


class Task(QtCore.QObject):
    """An operation under way. Its signals arrive on the main thread."""

    progressed = Signal(object, object)
    succeeded = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.token = CancelToken()

    def cancel(self) -> None:
        """Ask the operation to stop at its next safe point."""
        self.token.cancel()


class Operations(QtCore.QObject):
    """The window's only door to the engine. `close` waits for what is running."""

    changed = Signal(object)
    settings_changed = Signal(object)
    refused = Signal(object)
    went_wrong = Signal(object)
    _arrived = Signal(object)

    def __init__(self, workspace: Workspace, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._changes = ThreadPoolExecutor(1, "veneer-change")
        self._reads = ThreadPoolExecutor(_READERS, "veneer-read")
        self._answers = ThreadPoolExecutor(1, "veneer-answer")
        self._tasks: set[Task] = set()
        self._held: list[Callable[[], object]] | None = []
        self._closed = False
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        workspace.activator.on_changes = self.announce

    def begin(self) -> None:
        """Carry out what was asked for until now, and everything later at once.

        What views ask for while they are made would only take the time of making them.
        """
        held, self._held = self._held or [], None
        for submit in held:
            submit()

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._tasks

    def read(
        self, work: Read, done: Callable[[Any], None], failed: Callable[[Any], None] | None = None
    ) -> None:
        """Look something up; `done` gets it on the main thread."""
        task = self._begin(self._reads, lambda workspace, progress, cancel: work(workspace))
        task.succeeded.connect(done)
        task.failed.connect(failed if failed is not None else self.refused)

    def do(self, work: Read, done: Callable[[Any], None] | None = None) -> None:
        """Change something short; a refusal is said in the window's bar."""
        task = self.change(lambda workspace, progress, cancel: work(workspace))
        task.failed.connect(self.refused)
        if done is not None:
            task.succeeded.connect(done)

    def change(self, work: Change) -> Task:
        """Change something. `work` gives an `Outcome`, a `Changes`, or any value."""
        return self._begin(self._changes, work)

    def answer(self, work: Change) -> Task:
        """Run an answer, so that neither reads nor changes wait for it."""
        return self._begin(self._answers, work)

    def announce(self, changes: Changes) -> None:
        """Tell every view what another program changed. From any thread."""
        if changes:
            self._post(partial(self.changed.emit, changes))

    def hand(self, call: Callable[[], None]) -> None:
        """Have something called on the main thread. From any thread."""
        self._post(call)

    def close(self) -> None:
        """Cancel everything and wait until no thread touches the engine any more."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for pool in (self._answers, self._changes, self._reads):
            pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self, pool: ThreadPoolExecutor, work: Change) -> Task:
        task = Task(self)
        if not self._closed:
            self._tasks.add(task)
            if self._held is None:
                pool.submit(self._run, task, work)
            else:
                self._held.append(lambda: pool.submit(self._run, task, work))
        return task

    def _run(self, task: Task, work: Change) -> None:
        """On a pool thread. Nothing may escape: a future that nobody asks swallows it."""
        try:
            result = work(self._workspace, self._reporter(task), task.token)
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, whatever it is
            self._post(partial(self._fail, task, error))
            return
        self._post(partial(self._succeed, task, result))

    def _reporter(self, task: Task) -> Progress:
        last = 0.0

        def report(done: int, total: int) -> None:
            nonlocal last
            if monotonic() - last >= _PROGRESS_EVERY or done >= total:
                last = monotonic()
                self._post(partial(task.progressed.emit, done, total))

        return report

    def _post(self, call: Callable[[], None]) -> None:
        if not self._closed:
            self._arrived.emit(call)

    def _deliver(self, call: Callable[[], None]) -> None:
        if not self._closed:
            call()

    def _succeed(self, task: Task, result: Any) -> None:
        value = result.value if isinstance(result, Outcome) else result
        changes = result.changes if isinstance(result, Outcome) else result
        self._tasks.discard(task)
        task.succeeded.emit(value)
        if isinstance(changes, Changes) and changes:
            self.changed.emit(changes)
        task.deleteLater()

    def _fail(self, task: Task, error: BaseException) -> None:
        self._tasks.discard(task)
        task.failed.emit(error)
        if not isinstance(error, VeneerError):
            self.went_wrong.emit(error)
        task.deleteLater()


class Latest(QtCore.QObject):
    """Reads for one view: of several that overlap, only the last one asked for is delivered."""

    def __init__(self, operations: Operations, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._operations = operations
        self._ticket = 0

    def ask(
        self, work: Read, done: Callable[[Any], None], failed: Callable[[Any], None] | None = None
    ) -> None:
        """Look something up; an answer that was overtaken is dropped."""
        self._ticket += 1
        ticket = self._ticket

        def unless_overtaken(deliver: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda value: deliver(value) if ticket == self._ticket else None

        told = None if failed is None else unless_overtaken(failed)
        self._operations.read(work, unless_overtaken(done), told)


def merged(first: Changes, second: Changes) -> Changes:
    """What two operations changed together."""
    return Changes(
        bases=first.bases | second.bases,
        adapters=first.adapters | second.adapters,
        compositions=first.compositions | second.compositions,
        generations=first.generations | second.generations,
        conversations=first.conversations | second.conversations,
    )
