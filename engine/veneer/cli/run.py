"""Arguments in, exit code out.

A person's mistake is one line, `error[CODE]: sentence`, on standard error and exit code 1; with
`--json` the same also as a JSON document on standard output. A traceback means a bug.

A command that needs a workspace which another process holds is carried out by that process: it
gets the whole command line, and its output comes back here.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from veneer.cli import (
    about,
    chat,
    demo,
    history,
    hub,
    library,
    naming,
    settings,
    signing,
    stacks,
    upkeep,
)
from veneer.cli.session import OpenWindow, RenderShots, Session, Tell, nobody, session_of
from veneer.cli.terminal import CallersTerminal
from veneer.control.client import hand_over
from veneer.control.messages import Run
from veneer.control.server import Caller, Server, Show
from veneer.errors import UsageError, VeneerError, WorkspaceBusy
from veneer.workspace import Workspace, default_path

# What typer makes of Ctrl-C, as a return value and not as an exception.
_INTERRUPTED = 130
_INSISTED = (
    "Stopped at once, so what was begun may be done or not. “veneer status” and “veneer history” "
    "tell what became of it."
)
_PATIENCE = 2.0
"""Seconds in which a holder that is just starting or ending is asked again."""

_HELP = """Stack, weigh, switch and share LoRA adapters over one immutable GGUF base.

Without a command, opens the window. A REF is a name, or the first digits of an id; where a name
fits two kinds of thing, write base:NAME, adapter:NAME or composition:NAME. If the workspace is
open in a window or another terminal, the command is carried out there."""

app = typer.Typer(
    help=_HELP, add_completion=False, invoke_without_command=True, rich_markup_mode=None
)
GROUPS = (
    library, naming, stacks, history, signing, settings, hub, chat, upkeep, demo, about,
)  # fmt: skip
for group in GROUPS:
    group.register(app)


@app.callback()
def _global(
    context: typer.Context,
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", help="The workspace's folder (default: $VENEER_HOME)."),
    ] = None,
) -> None:
    session = session_of(context)
    session.root = workspace
    if context.invoked_subcommand is None:
        about.open_window(session)


def run(
    arguments: Sequence[str] | None = None,
    *,
    open_window: OpenWindow | None = None,
    render_shots: RenderShots | None = None,
) -> int:
    """Carry out one command line; gives the exit code."""
    words = tuple(sys.argv[1:] if arguments is None else arguments)
    session = Session(open_window=open_window, render_shots=render_shots, serve=serve)
    return _reported(words, session)


def serve(workspace: Workspace, tell: Tell = nobody, show: Show | None = None) -> Server:
    """Carry out the command lines of other processes until the server is closed.

    `tell` hears, on the asker's thread, what each of them changed; `show` brings up the window.
    """

    def carry(asked: Run, caller: Caller) -> int:
        session = Session(
            terminal=CallersTerminal(asked, caller),
            held=workspace,
            tell=tell,
            cancel=caller.cancel,
        )
        return _reported(asked.words, session)

    return Server(workspace.root, carry, show)


def _reported(words: Sequence[str], session: Session) -> int:
    try:
        code = _carried_out(words, session)
    except VeneerError as error:
        return _report(session, error.full_code, error.message, words)
    except typer.TyperException as error:
        return _report(session, UsageError.code, error.format_message(), words)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        return 1
    if code == _INTERRUPTED:
        said = _INSISTED if session.ctrl_c.insisted else "Stopped. Nothing was changed."
        return _report(session, "CANCELLED", said, words)
    return session.exit_code


def _carried_out(words: Sequence[str], session: Session) -> int | None:
    """Carry a command line out here or, if the workspace is held, where it is held."""
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            return typer.main.get_command(app).main(
                list(words), prog_name="veneer", standalone_mode=False, obj=session
            )
        except WorkspaceBusy:
            code = hand_over(
                _root(session), _described(words, session), session.terminal, ctrl_c=session.ctrl_c
            )
            if code is not None:
                session.exit_code = code
                return None
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)


def _root(session: Session) -> Path:
    return (session.root or default_path()).expanduser().absolute()


def _described(words: Sequence[str], session: Session) -> Run:
    return Run(
        words=tuple(words),
        cwd=os.getcwd(),  # noqa: PTH109 - a string that goes to another process
        columns=session.err.width,
        interactive=session.err.is_terminal and session.out.is_terminal,
    )


def _report(session: Session, code: str, message: str, words: Sequence[str]) -> int:
    line = " ".join(message.split())
    session.err.print(f"error[{code}]: {line}", markup=False, soft_wrap=True)
    if "--json" in words:
        session.print_json({"error": {"code": code, "message": line}})
    return 1
