"""What every command needs: the workspace, how to print, and how to show progress.

With `--json` a command prints exactly one JSON document on standard output and no progress.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from veneer.tasks import Progress as Report
from veneer.tasks import silent
from veneer.workspace import Workspace

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]

OpenWindow = Callable[[Path | None], int]
RenderShots = Callable[[Path | None, Path], tuple[Path, ...]]


@dataclass
class Session:
    """One run of the command line. The front ends are handed in: the engine knows no window."""

    open_window: OpenWindow | None = None
    render_shots: RenderShots | None = None
    root: Path | None = None
    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    exit_code: int = 0

    def read(self) -> Workspace:
        """The workspace, for a command that only looks."""
        return Workspace.open(self.root, writable=False, by="cli")

    def write(self) -> Workspace:
        """The workspace, for a command that changes something or runs the model."""
        workspace = Workspace.open(self.root, by="cli")
        replaced = workspace.recovery.replaced
        if replaced is not None:
            instead = f"generation {replaced.new} took its place" if replaced.new else "nothing can"
            self.err.print(
                f"note: generation {replaced.old} cannot run ({replaced.reason}); {instead}.",
                markup=False,
            )
        return workspace

    @contextmanager
    def progress(self, title: str, *, json: bool) -> Generator[Report]:
        """A progress bar in bytes, on a terminal; elsewhere and with --json nothing."""
        if json or not sys.stderr.isatty():
            yield silent
            return
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        with Progress(*columns, TransferSpeedColumn(), console=self.err, transient=True) as bar:
            task = bar.add_task(title, total=None)

            def report(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total or None)

            yield report


def session_of(context: typer.Context) -> Session:
    """The session of a command's context."""
    session = context.obj
    assert isinstance(session, Session)
    return session


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def milliseconds(timings: dict[str, float]) -> str:
    """Timings for people: the steps themselves, without their parts."""
    whole = {name: value for name, value in timings.items() if "_" not in name}
    return ", ".join(f"{name} {value:.0f} ms" for name, value in whole.items())
