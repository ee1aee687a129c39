"""What every command needs: the workspace, how to print, and how to show progress.

With `--json` a command prints exactly one JSON document on standard output and no progress. A
command may run on behalf of another process (see `veneer.control`): then the workspace is open
already and the terminal is elsewhere, so nothing here or in the commands uses `sys` for either.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from veneer.cli.terminal import LocalTerminal, Terminal
from veneer.compose.plan import LaneWish
from veneer.control.ctrl_c import CtrlC
from veneer.store import hub
from veneer.store.changes import Changes, Outcome
from veneer.tasks import CancelToken, silent
from veneer.tasks import Progress as Report
from veneer.workspace import Workspace

ConfirmFlag = Annotated[
    bool,
    typer.Option(
        "--confirm-base", help="The adapters belong on this base, though only their shapes fit."
    ),
]
LaneOption = Annotated[
    LaneWish | None,
    typer.Option("--lane", help="How adapters reach the arithmetic; auto is best on a CPU."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]

OpenWindow = Callable[[Path | None, tuple[Path, ...]], int]
RenderShots = Callable[[Path | None, Path], tuple[Path, ...]]
Serve = Callable[[Workspace], AbstractContextManager[Any]]
Tell = Callable[[Changes], None]

T = TypeVar("T")


def nobody(changes: Changes) -> None:
    """Where nothing shows what the workspace holds, nobody need know of changes."""


@dataclass
class Session:
    """One run of the command line. The front ends are handed in: the engine knows no window.

    `held` is the workspace of the process that carries the command out for another; `serve`
    answers other processes while a workspace is open for writing; `tell` hears every change.
    """

    open_window: OpenWindow | None = None
    render_shots: RenderShots | None = None
    root: Path | None = None
    terminal: Terminal = field(default_factory=LocalTerminal)
    held: Workspace | None = None
    serve: Serve | None = None
    tell: Tell = nobody
    cancel: CancelToken = field(default_factory=CancelToken)
    exit_code: int = 0

    def __post_init__(self) -> None:
        self.out: Console = self.terminal.console("out")
        self.err: Console = self.terminal.console("err")
        self.ctrl_c = CtrlC(self.cancel.cancel)

    def read(self) -> Workspace:
        """The workspace, for a command that only looks."""
        root = self.root if self.held is None else self.held.root
        return Workspace.open(root, writable=False, by="cli")

    @contextmanager
    def write(self) -> Generator[Workspace]:
        """The workspace, for a command that changes something or runs the model."""
        if self.held is not None:
            yield self.held
            return
        with self.ctrl_c, Workspace.open(self.root, by="cli") as workspace:
            self._tell_recovery(workspace)
            if self.serve is None:
                yield workspace
                return
            with self.serve(workspace):
                yield workspace

    def take(self, outcome: Outcome[T]) -> T:
        """The value of an operation, once its changes are told."""
        self.tell(outcome.changes)
        return outcome.value

    def read_line(self, prompt: str) -> str | None:
        """A line without its end, or None at the end of input. Ctrl-C ends the wait."""
        with self.ctrl_c.heeded():
            return self.terminal.read_line(prompt)

    def path(self, path: Path) -> Path:
        """A path, or a repository of a hub, as whoever typed it means it."""
        return path if hub.parse(path) else self.terminal.cwd / path

    def note(self, sentence: str) -> None:
        """Something worth knowing beside the result, on one line of standard error."""
        self.err.print(f"note: {sentence}", markup=False, soft_wrap=True)

    def print_json(self, value: Any) -> None:
        """One JSON document on standard output."""
        self.terminal.write("out", msgspec.json.encode(value).decode() + "\n")

    @contextmanager
    def progress(self, title: str, *, json: bool) -> Generator[Report]:
        """A progress bar in bytes, on a terminal; elsewhere and with --json nothing."""
        if json or not self.err.is_terminal:
            yield silent
            return
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        with Progress(*columns, TransferSpeedColumn(), console=self.err, transient=True) as bar:
            task = bar.add_task(title, total=None)

            def report(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total or None)

            yield report

    def _tell_recovery(self, workspace: Workspace) -> None:
        replaced = workspace.recovery.replaced
        if replaced is not None:
            instead = f"generation {replaced.new} took its place" if replaced.new else "nothing can"
            self.note(f"generation {replaced.old} cannot run ({replaced.reason}); {instead}.")


def session_of(context: typer.Context) -> Session:
    """The session of a command's context."""
    session = context.obj
    assert isinstance(session, Session)
    return session


def milliseconds(timings: dict[str, float]) -> str:
    """Timings for people: the steps themselves, without their parts."""
    whole = {name: value for name, value in timings.items() if "_" not in name}
    return ", ".join(f"{name} {value:.0f} ms" for name, value in whole.items())
