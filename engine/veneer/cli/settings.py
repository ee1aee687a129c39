"""`settings`: what is chosen for the workspace, shown and changed."""

import os
import re
from typing import Annotated, Any

import msgspec
import typer

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.store.settings import Settings, checked, known

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(settings)


def settings(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The one to show or change.")] = None,
    value: Annotated[
        str | None,
        typer.Argument(help="Its new value, or “default”. 8G is 8 * 1024^3; folders as in PATH."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show the settings of the workspace, or change one."""
    session = session_of(context)
    if name is None or value is None:
        with session.read() as workspace:
            kept = workspace.settings
    else:
        with session.write() as workspace:
            kept = msgspec.structs.replace(workspace.settings, **{name: _meant(name, value)})
            workspace.change_settings(kept)
    _print(session, kept, name, json)


def _meant(name: str, text: str) -> Any:
    default = getattr(Settings(), known(name))
    if text == "default":
        return default
    if isinstance(default, tuple):
        return checked(name, tuple(path for path in text.split(os.pathsep) if path))
    number = re.fullmatch(r"(\d+)([KMG])", text.upper())
    exact = str(int(number[1]) * _UNITS[number[2]]) if number else text
    return checked(name, exact, strict=False)


def _print(session: Session, kept: Settings, name: str | None, json: bool) -> None:
    every = msgspec.to_builtins(kept)
    shown = every if name is None else {known(name): every[name]}
    if json:
        session.print_json(shown)
        return
    for key, value in shown.items():
        session.out.print(f"{key:>20}  {value}", markup=False)
