"""`demo`: the whole promise in one command, on the embedded base."""

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from veneer import demo as material
from veneer.cli.session import JsonFlag, Session, milliseconds, session_of
from veneer.demo.tour import DemoResult, DemoStep, run_demo
from veneer.identity import short
from veneer.store.changes import Changes
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(demo)


def demo(
    context: typer.Context,
    headless: Annotated[bool, typer.Option("--headless", help="Never open the window.")] = False,
    json: JsonFlag = False,
) -> None:
    """Import the embedded base and the demo adapters, switch among them, and prove it."""
    session = session_of(context)
    with session.write() as workspace, session.progress("importing", json=json) as report:
        if not json:
            session.out.print(f"Asking each time: {material.QUESTION}\n", markup=False)
        told = _nothing if json else _printer(session)
        result = run_demo(workspace, report, told, session.cancel)
        session.tell(_all_of(workspace))
    if json:
        session.print_json(result)
    else:
        _print_proof(session, result)
    session.exit_code = 0 if result.base_repeats_exactly and result.base_unchanged else 1
    if session.open_window is not None and not headless and not json and has_display():
        session.exit_code = session.open_window(session.root, ())


def _all_of(workspace: Workspace) -> Changes:
    """The tour touches nearly everything, so everything is looked at again."""
    active = workspace.active()
    return Changes(
        bases=frozenset(base.digest for base in workspace.library.bases()),
        adapters=frozenset(adapter.digest for adapter in workspace.library.adapters()),
        compositions=frozenset(stack.id for stack in workspace.stacks.saved()),
        generations=frozenset({active[0].number} if active is not None else ()),
    )


def has_display() -> bool:
    """Whether a window could be shown."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _nothing(step: DemoStep) -> None:
    """With --json, steps are printed at the end."""


def _printer(session: Session) -> Callable[[DemoStep], None]:
    def show(step: DemoStep) -> None:
        session.out.print(f"{step.name}  {short(step.composition_id, 12)}", markup=False)
        session.out.print(
            f"  switched in {milliseconds(step.timings_ms)}; {step.tokens_per_second:.0f} tokens/s",
            markup=False,
        )
        session.out.print(f"  {step.text.strip()}\n", markup=False)

    return show


def _print_proof(session: Session, result: DemoResult) -> None:
    same = "the same, token for token" if result.base_repeats_exactly else "DIFFERENT"
    file = "unchanged" if result.base_unchanged else "CHANGED"
    session.out.print(f"The base's first and last answers are {same}.", markup=False)
    session.out.print(f"The base file is {file}: {result.base_sha256_after}", markup=False)
