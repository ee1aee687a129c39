"""`import`, `list`, `inspect`, `check`, `remove`: what a person has."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer
from rich.table import Table

from veneer.activation.admission import mebibytes
from veneer.cli.session import JsonFlag, Session, session_of
from veneer.compose.stacks import Composition
from veneer.identity import short
from veneer.store.records import StoredAdapter, StoredBase


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
    path: Annotated[Path, typer.Argument(help="A GGUF file, or an adapter's file or folder.")],
    copy: Annotated[bool, typer.Option("--copy", help="Copy a base in, not link it.")] = False,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    json: JsonFlag = False,
) -> None:
    """Bring in a base or an adapter."""
    session = session_of(context)
    with session.write() as workspace, session.progress(path.name, json=json) as report:
        done = session.take(
            workspace.import_path(
                session.path(path), copy=copy, name=name, progress=report, cancel=session.cancel
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
                rows = [_base_row(b) for b in workspace.library.bases()]
            case Kind.adapters:
                rows = [_adapter_row(a) for a in workspace.library.adapters()]
            case Kind.compositions:
                rows = [_stack_row(c) for c in workspace.stacks.saved()]
    if json:
        session.print_json(rows)
    else:
        _print_table(session, kind, rows)


def inspect(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A name, or an id's first digits.")],
    json: JsonFlag = False,
) -> None:
    """Show everything known about one base, adapter or composition."""
    session = session_of(context)
    with session.read() as workspace:
        found = workspace.find(ref)
    facts = _facts(found)
    if json:
        session.print_json(facts)
        return
    for name, value in facts.items():
        session.out.print(f"{name:>18}  {value}", markup=False)


def check(
    context: typer.Context,
    adapter: Annotated[str, typer.Argument(help="The adapter.")],
    base: Annotated[str, typer.Option("--base", help="The base.")],
    json: JsonFlag = False,
) -> None:
    """Tell whether an adapter applies to a base, and how completely."""
    session = session_of(context)
    with session.read() as workspace:
        report = workspace.check(adapter, base)
    if json:
        session.print_json(report)
    else:
        session.out.print(
            f"{adapter} on {base}: applies {report.applies} of {report.of} tensors"
            + ("" if report.ok else ", refused"),
            markup=False,
        )
        for problem in report.problems:
            session.out.print(f"  {problem.code}: {problem.message}", markup=False)
    session.exit_code = 0 if report.ok else 1


def remove(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A base, an adapter, or a stack's name.")],
    json: JsonFlag = False,
) -> None:
    """Remove a stack's name, or a base or adapter that no stack needs. Linked files stay."""
    session = session_of(context)
    with session.write() as workspace:
        session.tell(workspace.forget(ref))
    if json:
        session.print_json({"removed": ref})
    else:
        session.out.print(f"removed {ref}", markup=False)


def _base_row(stored: StoredBase) -> dict[str, Any]:
    return {
        "id": stored.digest,
        "name": stored.name,
        "architecture": stored.base.architecture,
        "parameters": stored.base.parameters,
        "bytes": stored.base.bytes,
        "path": stored.path,
        "copied": stored.copied,
    }


def _adapter_row(stored: StoredAdapter) -> dict[str, Any]:
    return {
        "id": stored.digest,
        "name": stored.name,
        "kind": stored.adapter.kind,
        "ranks": stored.adapter.ranks,
        "targets": len(stored.adapter.targets),
        "bytes": stored.size,
        "base_model": stored.adapter.base_model,
        "default_scale": stored.default_scale,
    }


def _stack_row(composition: Composition) -> dict[str, Any]:
    semantic = composition.manifest.composition
    return {
        "id": composition.id,
        "name": composition.name,
        "base": semantic.base.digests[0],
        "adapters": [{"id": a.digest, "scale": a.scale} for a in semantic.adapters],
    }


def _facts(found: StoredBase | StoredAdapter | Composition) -> dict[str, Any]:
    match found:
        case StoredBase():
            facts = msgspec.to_builtins(found.base)
            facts["tensors"] = len(found.base.tensors)
            return {"kind": "base", **_base_row(found), **facts, "name": found.name}
        case StoredAdapter():
            facts = msgspec.to_builtins(found.adapter)
            facts["adapter_kind"] = facts.pop("kind")
            notes = {"trigger_text": found.trigger_text, "notes": found.notes}
            row = _adapter_row(found)
            return {**row, **facts, **notes, "files": found.files, "kind": "adapter"}
        case Composition():
            envelope = msgspec.to_builtins(found.manifest.envelope)
            row = _stack_row(found)
            return {"kind": "composition", **envelope, **row, "suspect": found.suspect}


def _print_table(session: Session, kind: Kind, rows: list[dict[str, Any]]) -> None:
    if not rows:
        session.out.print(f"No {kind.value} yet.")
        return
    table = Table(box=None, pad_edge=False)
    columns = [c for c in rows[0] if c not in {"path", "copied", "base_model"}]
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(_cell(column, row[column]) for column in columns))
    session.out.print(table, markup=False)


def _cell(column: str, value: Any) -> str:
    match column:
        case "id" | "base":
            return short(value, 12)
        case "bytes":
            return mebibytes(value)
        case "adapters":
            return ", ".join(f"{short(a['id'])}={a['scale']:g}" for a in value) or "none"
        case _:
            return (
                ", ".join(map(str, cast("tuple[int, ...]", value)))
                if column == "ranks"
                else str(value)
            )
