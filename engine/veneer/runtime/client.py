"""The engine's end of the runtime: spawns the worker, talks to it, notices when it dies.

One request at a time; `interrupt` may be called from any thread while an answer is streaming.
A worker that died or hung is gone for good: `start` makes a new one.
"""

import multiprocessing
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from veneer import errors
from veneer.compose.plan import RuntimePlan
from veneer.errors import RuntimeCrashed, RuntimeTimeout, VeneerError
from veneer.runtime import protocol
from veneer.runtime.protocol import ChatMessage, Finished, FinishReason, Reply, Request, Sampling
from veneer.store.fs import Fs
from veneer.tasks import CancelToken

START_TIMEOUT = 60.0
STAGE_TIMEOUT = 900.0
ANSWER_TIMEOUT = 300.0
"""Seconds without a word from the worker before it counts as hung."""

_POLL = 0.02
_LOG_LIMIT = 1 << 20

ReplyT = TypeVar("ReplyT", bound=Reply)


class RuntimeClient:
    """A worker process, or none. Not started by construction."""

    def __init__(self, fs: Fs, log: Path) -> None:
        self._fs = fs
        self._log = log
        self._turn = threading.RLock()
        self._sending = threading.Lock()
        self._connection: Connection | None = None
        self._process: BaseProcess | None = None
        self._last_id = 0
        self._answering: int | None = None
        self._why_interrupted: FinishReason = "cancelled"
        self._ready: protocol.Ready | None = None

    def twin(self) -> "RuntimeClient":
        """Another client, for a worker of its own."""
        return RuntimeClient(self._fs, self._log)

    @property
    def alive(self) -> bool:
        """Whether a worker is there to talk to."""
        process = self._process
        return process is not None and process.is_alive()

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
            self._rotate_log()
            self._spawn()
            self._ready = self._await(0, protocol.Ready, "starting", START_TIMEOUT)
            return self._ready

    def stage(self, plan: RuntimePlan, cancel: CancelToken | None = None) -> dict[str, float]:
        """Load and prove a plan beside the running one; gives milliseconds by step."""
        with self._turn:
            request = protocol.Stage(id=self._next_id(), plan=plan)
            names = ", ".join(f"“{a.name}”" for a in plan.adapters)
            doing = f"loading {names} on “{plan.base_name}”" if names else plan.base_name
            self._say(request)
            done = self._await(request.id, protocol.Done, doing, STAGE_TIMEOUT, cancel)
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
    ) -> Finished:
        """Answer a conversation, streaming text to `on_text` on the calling thread."""
        with self._turn:
            request = protocol.Generate(
                id=self._next_id(),
                messages=messages,
                sampling=sampling,
                max_tokens=max_tokens,
                stop=stop,
            )
            with self._interruptible(request.id):
                self._say(request)
                finished = self._await(
                    request.id, Finished, "answering", ANSWER_TIMEOUT, cancel, on_text
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
            reply = self._ask(request, protocol.Logits, "evaluating", ANSWER_TIMEOUT)
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
                    self._ask(protocol.Shutdown(id=self._next_id()), protocol.Done, "ending", 10)
            self._abandon()

    def _spawn(self) -> None:
        # Imported here because the worker module is the other process's, not ours.
        from veneer.runtime.worker import main

        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=main, args=(theirs, str(self._log)), name="veneer-worker", daemon=True
        )
        process.start()
        theirs.close()
        self._connection, self._process = ours, process

    def _rotate_log(self) -> None:
        found = self._fs.stat(self._log)
        if found is not None and found.size > _LOG_LIMIT:
            self._fs.replace(self._log, self._log.with_suffix(".1.log"))

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

    def _ask(
        self, request: Request, wanted: type[ReplyT], doing: str, timeout: float = START_TIMEOUT
    ) -> ReplyT:
        self._say(request)
        return self._await(request.id, wanted, doing, timeout)

    def _say(self, request: Request) -> None:
        connection = self._connection
        if connection is None:
            raise RuntimeCrashed("The runtime is not running.")
        try:
            with self._sending:
                connection.send_bytes(protocol.encode(request))
        except (OSError, ValueError) as error:
            raise self._crashed("being spoken to") from error

    def _await(
        self,
        request_id: int,
        wanted: type[ReplyT],
        doing: str,
        timeout: float,
        cancel: CancelToken | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> ReplyT:
        cancel_sent = False
        for reply in self._replies(doing, timeout):
            if cancel is not None and cancel.cancelled and not cancel_sent:
                self._say(protocol.Cancel(id=request_id))
                cancel_sent = True
            if reply is None or reply.id != request_id:
                continue
            if isinstance(reply, protocol.Failed):
                raise errors.from_code(reply.code, reply.message)
            if isinstance(reply, protocol.Chunk) and on_text is not None:
                on_text(reply.text)
            if isinstance(reply, wanted):
                return reply
        raise AssertionError("the stream of replies has no end of its own")

    def _replies(self, doing: str, timeout: float) -> Iterator[Reply | None]:
        """Replies as they come; None now and then, so that the caller can look around."""
        connection, process = self._connection, self._process
        if connection is None or process is None:
            raise RuntimeCrashed("The runtime is not running.")
        waited = 0.0
        while True:
            ready = wait([connection, process.sentinel], _POLL)
            waited = 0.0 if ready else waited + _POLL
            if connection in ready:
                try:
                    yield protocol.decode_reply(connection.recv_bytes())
                except (EOFError, OSError):
                    raise self._crashed(doing) from None
            elif ready:
                raise self._crashed(doing)
            elif waited > timeout:
                self._abandon()
                raise RuntimeTimeout(f"The runtime did not answer for {timeout:.0f} s ({doing}).")
            else:
                yield None

    def _crashed(self, doing: str) -> RuntimeCrashed:
        process = self._process
        if process is not None:
            process.join(5)
        code = process.exitcode if process is not None else None
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        self._abandon()
        return RuntimeCrashed(
            f"The runtime ended unexpectedly while {doing} ({how}). Its last words are in "
            f"{self._log}."
        )

    def _abandon(self) -> None:
        connection, process = self._connection, self._process
        self._connection = self._process = self._ready = None
        if connection is not None:
            connection.close()
        if process is not None:
            if process.is_alive():
                process.kill()
            # Not closed: another thread may be asking it whether it is alive.
            process.join(10)
