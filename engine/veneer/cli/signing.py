"""`sign`, `key`, `trust`: who vouches for a stack, and whose word counts here."""

from typing import Annotated

import typer

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.compose.signing import key_from
from veneer.errors import UsageError
from veneer.identity import short
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(sign)
    app.command()(key)
    app.command()(trust)


def sign(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="A stack, or a composition's id.")],
    json: JsonFlag = False,
) -> None:
    """Sign a stack with your own key, which is then trusted in this workspace.

    The private key is made at the first use and is kept in the system's keyring alone.
    """
    session = session_of(context)
    with session.write() as workspace:
        signed = session.take(workspace.sign(ref))
    signature = signed.manifest.envelope.signature
    assert signature is not None
    if json:
        session.print_json({"composition_id": signed.id, "key": signature.key})
    else:
        called = signed.name or "(unnamed)"
        session.out.print(
            f"signed {called}  {short(signed.id, 12)}  by {signature.key}", markup=False
        )


def key(context: typer.Context, json: JsonFlag = False) -> None:
    """Show your public key, for those who are to trust what you sign."""
    session = session_of(context)
    with session.read() as workspace:
        own = workspace.signatures.own_key()
    if json:
        session.print_json({"key": own})
    else:
        session.out.print(own, markup=False)


def trust(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="KEY | list | remove KEY", help="A public key.")
    ],
    name: Annotated[str, typer.Option(help="Whose key it is.")] = "",
    json: JsonFlag = False,
) -> None:
    """Trust what a key signs, list the keys that are trusted, or trust one no more."""
    session = session_of(context)
    match words:
        case ["list"]:
            with session.read() as workspace:
                _print_trusted(session, workspace, json)
        case ["remove", text]:
            with session.write() as workspace:
                workspace.signatures.trusted.remove(key_from(text))
            _print_done(session, "removed", key_from(text), json)
        case [text]:
            with session.write() as workspace:
                workspace.signatures.trusted.add(key_from(text), name)
            _print_done(session, "trusted", key_from(text), json)
        case _:
            raise UsageError("It is: veneer trust KEY, veneer trust list, veneer trust remove KEY.")


def _print_trusted(session: Session, workspace: Workspace, json: bool) -> None:
    trusted = workspace.signatures.trusted.all()
    if json:
        session.print_json(trusted)
        return
    for known in trusted:
        session.out.print(f"{known.key}  {known.added_at[:10]}  {known.name}", markup=False)


def _print_done(session: Session, done: str, key: str, json: bool) -> None:
    if json:
        session.print_json({done: key})
    else:
        session.out.print(f"{done} {key}", markup=False)
