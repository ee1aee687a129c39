"""The engine's end of the runtime: what can be asked of the worker.

One request at a time. `interrupt` may be called from any thread while an answer is streaming, and
`switching` ends one for as long as it takes to get the turn. A worker that died or hung is gone
for good: `start` makes a new one.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from veneer import errors
from veneer.compose.plan import RuntimePlan
from veneer.errors import RuntimeCrashed, VeneerError
from veneer.runtime import protocol
from veneer.runtime.process import Patience, WorkerProcess
from veneer.runtime.protocol import (
    ChatMessage,
    Finished,
    FinishReason,
    Limits,
    Reply,
    Request,
    Sampling,
)
from veneer.tasks import CancelToken

ReplyT = TypeVar("ReplyT", bound=Reply)


class RuntimeClient:
    """A worker process, or none. Not started by construction."""

    def __init__(self, log: Path, patience: Patience | None = None) -> None:
        self.log = log
        self.patience = patience or Patience()
        self._turn = threading.RLock()
        self._worker: WorkerProcess | None = None
        self._ready: protocol.Ready | None = None
        self._last_id = 0
        self._answering: int | None = None
        self._why_interrupted: FinishReason = "cancelled"
        self._switches_waiting = 0

    def twin(self) -> "RuntimeClient":
        """Another client, for a worker of its own."""
        return RuntimeClient(self.log.with_name(f"apart-{self.log.name}"), self.patience)

    @property
    def alive(self) -> bool:
        """Whether a worker is there to talk to."""
        worker = self._worker
        return worker is not None and worker.alive

    @property
    def pid(self) -> int | None:
        """The worker's process number, if one is alive."""
        worker = self._worker
        return worker.pid if worker is not None and worker.alive else None

    @property
    def answering(self) -> bool:
        """Whether an answer is streaming."""
        return self._answering is not None

    def start(self) -> protocol.Ready:
        """Spawn a worker unless one is alive. Raises `RuntimeMissing`, `RuntimeCrashed`."""
        ready = self._ready
        if ready is not None and self.alive:
            # Without waiting for a turn: an answer may be streaming, and whoever activates must
            # get far enough to interrupt it.
            return ready
        with self._turn:
            if self.alive and self._ready is not None:
                return self._ready
            self._abandon()
            self._worker = WorkerProcess(self.log)
            start = self.patience.start
            self._ready = self._await(0, protocol.Ready, "starting", start, silence=start)
            return self._ready

    @contextmanager
    def switching(self) -> Generator[None]:
        """Have the worker to oneself; an answer that streams ends as `composition_changed`."""
        self._switches_waiting += 1
        try:
            self._turn.acquire()
        finally:
            self._switches_waiting -= 1
        try:
            yield
        finally:
            self._turn.release()

    def stage(
        self, plan: RuntimePlan, limits: Limits, cancel: CancelToken | None = None
    ) -> dict[str, float]:
        """Load and prove a plan beside the running one; gives milliseconds by step."""
        with self._turn:
            request = protocol.Stage(id=self._next_id(), plan=plan, limits=limits)
            names = ", ".join(f"“{a.name}”" for a in plan.adapters)
            doing = f"loading {names} on “{plan.base_name}”" if names else plan.base_name
            self._say(request)
            done = self._await(request.id, protocol.Done, doing, self.patience.load, cancel)
            return done.timings_ms

    def publish(self, generation: int) -> None:
        """Run what was staged from now on."""
        with self._turn:
            request = protocol.Publish(id=self._next_id(), generation=generation)
            self._ask(request, protocol.Done, "switching")

    def discard(self) -> None:
        """Forget what was staged. Does nothing if the worker is gone."""
        with self._turn:
            if self.alive:
                self._ask(protocol.Discard(id=self._next_id()), protocol.Done, "discarding")

    def generate(
        self,
        messages: tuple[ChatMessage, ...],
        sampling: Sampling,
        max_tokens: int,
        stop: tuple[str, ...] = (),
        on_text: Callable[[str], None] = lambda text: None,
        cancel: CancelToken | None = None,
        *,
        dropped: int | None = None,
    ) -> Finished:
        """Answer a conversation, streaming text to `on_text` on the calling thread.

        Raises `ContextFull` where it does not fit, unless `dropped` is given: then that many of
        its oldest messages are left out, or more.
        """
        with self._turn:
            request = protocol.Generate(
                id=self._next_id(),
                messages=messages,
                sampling=sampling,
                max_tokens=max_tokens,
                stop=stop,
                dropped=dropped,
            )
            with self._interruptible(request.id):
                self._say(request)
                finished = self._await(
                    request.id, Finished, "answering", self.patience.step, cancel, on_text
                )
            if finished.finish_reason == "cancelled":
                return msgspec.structs.replace(finished, finish_reason=self._why_interrupted)
            return finished

    def interrupt(self, reason: FinishReason) -> None:
        """Stop the answer that is streaming, if one is, giving it this finish reason."""
        answering = self._answering
        if answering is not None:
            self._why_interrupted = reason
            with suppress(RuntimeCrashed):
                self._say(protocol.Cancel(id=answering))

    def evaluate(self, token_ids: tuple[int, ...]) -> NDArray[np.float32]:
        """Logits after these tokens from an empty context: float32 of shape (n_vocab,)."""
        with self._turn:
            request = protocol.Evaluate(id=self._next_id(), token_ids=token_ids)
            reply = self._ask(request, protocol.Logits, "evaluating")
            return np.frombuffer(reply.data, dtype="<f4").astype(np.float32)

    def tokenize(self, text: str) -> tuple[int, ...]:
        """Text to token ids, without a template."""
        with self._turn:
            request = protocol.Tokenize(id=self._next_id(), text=text)
            return self._ask(request, protocol.Tokens, "tokenizing").token_ids

    def close(self) -> None:
        """End the worker: politely if it listens, otherwise by force."""
        with self._turn:
            if self.alive:
                with suppress(VeneerError):
                    request = protocol.Shutdown(id=self._next_id())
                    self._say(request)
                    self._await(request.id, protocol.Done, "ending", 10, silence=10)
            self._abandon()

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    @contextmanager
    def _interruptible(self, request_id: int) -> Generator[None]:
        self._why_interrupted = "cancelled"
        self._answering = request_id
        try:
            yield
        finally:
            self._answering = None

    def _ask(self, request: Request, wanted: type[ReplyT], doing: str) -> ReplyT:
        self._say(request)
        return self._await(request.id, wanted, doing, self.patience.step)

    def _say(self, request: Request) -> None:
        self._require_worker().say(request)

    def _require_worker(self) -> WorkerProcess:
        worker = self._worker
        if worker is None:
            raise RuntimeCrashed("The runtime is not running.")
        return worker

    def _await(
        self,
        request_id: int,
        wanted: type[ReplyT],
        doing: str,
        step: float,
        cancel: CancelToken | None = None,
        on_text: Callable[[str], None] | None = None,
        silence: float | None = None,
    ) -> ReplyT:
        cancel_sent = False
        worker = self._require_worker()
        for reply in worker.replies(doing, silence or self.patience.silence, step):
            if not cancel_sent and self._to_be_stopped(request_id, cancel):
                worker.say(protocol.Cancel(id=request_id))
                cancel_sent = True
            if reply is None or reply.id != request_id:
                continue
            if isinstance(reply, protocol.Failed):
                raise errors.from_code(reply.code, reply.message, reply.digest)
            if isinstance(reply, protocol.Chunk) and on_text is not None:
                on_text(reply.text)
            if isinstance(reply, wanted):
                return reply
        raise AssertionError("the stream of replies has no end of its own")

    def _to_be_stopped(self, request_id: int, cancel: CancelToken | None) -> bool:
        if self._switches_waiting and request_id == self._answering:
            self._why_interrupted = "composition_changed"
            return True
        return cancel is not None and cancel.cancelled

    def _abandon(self) -> None:
        worker, self._worker, self._ready = self._worker, None, None
        if worker is not None:
            worker.end()
