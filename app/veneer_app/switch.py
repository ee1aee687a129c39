"""The one switch: whoever wants another composition active asks here.

While it runs, the durable journal is read every few milliseconds, so that what is shown as
validated or staged really is. Asking again while it runs cancels the first request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from veneer.activation.journal import Generation
from veneer.errors import Cancelled, ConfirmBase
from veneer.identity import Digest
from veneer.store.changes import Outcome
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app import reads
from veneer_app.operations import Operations, Task, merged
from veneer_app.qt import QtCore, Signal

_LOOK_EVERY_MS = 60
Status = Literal["idle", "running", "done", "failed"]
STEPS: tuple[str, ...] = ("VALIDATED", "STAGED", "COMMITTED")
Parts = tuple[tuple[Digest, float], ...]


@dataclass(frozen=True)
class SwitchState:
    """Where the switch is. `took_ms` has the steps that are done, in order."""

    status: Status = "idle"
    title: str = ""
    took_ms: Mapping[str, float] = field(default_factory=dict)
    error: BaseException | None = None
    unchanged: bool = False


@dataclass(frozen=True)
class Unsure:
    """Nothing was begun, because somebody must say first that an adapter belongs on its base.

    `again` repeats the request with that confirmation.
    """

    error: ConfirmBase
    again: Callable[[], None]


class Switch(QtCore.QObject):
    """Activates and rolls back; `stated` follows every step, `unsure` carries a question."""

    stated = Signal(object)
    unsure = Signal(object)

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._operations = operations
        self._task: Task | None = None
        self._before = 0
        self.state = SwitchState()
        self._repeat: Callable[[], None] = lambda: None
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)

    @property
    def running(self) -> bool:
        """Whether a switch is under way."""
        return self.state.status == "running"

    def to_stack(self, composition: Digest, title: str, *, confirm_base: bool = False) -> None:
        """Activate a composition that exists."""
        self._begin(
            title,
            lambda ws, progress, cancel: ws.activate(
                composition, confirm_base=confirm_base, progress=progress, cancel=cancel
            ),
            again=lambda: self.to_stack(composition, title, confirm_base=True),
        )

    def to_parts(
        self,
        base: Digest,
        adapters: Parts,
        title: str,
        *,
        name: str | None = None,
        confirm_base: bool = False,
    ) -> None:
        """Activate a base with these adapters, bottom first; none means the base alone.

        With a name it is saved as a stack first.
        """

        def work(workspace: Workspace, progress: Progress, cancel: CancelToken) -> Outcome[Any]:
            made = workspace.compose(base, adapters, name=name)
            done = workspace.activate(
                made.value.id, confirm_base=confirm_base, progress=progress, cancel=cancel
            )
            return Outcome(done.value, merged(made.changes, done.changes))

        self._begin(
            title,
            work,
            again=lambda: self.to_parts(base, adapters, title, name=name, confirm_base=True),
        )

    def to_choice(self, choice: reads.Choice) -> None:
        """Activate what one click offers."""
        if choice.composition is None:
            self.to_parts(choice.base, (), choice.title)
        else:
            self.to_stack(choice.composition, choice.title)

    def roll_back(self, to: int | None = None, title: str = "") -> None:
        """Return to an earlier generation, or to the one before."""
        self._begin(
            title,
            lambda ws, progress, cancel: ws.rollback(to, progress=progress, cancel=cancel),
            again=lambda: self.roll_back(to, title),
        )

    def retry(self) -> None:
        """Ask again for what failed last, or have the worker run what is active."""
        if self.state.status == "failed":
            self._repeat()
            return
        task = self._operations.change(
            lambda ws, progress, cancel: ws.activator.ensure_running(cancel)
        )
        task.failed.connect(self._operations.refused)

    def cancel(self) -> None:
        """Stop the switch; what was active stays active."""
        if self._task is not None:
            self._task.cancel()

    def _begin(self, title: str, work: Callable[..., Any], again: Callable[[], None]) -> None:
        self.cancel()
        self._repeat = lambda: self._begin(title, work, again)
        self._set(SwitchState("running", title))
        # Only generations that are newer than this one belong to the request.
        self._before = -1

        def noted(workspace: Workspace, progress: Progress, cancel: CancelToken) -> Any:
            newest = reads.newest_generation(workspace)
            self._before = newest.number if newest is not None else 0
            return work(workspace, progress, cancel)

        task = self._operations.change(noted)
        task.succeeded.connect(lambda value: self._succeeded(task, value))
        task.failed.connect(lambda error: self._failed(task, error, again))
        self._task = task
        self._timer.start()

    def _succeeded(self, task: Task, value: Any) -> None:
        if task is self._task:
            self._end(SwitchState("done", self.state.title, unchanged=not value.changed))

    def _failed(self, task: Task, error: BaseException, again: Callable[[], None]) -> None:
        if task is self._task and isinstance(error, ConfirmBase):
            self._end(SwitchState())
            self.unsure.emit(Unsure(error, again))
        elif task is self._task:
            status: Status = "idle" if isinstance(error, Cancelled) else "failed"
            self._end(SwitchState(status, self.state.title, error=error))

    def _end(self, state: SwitchState) -> None:
        self._timer.stop()
        self._task = None
        self._set(state)
        self._look()

    def _look(self) -> None:
        self._operations.read(reads.newest_generation, self._seen)

    def _seen(self, newest: Generation | None) -> None:
        if newest is None or self._before < 0 or newest.number <= self._before:
            return
        self._set(
            SwitchState(
                self.state.status,
                self.state.title,
                took_of(newest),
                self.state.error,
                self.state.unchanged,
            )
        )

    def _set(self, state: SwitchState) -> None:
        self.state = state
        self.stated.emit(state)


def took_of(generation: Generation) -> dict[str, float]:
    """Milliseconds of each step that a generation has behind it."""
    took: dict[str, float] = {}
    for before, after in zip(generation.transitions, generation.transitions[1:], strict=False):
        if after.state in STEPS:
            took[after.state] = _between(before.at, after.at)
    return took


def _between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1000
