"""Arguments in, exit code out.

A person's mistake is one line, `error[CODE]: sentence`, on standard error and exit code 1; with
`--json` the same also as a JSON document on standard output. A traceback means a bug.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from veneer.cli import about, chat, demo, library, stacks
from veneer.cli.session import OpenWindow, RenderShots, Session, print_json, session_of
from veneer.errors import UsageError, VeneerError

# What typer makes of Ctrl-C, as a return value and not as an exception.
_INTERRUPTED = 130

_HELP = """Stack, weigh, switch and share LoRA adapters over one immutable GGUF base.

Without a command, opens the window. A REF is a name, or the first digits of an id; where a name
fits two kinds of thing, write base:NAME, adapter:NAME or composition:NAME."""

app = typer.Typer(
    help=_HELP, add_completion=False, invoke_without_command=True, rich_markup_mode=None
)
for group in (library, stacks, chat, demo, about):
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
    words = list(sys.argv[1:] if arguments is None else arguments)
    session = Session(open_window=open_window, render_shots=render_shots)
    try:
        code = typer.main.get_command(app).main(
            words, prog_name="veneer", standalone_mode=False, obj=session
        )
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
        return _report(session, "CANCELLED", "Stopped. Nothing was changed.", words)
    return session.exit_code


def _report(session: Session, code: str, message: str, words: Sequence[str]) -> int:
    line = " ".join(message.split())
    session.err.print(f"error[{code}]: {line}", markup=False, soft_wrap=True)
    if "--json" in words:
        print_json({"error": {"code": code, "message": line}})
    return 1
