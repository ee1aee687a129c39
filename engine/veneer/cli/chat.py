"""`chat` and `probe`: using the active composition, and checking what it computes.

`chat list` and `chat export` are about the conversations that are kept, which the window holds.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from veneer.chat.conversation import Conversation
from veneer.chat.export import form_of
from veneer.chat.talk import Answer, OnText
from veneer.cli.session import ConfirmFlag, JsonFlag, LaneOption, Session, session_of
from veneer.errors import UsageError
from veneer.formats.foreign import one_line
from veneer.runtime.protocol import ChatMessage, Sampling
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(_chats, name="chat")
    app.command()(probe)


_chats = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@_chats.callback()
def chat(
    context: typer.Context,
    prompt: Annotated[str | None, typer.Option("-p", "--prompt", help="Ask once.")] = None,
    system: Annotated[str, typer.Option("-s", "--system", help="The system prompt.")] = "",
    greedy: Annotated[bool, typer.Option("--greedy", help="Always the likeliest token.")] = False,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 is greedy.")] = 0.7,
    top_k: Annotated[int, typer.Option(min=0)] = 40,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.95,
    min_p: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.05,
    repeat_penalty: Annotated[float, typer.Option(min=0.0)] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Same seed, same answer.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1)] = 512,
    stop: Annotated[list[str] | None, typer.Option(help="End the answer before this.")] = None,
    json: JsonFlag = False,
) -> None:
    """Ask the active composition; without -p, hold a conversation."""
    if context.invoked_subcommand is not None:
        return
    session = session_of(context)
    sampling = Sampling(
        temperature=0.0 if greedy else temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repeat_penalty=repeat_penalty,
        seed=seed,
    )
    if prompt is None and json:
        raise UsageError("--json needs a question: add -p.")
    talk = _Talk(session, system, sampling, max_tokens, tuple(stop or ()))
    with session.write() as workspace:
        if prompt is None:
            talk.converse(workspace)
        else:
            talk.once(workspace, prompt, json)


@_chats.command("list")
def list_chats(
    context: typer.Context,
    words: Annotated[str | None, typer.Option("--search", help="Only where this was said.")] = None,
    json: JsonFlag = False,
) -> None:
    """List the conversations that are kept, the pinned ones first."""
    session = session_of(context)
    with session.read() as workspace:
        if words is None:
            rows = [_row(conversation) for conversation in workspace.history.all()]
        else:
            rows = [_row(f.conversation, f.excerpt) for f in workspace.search(words)]
    if json:
        session.print_json(rows)
        return
    for row in rows:
        line = f"{row['id']}  {row['created_at']}  {one_line(row['title'])}"
        session.out.print(line, markup=False, soft_wrap=True)


@_chats.command("export")
def export_chat(
    context: typer.Context,
    number: Annotated[int, typer.Argument(help="Its number, as “chat list” shows it.")],
    out: Annotated[Path, typer.Argument(help="A file that ends in .md or .json.")],
    json: JsonFlag = False,
) -> None:
    """Write a conversation to a file: Markdown as it is shown, or JSON with all its branches."""
    session = session_of(context)
    form = form_of(out)
    with session.read() as workspace:
        workspace.export_conversation(number, session.path(out), form)
    if json:
        session.print_json({"id": number, "out": str(session.path(out)), "form": form})
    else:
        session.out.print(f"conversation {number} in {out}", markup=False, soft_wrap=True)


def _row(conversation: Conversation, excerpt: str = "") -> dict[str, Any]:
    return {
        "id": conversation.id,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "pinned": conversation.pinned,
        "excerpt": excerpt,
    }


class _Talk:
    def __init__(
        self,
        session: Session,
        system: str,
        sampling: Sampling,
        max_tokens: int,
        stop: tuple[str, ...],
    ) -> None:
        self._session = session
        self._messages = [ChatMessage("system", system)] if system else []
        self._sampling = sampling
        self._max_tokens = max_tokens
        self._stop = stop

    def once(self, workspace: Workspace, prompt: str, json: bool) -> None:
        """Ask one question and print the answer."""
        if json:
            self._session.print_json(self._ask(workspace, prompt, on_text=lambda text: None))
        else:
            self._turn(workspace, prompt)

    def converse(self, workspace: Workspace) -> None:
        """Ask and answer until the end of input."""
        active = workspace.activator.ensure_running()
        self._session.err.print(f"generation {active.number}; Ctrl-D ends", markup=False)
        while (line := self._session.read_line("> ")) is not None:
            if line.strip():
                self._turn(workspace, line)

    def _turn(self, workspace: Workspace, line: str) -> None:
        self._ask(workspace, line, on_text=self._type_out)
        self._type_out("\n")

    def _type_out(self, text: str) -> None:
        self._session.terminal.write("out", text)

    def _ask(self, workspace: Workspace, text: str, on_text: OnText) -> Answer:
        self._messages.append(ChatMessage("user", text))
        answer = workspace.talk.ask(
            self._messages,
            self._sampling,
            max_tokens=self._max_tokens,
            stop=self._stop,
            on_text=on_text,
            cancel=self._session.cancel,
        )
        self._session.cancel.check()
        self._messages.append(ChatMessage("assistant", answer.text))
        return answer


def probe(
    context: typer.Context,
    ids: Annotated[str | None, typer.Option("--ids", help="Token ids: 1,2,3.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Text, without a template.")] = None,
    composition: Annotated[
        str | None, typer.Option("--composition", help="Another than the active one.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where to write the logits.")] = None,
    confirm_base: ConfirmFlag = False,
    lane: LaneOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the logits after these tokens as a float32 .npy file; or only tokenize a text."""
    session = session_of(context)
    if (ids is None) == (text is None):
        raise UsageError("Give either --ids or --text.")
    if text is None and out is None:
        raise UsageError("--ids needs --out, the file to write the logits to.")
    with session.write() as workspace:
        result = workspace.probe(
            text if text is not None else _parse(ids or ""),
            composition=composition,
            out=None if out is None else session.path(out),
            confirm_base=confirm_base,
            lane=lane,
        )
    if json:
        session.print_json(result)
        return
    session.out.print(",".join(map(str, result.token_ids)), markup=False)
    if result.out is not None:
        session.out.print(f"{result.vocabulary} logits in {result.out}", markup=False)


def _parse(ids: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in ids.split(","))
    except ValueError as error:
        raise UsageError(f"--ids wants numbers with commas between them, not “{ids}”.") from error
