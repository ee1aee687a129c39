"""`version`, and the commands of the window: `window`, `shots`, and no command at all."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.compose.lanes import Offer
from veneer.errors import RuntimeMissing, UsageError, VeneerError
from veneer.workspace import VERSION, Workspace


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A way for adapters to reach the arithmetic; `why_not` is empty if it is available.

    `kernels` says by which machine code, where Veneer has its own.
    """

    name: str
    available: bool
    why_not: str
    kernels: str = ""

    def __str__(self) -> str:
        """The line to read."""
        state = "available" if self.available else f"not available: {self.why_not}"
        kernels = f", with the kernels {self.kernels}" if self.kernels else ""
        return f"lane {self.name}: {state}{kernels}"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(version)
    app.command()(log)
    app.command()(window)
    app.command()(shots)


def version(context: typer.Context, json: JsonFlag = False) -> None:
    """Show the versions, and which lanes are available."""
    session = session_of(context)
    with session.read() as workspace:
        offer, why_not = _runtime(workspace)
    build = None if offer is None else offer.build
    no_overlay = why_not if offer is None else offer.why_not
    lanes = [
        Lane(name="stock", available=offer is not None, why_not=why_not),
        Lane(
            name="overlay",
            available=not no_overlay,
            why_not=no_overlay,
            kernels="" if offer is None else offer.overlay,
        ),
    ]
    if json:
        gpus = () if offer is None else offer.gpus
        session.print_json({"veneer": VERSION, "llama_cpp": build, "gpus": gpus, "lanes": lanes})
        return
    session.out.print(f"veneer {VERSION}\n{build or why_not}", markup=False)
    for lane in lanes:
        session.out.print(str(lane), markup=False)
    if offer is not None and offer.gpus:
        session.out.print(f"GPUs: {', '.join(offer.gpus)}", markup=False)


def log(context: typer.Context, json: JsonFlag = False) -> None:
    """Show the end of what llama.cpp printed."""
    session = session_of(context)
    with session.read() as workspace:
        text = workspace.runtime_log()
    if json:
        session.print_json({"log": text})
    else:
        session.out.print(text, markup=False)


def shots(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(help="Where to write the pictures.")],
    json: JsonFlag = False,
) -> None:
    """Draw each place of the window in each state and look to a PNG file, without a display."""
    session = session_of(context)
    if session.render_shots is None:
        raise UsageError("The window is not installed.")
    paths = session.render_shots(session.root, session.path(directory))
    if json:
        session.print_json([str(path) for path in paths])
    else:
        for path in paths:
            session.out.print(str(path), markup=False)


def window(
    context: typer.Context,
    files: Annotated[list[Path] | None, typer.Argument(help="Files or folders to import.")] = None,
) -> None:
    """Open the window, or bring the open one to the front, and import files in it."""
    session = session_of(context)
    open_window(session, tuple(map(session.path, files or ())))


def open_window(session: Session, files: tuple[Path, ...] = ()) -> None:
    """What `veneer` alone does."""
    if session.open_window is None:
        raise UsageError("The window is not installed. See: veneer --help")
    session.exit_code = session.open_window(session.root, files)


def _runtime(workspace: Workspace) -> tuple[Offer | None, str]:
    try:
        return workspace.runtime_offer(), ""
    except RuntimeMissing as error:
        return None, error.message
    except VeneerError as error:
        return None, f"{error.full_code}: {error.message}"
