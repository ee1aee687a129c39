"""One answer: the prompt evaluated, then token after token until it ends. Worker process only."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from veneer.errors import Cancelled, ContextFull
from veneer.runtime.fitting import fitted
from veneer.runtime.live import LiveSequence
from veneer.runtime.protocol import ChatMessage, FinishReason, Generate, Sampling
from veneer.runtime.resident import Resident
from veneer.runtime.sampling import Sampler
from veneer.runtime.template import render
from veneer.runtime.textstream import TextStream


@dataclass
class Answer:
    """What came of it. Times in seconds; `decoding` is the time after the first token."""

    prompt_tokens: int
    dropped: int = 0
    reused_tokens: int = 0
    token_ids: list[int] = field(default_factory=list[int])
    reason: FinishReason = "length"
    first_token: float = 0.0
    decoding: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """Of decoding alone; 0 where there was only one token."""
        return (len(self.token_ids) - 1) / self.decoding if self.decoding > 0 else 0.0


def prompt_tokens(resident: Resident, messages: tuple[ChatMessage, ...]) -> tuple[int, ...]:
    """The conversation as token ids, through the model's own template.

    An answer at its end is left open, to be gone on with.
    """
    model = resident.model
    bos = model.token_text(model.bos)
    begun = messages[-1].content if messages and messages[-1].role == "assistant" else None
    text = render(
        model.meta("tokenizer.chat_template"),
        messages if begun is None else messages[:-1],
        bos=bos,
        eos=model.token_text(model.eos),
    ) + (begun or "")
    written_by_template = bool(bos) and text.startswith(bos)
    return model.tokenize(text, add_special=not written_by_template, parse_special=True)


def answer(
    resident: Resident,
    live: LiveSequence,
    request: Generate,
    emit: Callable[[str], None],
    check_cancel: Callable[[], None],
) -> Answer:
    """Carry out a request, streaming text to `emit`. Raises `ContextFull`, `TemplateError`."""
    started = perf_counter()
    dropped, prompt = _prompt(resident, request)
    room = resident.context.n_ctx - len(prompt)
    if room < 1:
        raise ContextFull(
            f"The conversation needs {len(prompt)} tokens, and the context holds "
            f"{resident.context.n_ctx}. Shorten it, or raise the context in the settings."
        )
    result = Answer(len(prompt), dropped)
    stream = TextStream(request.stop)
    with _sampler(request.sampling, resident.model.n_vocab) as sampler:
        try:
            result.reused_tokens = live.begin(prompt)
            live.extend(prompt[result.reused_tokens :], check_cancel)
            limit = min(request.max_tokens, room)
            for token in _tokens(resident, live, sampler, limit, check_cancel, result):
                if not result.token_ids:
                    result.first_token = perf_counter() - started
                result.token_ids.append(token)
                result.decoding = perf_counter() - started - result.first_token
                emit(stream.feed(resident.model.piece(token)))
                if stream.stopped:
                    result.reason = "stop"
                    break
        except Cancelled:
            result.reason = "cancelled"
    emit(stream.finish())
    return result


def _prompt(resident: Resident, request: Generate) -> tuple[int, tuple[int, ...]]:
    """How many messages are left out, and the tokens of the rest."""
    if request.dropped is None:
        return 0, prompt_tokens(resident, request.messages)
    return fitted(
        request.messages,
        request.dropped,
        resident.context.n_ctx,
        request.max_tokens,
        lambda messages: prompt_tokens(resident, messages),
    )


def _tokens(
    resident: Resident,
    live: LiveSequence,
    sampler: Sampler,
    limit: int,
    check_cancel: Callable[[], None],
    result: Answer,
) -> Iterator[int]:
    for number in range(limit):
        token = sampler.next(resident.context)
        if resident.model.ends_generation(token):
            result.reason = "stop"
            return
        yield token
        if number + 1 < limit:
            live.extend((token,), check_cancel)


@contextmanager
def _sampler(settings: Sampling, n_vocab: int) -> Generator[Sampler]:
    sampler = Sampler(settings, n_vocab)
    try:
        yield sampler
    finally:
        sampler.close()
