"""Asking the running composition, once or in a conversation that is kept."""

from collections.abc import Callable, Sequence

import msgspec

from veneer.activation.activator import Activator
from veneer.chat.conversation import Message, Stamp
from veneer.chat.history import History
from veneer.compose.stacks import Stacks
from veneer.identity import Digest, short
from veneer.runtime.client import RuntimeClient
from veneer.runtime.protocol import ChatMessage, Finished, FinishReason, Sampling
from veneer.store.changes import Changes, Outcome
from veneer.store.database import now
from veneer.tasks import CancelToken

DEFAULT_MAX_TOKENS = 512
OnText = Callable[[str], None]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer and everything that made it. Times in milliseconds."""

    text: str
    token_ids: tuple[int, ...]
    composition_id: Digest
    generation: int
    tokens_per_second: float
    first_token_ms: float
    prompt_tokens: int
    reused_tokens: int
    finish_reason: FinishReason


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
        on_text: OnText = lambda text: None,
        cancel: CancelToken | None = None,
    ) -> Answer:
        """Answer without keeping anything. Raises `NothingActive`, `ContextFull`, `Runtime...`."""
        said: list[str] = []

        def hear(text: str) -> None:
            said.append(text)
            on_text(text)

        with self._activator.serving(cancel):
            finished = self._runtime.generate(
                tuple(messages), sampling or Sampling(), max_tokens, stop, hear, cancel
            )
        return _answer("".join(said), finished)

    def say(
        self,
        conversation: int,
        text: str,
        sampling: Sampling | None = None,
        *,
        system: str = "",
        max_tokens: int = DEFAULT_MAX_TOKENS,
        on_text: OnText = lambda text: None,
        cancel: CancelToken | None = None,
    ) -> Outcome[Message]:
        """Add a message to a conversation and its answer after it; gives the answer.

        The question is kept even if the answer fails; what was answered before a stop is kept
        and marked.
        """
        question = Message(role="user", text=text, created_at=now())
        self._history.append(conversation, question)
        past = self._history.get(conversation).messages
        prompt = [ChatMessage("system", system)] if system else []
        prompt += [ChatMessage(m.role, m.text) for m in past]
        answer = self.ask(prompt, sampling, max_tokens=max_tokens, on_text=on_text, cancel=cancel)
        message = Message(
            role="assistant", text=answer.text, created_at=now(), stamp=self._stamp(answer)
        )
        self._history.append(conversation, message)
        return Outcome(message, Changes(conversations=frozenset({conversation})))

    def _stamp(self, answer: Answer) -> Stamp:
        composition = self._stacks.get(answer.composition_id)
        return Stamp(
            composition_id=answer.composition_id,
            composition_name=composition.name or short(composition.id),
            generation=answer.generation,
            finish_reason=answer.finish_reason,
            tokens=len(answer.token_ids),
            tokens_per_second=answer.tokens_per_second,
            first_token_ms=answer.first_token_ms,
        )


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
    )
