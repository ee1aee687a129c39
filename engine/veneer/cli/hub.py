"""`hub-token`: who one is to the hub from which adapters are imported."""

import sys
from typing import Annotated

import typer

from veneer.cli.session import JsonFlag, session_of
from veneer.store import hub


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("hub-token")(hub_token)


def hub_token(
    context: typer.Context,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the one that is typed, unseen, or piped in.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Keep none any longer.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show whether there is a token for the hub; it is kept in the system's keyring alone."""
    session = session_of(context)
    if forget:
        hub.keep_token("")
    elif keep:
        # This command opens no workspace, so nobody else is ever asked to carry it out.
        terminal = sys.stdin.isatty()
        with session.ctrl_c.heeded():
            typed = typer.prompt("Token", hide_input=True) if terminal else sys.stdin.readline()
        hub.keep_token(typed)
    kept = hub.has_token()
    if json:
        session.print_json({"kept": kept})
    else:
        session.out.print("A token is in the keyring." if kept else "There is no token.")
