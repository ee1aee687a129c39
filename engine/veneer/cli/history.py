"""`history`: every generation, who asked for it, when it came how far, and why it ended there."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from veneer.activation.journal import Generation, Transition
from veneer.cli.session import JsonFlag, milliseconds, session_of
from veneer.identity import Digest, short
from veneer.workspace import Workspace

Names = Mapping[Digest, str]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(history)


def history(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many, at most.")] = 200,
    json: JsonFlag = False,
) -> None:
    """List the generations, newest first: who asked, when, and what became of each.

    Times are UTC; those after the first are counted from it.
    """
    session = session_of(context)
    with session.read() as workspace:
        generations = workspace.journal.all(limit)
        names = _names(workspace)
    if json:
        session.print_json(
            [msgspec.to_builtins(g) | {"name": names.get(g.composition)} for g in generations]
        )
        return
    for generation in generations:
        for line in _lines(generation, names):
            session.out.print(line, markup=False)


def _names(workspace: Workspace) -> Names:
    named = workspace.library.named() + workspace.stacks.named()
    return {n.digest: n.name for n in named if n.name is not None}


def _lines(generation: Generation, names: Names) -> Iterator[str]:
    called = names.get(generation.composition) or "(unnamed)"
    back = f", back to {generation.restores}" if generation.restores else ""
    yield (
        f"{generation.number:>5}  {generation.state:<9}  {short(generation.composition, 12)}  "
        f"{called}  by {generation.requested_by}{back}"
    )
    yield f"       {', '.join(_passed(generation.transitions))}"
    if generation.timings_ms:
        yield f"       {milliseconds(generation.timings_ms)}"
    if generation.reason:
        yield f"       {generation.reason}"
    for pair in generation.confirmed:
        adapter, base = (names.get(d) or short(d, 12) for d in (pair.adapter, pair.base))
        yield f"       confirmed: “{adapter}” belongs on “{base}”"


def _passed(transitions: tuple[Transition, ...]) -> Iterator[str]:
    """The states in turn: when it entered the first, and how long after that each other one."""
    first, *later = transitions
    begun = datetime.fromisoformat(first.at)
    yield f"{first.state} {begun:%Y-%m-%d %H:%M:%S}"
    for transition in later:
        after = datetime.fromisoformat(transition.at) - begun
        yield f"{transition.state} +{after.total_seconds():.3f} s"
