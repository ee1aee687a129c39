"""Conversations by hand, and a talk that says what a script wants when it wants it."""

import threading
from typing import Any

from veneer.chat.conversation import Attachment, Message, Node, Stamp
from veneer.errors import Cancelled
from veneer.identity import Digest
from veneer.store.changes import Changes, Outcome
from veneer.tasks import CancelToken
from veneer.workspace import Workspace

NOW = "2026-01-02T03:04:05.000+00:00"


def stamp(composition: str, reason: Any = "stop", **more: Any) -> Stamp:
    """What 7 tokens of an answer note."""
    return Stamp(
        composition_id=Digest(f"sha256:{composition}"),
        composition_name=composition,
        generation=1,
        finish_reason=reason,
        tokens=7,
        tokens_per_second=41.25,
        first_token_ms=1.0,
        **more,
    )


def asked(text: str, *files: Attachment) -> Message:
    """A question."""
    return Message(role="user", text=text, created_at=NOW, attachments=files)


def answered(text: str, made: Stamp | None = None, *earlier: Stamp) -> Message:
    """An answer."""
    made = made or stamp("abc")
    return Message(role="assistant", text=text, created_at=NOW, stamp=made, earlier=earlier)


def line(*messages: Message) -> tuple[Node, ...]:
    """A tree with one way."""
    return tuple(Node(n, n - 1 or None, m) for n, m in enumerate(messages, 1))


class Script:
    """In place of the engine's talk: says its pieces, one each time it is told to go on."""

    def __init__(self, workspace: Workspace, pieces: list[str]) -> None:
        self.pieces, self.error, self.reason = pieces, None, "stop"
        self.go = threading.Semaphore(0)
        self.asked: list[Any] = []
        self.deeds: list[tuple[Any, ...]] = []
        self._history = workspace.history

    def say(self, number: int, text: str, *, attachments: Any, **more: Any) -> Outcome[Message]:
        kept = self._history.get(number)
        self.deeds.append(("say", text))
        node = self._history.append(number, asked(text, *attachments), kept.leaf).value
        return self._answer(number, node.id, "", **more)

    def resay(
        self, number: int, node: int, text: str, *, attachments: Any, **more: Any
    ) -> Outcome[Message]:
        parent = self._history.get(number).path_to(node)[-1].parent
        self.deeds.append(("resay", node, text))
        beside = self._history.append(number, asked(text, *attachments), parent).value
        return self._answer(number, beside.id, "", **more)

    def again(self, number: int, node: int, **more: Any) -> Outcome[Message]:
        last = self._history.get(number).path_to(node)[-1]
        self.deeds.append(("again", node))
        question = last.id if last.message.role == "user" else last.parent
        assert question is not None
        return self._answer(number, question, "", **more)

    def go_on(self, number: int, node: int, **more: Any) -> Outcome[Message]:
        last = self._history.get(number).path_to(node)[-1]
        assert last.parent is not None
        self.deeds.append(("go_on", node))
        return self._answer(number, last.parent, last.message.text, **more)

    def _answer(
        self, number: int, after: int, said: str, *, on_text: Any, cancel: CancelToken
    ) -> Outcome[Message]:
        self.asked.append(self._history.get(number).setup)
        for piece in self.pieces:
            while not self.go.acquire(timeout=0.02):
                if cancel.cancelled:
                    raise Cancelled("Stopped.")
            said += piece
            on_text(piece)
        if self.error is not None:
            raise self.error
        answer = answered(said, stamp("abc", self.reason, prompt_tokens=90, n_ctx=100))
        self._history.append(number, answer, after)
        return Outcome(answer, Changes(conversations=frozenset({number})))
