"""`import`, `list`, `inspect`, `check`, `remove`: what a person has."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from veneer.activation.admission import estimate
from veneer.activation.running import context_of
from veneer.cli import facts, verdict
from veneer.cli.session import JsonFlag, Session, session_of
from veneer.compose.stacks import Composition
from veneer.identity import short
from veneer.store.records import StoredAdapter, StoredBase
from veneer.workspace import Workspace


class Kind(StrEnum):
    """What can be listed."""

    bases = "bases"
    adapters = "adapters"
    compositions = "compositions"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("import")(import_)
    app.command("list")(list_)
    app.command("inspect")(inspect)
    app.command("check")(check)
    app.command("remove")(remove)


def import_(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            help="A GGUF file, an adapter's file or folder, a .slm, or hf:OWNER/NAME[@REVISION]."
        ),
    ],
    copy: Annotated[bool, typer.Option("--copy", help="Copy a base in, not link it.")] = False,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    json: JsonFlag = False,
) -> None:
    """Bring in a base, an adapter, or a stack that was exported."""
    session = session_of(context)
    with session.write() as workspace, session.progress(path.name, json=json) as report:
        done = session.take(
            workspace.import_path(
                session.path(path),
                copy=copy,
                name=name,
                progress=report,
                cancel=session.cancel,
            )
        )
    if json:
        session.print_json(done)
        return
    already = " (it was here already)" if done.already else ""
    session.out.print(f"{done.kind} {done.name}  {short(done.id, 12)}{already}", markup=False)


def list_(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    json: JsonFlag = False,
) -> None:
    """List bases, adapters or compositions."""
    session = session_of(context)
    with session.read() as workspace:
        match kind:
            case Kind.bases:
                rows = [facts.base_row(b) for b in workspace.library.bases()]
            case Kind.adapters:
                rows = [facts.adapter_row(a) for a in workspace.library.adapters()]
            case Kind.compositions:
                rows = [facts.stack_row(c) for c in workspace.stacks.saved()]
                for stack in workspace.stacks.unreadable():
                    session.note(f"“{stack.name}”: {stack.problem}")
    if json:
        session.print_json(rows)
    else:
        _print_table(session, kind, rows)


def inspect(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A name, or an id's first digits.")],
    ctx: Annotated[
        int | None, typer.Option("--ctx", min=1, help="Tokens, for the memory a base needs.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show everything known about one base, adapter or composition."""
    session = session_of(context)
    with session.read() as workspace:
        document, lines = _facts(workspace, workspace.find(ref), ctx)
    if json:
        session.print_json(document)
        return
    for name, value in lines:
        session.out.print(f"{name:>20}  {value}", markup=False)


def check(
    context: typer.Context,
    adapter: Annotated[str, typer.Argument(help="The adapter.")],
    base: Annotated[str, typer.Option("--base", help="The base.")],
    every: Annotated[bool, typer.Option("--all", "-v", help="Print every problem.")] = False,
    json: JsonFlag = False,
) -> None:
    """Tell whether an adapter applies to a base, and how completely."""
    session = session_of(context)
    with session.read() as workspace:
        report = workspace.check(adapter, base)
    if json:
        session.print_json(report)
    else:
        for line in verdict.lines(adapter, base, report, every=every):
            session.out.print(line, markup=False)
    session.exit_code = 0 if report.ok else 1


def remove(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A base, an adapter, or a stack's name.")],
    json: JsonFlag = False,
) -> None:
    """Remove a stack's name, or a base or adapter that no stack needs.

    Linked files stay; “veneer gc” removes others when no kept generation needs them.
    """
    session = session_of(context)
    with session.write() as workspace:
        session.tell(workspace.forget(ref))
    if json:
        session.print_json({"removed": ref})
    else:
        session.out.print(f"removed {ref}", markup=False)


def _facts(
    workspace: Workspace, found: StoredBase | StoredAdapter | Composition, ctx: int | None
) -> tuple[dict[str, Any], Iterable[facts.Line]]:
    """What is known, as a document and as lines."""
    if isinstance(found, StoredBase):
        context = context_of(workspace.settings)
        if ctx is not None:
            context = msgspec.structs.replace(context, n_ctx=ctx)
        needed = estimate(found, (), context)
        made = facts.base_facts(found, needed, context.n_ctx)
        return made, facts.base_lines(found, needed, context.n_ctx)
    if isinstance(found, StoredAdapter):
        return facts.adapter_facts(found), facts.adapter_lines(found)
    made = facts.composition_facts(found, workspace.signatures.standing(found))
    return made, facts.lines(made)


def _print_table(session: Session, kind: Kind, rows: list[dict[str, Any]]) -> None:
    if not rows:
        session.out.print(f"No {kind.value} yet.")
        return
    table = Table(box=None, pad_edge=False)
    columns = [c for c in rows[0] if c not in {"path", "copied", "base_model"}]
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(facts.cell(column, row[column]) for column in columns))
    session.out.print(table, markup=False)
