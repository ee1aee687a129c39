"""`rename`, `note`, `pin`: what a person calls things, knows of them, and keeps at hand."""

from typing import Annotated, Any

import typer

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.compose.pins import KEYS
from veneer.errors import UsageError
from veneer.store.changes import Changes
from veneer.store.refs import Named, clean_name, resolve
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(rename)
    app.command()(note)
    app.command()(pin)


def rename(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A base, an adapter, or a stack's name.")],
    name: Annotated[str, typer.Argument(help="What to call it.")],
    json: JsonFlag = False,
) -> None:
    """Call a base, an adapter or a stack something else."""
    session = session_of(context)
    with session.write() as workspace:
        named = workspace.library.named() + workspace.stacks.named()
        session.tell(_rename(workspace, resolve(ref, named), name))
    if json:
        session.print_json({"renamed": ref, "name": clean_name(name)})
    else:
        session.out.print(f"renamed {ref} to {clean_name(name)}", markup=False)


def note(
    context: typer.Context,
    adapter: Annotated[str, typer.Argument(help="The adapter.")],
    strength: Annotated[float | None, typer.Option(help="Its usual strength.")] = None,
    trigger: Annotated[str | None, typer.Option(help="The words that call it.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag; again for each. They replace the old ones.")
    ] = None,
    notes: Annotated[str | None, typer.Option(help="Anything worth remembering.")] = None,
    system: Annotated[str | None, typer.Option(help="The system prompt to use it with.")] = None,
    license_: Annotated[str | None, typer.Option("--license", help="Its license.")] = None,
    json: JsonFlag = False,
) -> None:
    """Keep what you know of an adapter; "veneer inspect" shows it, and stacks take it along."""
    given: dict[str, Any] = {
        "default_scale": strength,
        "trigger_text": trigger,
        "tags": tag,
        "notes": notes,
        "system_prompt": system,
        "license": license_,
    }
    session = session_of(context)
    with session.write() as workspace:
        digest = workspace.library.find_adapter(adapter).digest
        stored = session.take(workspace.library.update_adapter(digest, **given))
    kept = {name: getattr(stored, name) for name in given}
    if json:
        session.print_json({"name": stored.name, **kept})
    else:
        session.out.print(f"noted about {stored.name}", markup=False)


def pin(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="STACK KEY | list | remove STACK", help="A key: 1 to 9.")
    ],
    json: JsonFlag = False,
) -> None:
    """Put a stack under a key of the window, list those that are, or take one off its key."""
    session = session_of(context)
    match words:
        case ["list"]:
            with session.read() as workspace:
                _print_pins(session, workspace, json)
        case ["remove", stack]:
            with session.write() as workspace:
                session.tell(workspace.pins.unpin(stack))
            _print_done(session, stack, None, json)
        case [stack, key] if key.isdecimal():
            with session.write() as workspace:
                session.tell(workspace.pins.pin(stack, int(key)))
            _print_done(session, stack, int(key), json)
        case _:
            raise UsageError(
                f"It is: veneer pin STACK KEY, with a key from {KEYS[0]} to {KEYS[-1]}, veneer pin "
                "list, veneer pin remove STACK."
            )


def _rename(workspace: Workspace, found: Named, name: str) -> Changes:
    if found.kind == "base":
        return workspace.library.rename_base(found.digest, name).changes
    if found.kind == "adapter":
        return workspace.library.update_adapter(found.digest, name=name).changes
    if found.name is None:
        raise UsageError("Only a stack that has a name can be renamed; “veneer compose” gives one.")
    return workspace.stacks.rename(found.name, name).changes


def _print_pins(session: Session, workspace: Workspace, json: bool) -> None:
    pins = workspace.pins.all()
    if json:
        session.print_json([{"key": key, "stack": stack} for key, stack in pins.items()])
        return
    for key, stack in pins.items():
        session.out.print(f"{key}  {stack}", markup=False)


def _print_done(session: Session, stack: str, key: int | None, json: bool) -> None:
    if json:
        session.print_json({"stack": stack, "key": key})
    else:
        where = "under no key" if key is None else f"under key {key}"
        session.out.print(f"{stack} is {where}", markup=False)
