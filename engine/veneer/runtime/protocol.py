"""What the engine and the worker say to each other: msgpack frames over one connection.

The engine sends one `Request` at a time and reads `Reply`s until the one that ends it; only
`Cancel` may be sent in between. Every reply carries the id of its request, so that a late reply
to an abandoned request is recognised and dropped.
"""

from typing import Literal

import msgspec

from veneer.compose.plan import RuntimePlan
from veneer.identity import Digest

FinishReason = Literal["stop", "length", "cancelled", "composition_changed"]


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is chosen. Temperature 0 is greedy; a repeat penalty of 1 is none."""

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    seed: int | None = None


class ChatMessage(msgspec.Struct, frozen=True):
    """One message as chat templates see it."""

    role: Literal["system", "user", "assistant"]
    content: str


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of what the worker keeps for speed alone, all of it disposable.

    `kv` and `adapters` are in memory: sequences, and adapters that no running plan uses. `kv_disk`
    is for sequences in the folder `kv_folder`, which holds conversations; 0 keeps none there, and
    removes those that are there.
    """

    kv: int = 256 << 20
    adapters: int = 512 << 20
    kv_disk: int = 0
    kv_folder: str = ""


class Stage(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Load a plan beside the running one and prove that it works."""

    id: int
    plan: RuntimePlan
    limits: Limits = Limits()


class Publish(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Run what was staged, from now on, under this generation number."""

    id: int
    generation: int


class Discard(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Forget what was staged."""

    id: int


class Generate(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Answer a conversation, streaming.

    An answer at its end is gone on with. Where the conversation does not fit into the context, its
    oldest turns are left out, unless `dropped` is None: it is how many messages were left out
    before, which stay out, so that the rest is still in the cache.
    """

    id: int
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    max_tokens: int
    stop: tuple[str, ...] = ()
    dropped: int | None = None


class Evaluate(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Compute the logits after these tokens, from an empty context."""

    id: int
    token_ids: tuple[int, ...]


class Tokenize(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Turn text into token ids, without a template."""

    id: int
    text: str


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Stop the request with this id as soon as possible. Has no reply of its own."""

    id: int


class Shutdown(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Free everything and exit."""

    id: int


Request = Stage | Publish | Discard | Generate | Evaluate | Tokenize | Cancel | Shutdown


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The worker's first words. `build` identifies llama.cpp and the CPU features in use.

    `gpus` are names. `overlay` identifies the overlay's kernels; it is empty where that lane is
    off, and `why_no_overlay` says why.
    """

    id: int = 0
    build: str
    gpus: tuple[str, ...] = ()
    overlay: str = ""
    why_no_overlay: str = ""


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The request was carried out. Times in milliseconds, by step."""

    id: int
    timings_ms: dict[str, float] = {}


class Chunk(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Some more text of an answer."""

    id: int
    text: str


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The end of an answer, stamped with what made it.

    `reused_tokens` of the `prompt_tokens` came from the cache. `first_token_ms` is the time from
    the request to the first token; `tokens_per_second` counts decoding alone. `dropped` messages
    were left out, for the context holds `n_ctx` tokens.
    """

    id: int
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    composition: Digest
    execution: Digest
    generation: int
    prompt_tokens: int
    reused_tokens: int
    first_token_ms: float
    tokens_per_second: float
    n_ctx: int = 0
    dropped: int = 0


class Logits(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Logits of the last position: little-endian float32, one per vocabulary entry."""

    id: int
    data: bytes


class Tokens(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Token ids."""

    id: int
    token_ids: tuple[int, ...]


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The request could not be carried out; the worker lives on.

    `code` is an error's code, `digest` the thing at fault where it is one.
    """

    id: int
    code: str
    message: str
    digest: str | None = None


class Beat(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A sign of life: what is being done, to which thing, and for how many seconds already."""

    id: int
    doing: str
    digest: Digest | None
    seconds: float


Reply = Beat | Ready | Done | Chunk | Finished | Logits | Tokens | Failed

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_replies = msgspec.msgpack.Decoder(Reply)


def encode(message: Request | Reply) -> bytes:
    """One frame."""
    return _encoder.encode(message)


def decode_request(frame: bytes) -> Request:
    """Read a frame from the engine. Raises `msgspec.ValidationError`."""
    return _requests.decode(frame)


def decode_reply(frame: bytes) -> Reply:
    """Read a frame from the worker. Raises `msgspec.ValidationError`."""
    return _replies.decode(frame)
