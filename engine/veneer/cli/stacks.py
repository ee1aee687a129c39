"""`compose`, `export`, `activate`, `rollback`, `status`: what runs."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from veneer.activation.activator import Activation
from veneer.cli.session import ConfirmFlag, JsonFlag, LaneOption, Session, milliseconds, session_of
from veneer.errors import UsageError
from veneer.identity import short


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(compose)
    app.command()(export)
    app.command()(activate)
    app.command()(rollback)
    app.command()(status)


def compose(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call the stack.")],
    base: Annotated[str, typer.Option("--base", help="The base under it.")],
    adapter: Annotated[
        list[str] | None,
        typer.Option("--adapter", help="REF or REF=SCALE; again for each, bottom first."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Save a stack: a base and adapters with their strengths."""
    session = session_of(context)
    pairs = [_pair(text) for text in adapter or []]
    with session.write() as workspace:
        done = session.take(workspace.compose(base, pairs, name=name))
    if json:
        session.print_json({"composition_id": done.id, "name": done.name})
    else:
        session.out.print(f"{done.name}  {short(done.id, 12)}", markup=False)


def export(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A stack, or a composition's id.")],
    file: Annotated[Path, typer.Argument(help="The .slm file to write.")],
    with_base: Annotated[bool, typer.Option("--with-base", help="Pack the base too.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Write over a file.")] = False,
    json: JsonFlag = False,
) -> None:
    """Pack a stack and its adapters into one file, which `import` takes in elsewhere."""
    session = session_of(context)
    with session.read() as workspace, session.progress(file.name, json=json) as report:
        done = workspace.export(
            ref,
            session.path(file),
            with_base=with_base,
            replace=replace,
            progress=report,
            cancel=session.cancel,
        )
    if json:
        session.print_json(done)
    else:
        session.out.print(f"{done.path}  {short(done.composition_id, 12)}", markup=False)


def activate(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A stack, a composition's id, or a base alone.")],
    confirm_base: ConfirmFlag = False,
    lane: LaneOption = None,
    json: JsonFlag = False,
) -> None:
    """Switch to a composition, completely or not at all. A lane is kept as the setting."""
    session = session_of(context)
    with session.write() as workspace, session.progress("verifying", json=json) as report:
        done = session.take(
            workspace.activate(
                ref,
                by="cli",
                confirm_base=confirm_base,
                lane=lane,
                progress=report,
                cancel=session.cancel,
            )
        )
    _print_activation(session, done, json)


def rollback(
    context: typer.Context,
    to: Annotated[int | None, typer.Option(help="The generation to go back to.")] = None,
    json: JsonFlag = False,
) -> None:
    """Go back to the composition before this one, as a new generation."""
    session = session_of(context)
    with session.write() as workspace, session.progress("verifying", json=json) as report:
        done = session.take(
            workspace.rollback(to, by="cli", progress=report, cancel=session.cancel)
        )
    _print_activation(session, done, json)


def status(context: typer.Context, json: JsonFlag = False) -> None:
    """Show what is active."""
    session = session_of(context)
    with session.read() as workspace:
        active = workspace.active()
        root = str(workspace.root)
    if json:
        session.print_json(
            {
                "workspace": root,
                "generation": active[0].number if active else None,
                "composition_id": active[1].id if active else None,
                "name": active[1].name if active else None,
            }
        )
    elif active is None:
        session.out.print(f"Nothing is active yet. Workspace: {root}", markup=False)
    else:
        generation, composition = active
        label = composition.name or "(unnamed)"
        session.out.print(
            f"generation {generation.number}: {label}  {short(composition.id, 12)}", markup=False
        )


def _pair(text: str) -> tuple[str, float | None]:
    ref, equals, scale = text.rpartition("=")
    if not equals:
        return text, None
    try:
        return ref, float(scale)
    except ValueError as error:
        raise UsageError(f"“{scale}” in --adapter {text} is not a number.") from error


def _print_activation(session: Session, done: Activation, json: bool) -> None:
    if json:
        session.print_json(msgspec.to_builtins(done))
        return
    what = milliseconds(done.timings_ms) if done.changed else "it was active already"
    session.out.print(
        f"generation {done.generation}: {short(done.composition_id, 12)} {done.state} ({what})",
        markup=False,
    )
