"""Asking the running composition, once or in a conversation that is kept.

What is kept grows at the end of one of its ways: a question and its answer (`say`), another
question instead of one (`resay`), another answer instead of one (`again`), or an answer that goes
on where one was cut off (`go_on`).
"""

from collections.abc import Callable, Sequence

import msgspec

from veneer.activation.activator import Activator
from veneer.chat.conversation import Attachment, Conversation, Message, Node, Stamp
from veneer.chat.history import History, changed
from veneer.chat.setup import DEFAULT_MAX_TOKENS, Setup
from veneer.compose.stacks import Stacks
from veneer.errors import NotFound
from veneer.identity import Digest, short
from veneer.runtime.client import RuntimeClient
from veneer.runtime.protocol import ChatMessage, Finished, FinishReason, Sampling
from veneer.store.changes import Outcome
from veneer.store.database import now
from veneer.tasks import CancelToken

OnText = Callable[[str], None]
Path = tuple[Node, ...]


def unheard(text: str) -> None:
    """An `OnText` where nobody listens."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer and everything that made it. Times in milliseconds.

    The oldest `dropped` messages were left out, for the context holds `n_ctx` tokens.
    """

    text: str
    token_ids: tuple[int, ...]
    composition_id: Digest
    generation: int
    tokens_per_second: float
    first_token_ms: float
    prompt_tokens: int
    reused_tokens: int
    finish_reason: FinishReason
    n_ctx: int = 0
    dropped: int = 0


class Talk:
    """Answers questions under whatever composition is active."""

    def __init__(
        self, activator: Activator, runtime: RuntimeClient, stacks: Stacks, history: History
    ) -> None:
        self._activator = activator
        self._runtime = runtime
        self._stacks = stacks
        self._history = history

    def ask(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: tuple[str, ...] = (),
        on_text: OnText = unheard,
        cancel: CancelToken | None = None,
        dropped: int | None = None,
    ) -> Answer:
        """Answer without keeping anything; an answer at the end of `messages` is gone on with.

        Raises `NothingActive`, `Runtime...`, and `ContextFull` where the messages do not fit and
        `dropped` is not given: it is how many of the oldest were left out before.
        """
        said: list[str] = []

        def hear(text: str) -> None:
            said.append(text)
            on_text(text)

        with self._activator.serving(cancel):
            finished = self._runtime.generate(
                tuple(messages),
                sampling or Sampling(),
                max_tokens,
                stop,
                hear,
                cancel,
                dropped=dropped,
            )
        return _answer("".join(said), finished)

    def say(
        self,
        conversation: int,
        text: str,
        *,
        attachments: tuple[Attachment, ...] = (),
        on_text: OnText = unheard,
        cancel: CancelToken | None = None,
    ) -> Outcome[Message]:
        """Add a message at the end of what is shown, and its answer after it; gives the answer.

        The question is kept even if the answer fails; what was answered before a stop is kept
        and marked.
        """
        kept = self._history.get(conversation)
        question = _question(text, attachments)
        node = self._history.append(conversation, question, kept.leaf).value
        return self._reply(kept, (*kept.path, node), on_text, cancel)

    def resay(
        self,
        conversation: int,
        node: int,
        text: str,
        *,
        attachments: tuple[Attachment, ...] = (),
        on_text: OnText = unheard,
        cancel: CancelToken | None = None,
    ) -> Outcome[Message]:
        """Ask something else in place of a question, which stays beside it. Raises `NotFound`."""
        kept, way = self._way(conversation, node)
        question = _question(text, attachments)
        beside = self._history.append(conversation, question, way[-1].parent).value
        return self._reply(kept, (*way[:-1], beside), on_text, cancel)

    def again(
        self,
        conversation: int,
        node: int,
        *,
        on_text: OnText = unheard,
        cancel: CancelToken | None = None,
    ) -> Outcome[Message]:
        """Answer a question once more, given the question or an answer to it.

        Raises `NotFound`.
        """
        kept, way = self._way(conversation, node)
        asked = way if way[-1].message.role == "user" else way[:-1]
        return self._reply(kept, asked, on_text, cancel)

    def go_on(
        self,
        conversation: int,
        node: int,
        *,
        on_text: OnText = unheard,
        cancel: CancelToken | None = None,
    ) -> Outcome[Message]:
        """Go on with an answer that was cut off; the whole of it lies beside the beginning.

        Raises `NotFound`.
        """
        kept, way = self._way(conversation, node)
        return self._reply(kept, way[:-1], on_text, cancel, begun=way[-1].message)

    def stamp(self, answer: Answer) -> Stamp:
        """What is kept about what made an answer."""
        composition = self._stacks.get(answer.composition_id)
        return Stamp(
            composition_id=answer.composition_id,
            composition_name=composition.name or short(composition.id),
            generation=answer.generation,
            finish_reason=answer.finish_reason,
            tokens=len(answer.token_ids),
            tokens_per_second=answer.tokens_per_second,
            first_token_ms=answer.first_token_ms,
            prompt_tokens=answer.prompt_tokens,
            n_ctx=answer.n_ctx,
            left_out=answer.dropped,
        )

    def _way(self, conversation: int, node: int) -> tuple[Conversation, Path]:
        kept = self._history.get(conversation)
        way = kept.path_to(node)
        if not way:
            raise NotFound(f"There is no message {node} in conversation {conversation}.")
        return kept, way

    def _reply(
        self,
        kept: Conversation,
        way: Path,
        on_text: OnText,
        cancel: CancelToken | None,
        begun: Message | None = None,
    ) -> Outcome[Message]:
        """Answer the end of a way, going on from what was `begun`, and keep the answer there."""
        past = tuple(node.message for node in way)
        answer = self.ask(
            told(kept.setup, past if begun is None else (*past, begun)),
            kept.setup.sampling,
            max_tokens=kept.setup.max_tokens,
            on_text=on_text,
            cancel=cancel,
            dropped=left_out(past),
        )
        message = Message(
            role="assistant", text=answer.text, created_at=now(), stamp=self.stamp(answer)
        )
        if begun is not None:
            message = _joined(begun, message)
        self._history.append(kept.id, message, way[-1].id)
        return Outcome(message, changed(kept.id))


def told(setup: Setup, past: Sequence[Message]) -> tuple[ChatMessage, ...]:
    """What the model is told: the system prompt, then these messages."""
    system = (ChatMessage("system", setup.system),) if setup.system else ()
    return (*system, *(ChatMessage(m.role, m.told) for m in past))


def left_out(past: Sequence[Message]) -> int:
    """How many of these messages were left out when the last answer among them was made."""
    return next((m.stamp.left_out for m in reversed(past) if m.stamp is not None), 0)


def _question(text: str, attachments: tuple[Attachment, ...]) -> Message:
    return Message(role="user", text=text, created_at=now(), attachments=attachments)


def _joined(begun: Message, rest: Message) -> Message:
    """An answer together with what it goes on from."""
    stamps = begun.earlier if begun.stamp is None else (*begun.earlier, begun.stamp)
    return msgspec.structs.replace(rest, text=begun.text + rest.text, earlier=stamps)


def _answer(text: str, finished: Finished) -> Answer:
    return Answer(
        text=text,
        token_ids=finished.token_ids,
        composition_id=finished.composition,
        generation=finished.generation,
        tokens_per_second=finished.tokens_per_second,
        first_token_ms=finished.first_token_ms,
        prompt_tokens=finished.prompt_tokens,
        reused_tokens=finished.reused_tokens,
        finish_reason=finished.finish_reason,
        n_ctx=finished.n_ctx,
        dropped=finished.dropped,
    )
