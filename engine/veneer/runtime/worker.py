"""The worker process: carries out one request after another, and dies alone if llama.cpp dies.

Order of a life: put the house in order (`household`) -> load llama.cpp -> `Ready` -> requests until
`Shutdown` or until the engine is gone. What is active is swapped only by `Publish`, which does
nothing that can fail for a reason found in a file: everything was loaded and proven by `Stage`.
"""

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from veneer.compose.plan import RuntimePlan
from veneer.errors import (
    Cancelled,
    NothingActive,
    OverlayOff,
    RuntimeMissing,
    RuntimeRefused,
    VeneerError,
    blaming,
)
from veneer.identity import Digest
from veneer.runtime import household, protocol
from veneer.runtime.kvcache import KvCache
from veneer.runtime.kvfolder import KvFolder
from veneer.runtime.protocol import Reply, Request
from veneer.runtime.pulse import Pulse
from veneer.store.fs import RealFs

if TYPE_CHECKING:
    from veneer.runtime.live import LiveSequence
    from veneer.runtime.loaded import AdapterSet
    from veneer.runtime.overlay import OverlayLane
    from veneer.runtime.resident import Resident


@dataclass(frozen=True)
class Staged:
    """A plan that is loaded and proven, and not running."""

    plan: RuntimePlan
    resident: "Resident"
    adapters: "AdapterSet"
    limits: protocol.Limits


@dataclass(frozen=True)
class Active:
    """What answers now."""

    staged: Staged
    generation: int
    live: "LiveSequence"


class Worker:
    """Carries out requests. `send` delivers a reply; `poll` gives a waiting request, if any.

    `lane` is the overlay's, or None where it is off.
    """

    def __init__(
        self,
        send: Callable[[Reply], None],
        poll: Callable[[], Request | None],
        pulse: Pulse,
        lane: "OverlayLane | None",
    ) -> None:
        self._send = send
        self._poll = poll
        self._pulse = pulse
        self._lane = lane
        self._waiting: list[Request] = []
        self._cache = KvCache(protocol.Limits().kv)
        self._active: Active | None = None
        self._staged: Staged | None = None

    def next_waiting(self) -> Request | None:
        """A request that arrived while another was carried out."""
        return self._waiting.pop(0) if self._waiting else None

    def handle(self, request: Request) -> None:
        """Carry out one request and reply to it, whatever happens short of a crash."""
        self._pulse.take(request.id)
        try:
            self._dispatch(request)
        except VeneerError as error:
            self._send(
                protocol.Failed(
                    id=request.id, code=error.code, message=error.message, digest=error.digest
                )
            )
        finally:
            self._pulse.rest()

    def close(self) -> None:
        """Free everything."""
        if self._active is not None:
            self._active.live.remember()
        self._cache.close()
        for resident in {id(r): r for r in self._residents()}.values():
            resident.close()
        self._active = self._staged = None

    def _dispatch(self, request: Request) -> None:
        match request:
            case protocol.Stage():
                self._stage(request)
            case protocol.Publish():
                self._publish(request)
            case protocol.Discard():
                self._discard()
                self._send(protocol.Done(id=request.id))
            case protocol.Generate():
                self._generate(request)
            case protocol.Evaluate():
                self._evaluate(request)
            case protocol.Tokenize():
                self._tokenize(request)
            case protocol.Cancel() | protocol.Shutdown():
                pass

    def _stage(self, request: protocol.Stage) -> None:
        from veneer.runtime.resident import Resident

        self._discard()
        begin, plan, clock = self._beginning(request.id), request.plan, _Clock()
        running = self._active.staged.resident if self._active else None
        fresh = running is None or not running.serves(plan)
        begin(f"loading the base “{plan.base_name}”", plan.base)
        with blaming(plan.base):
            resident = Resident(plan, self._lane) if running is None or fresh else running
        try:
            clock.lap("base")
            adapters = resident.load(plan, begin)
            clock.lap("adapters")
            resident.prove(plan, adapters, begin)
            clock.lap("probe")
        except VeneerError:
            if fresh:
                resident.close()
            raise
        self._staged = Staged(plan, resident, adapters, request.limits)
        self._send(protocol.Done(id=request.id, timings_ms=clock.laps))

    def _publish(self, request: protocol.Publish) -> None:
        from veneer.runtime.live import LiveSequence

        staged, before = self._staged, self._active
        if staged is None:
            raise RuntimeRefused("Nothing is staged.")
        if before is not None:
            before.live.remember()
            if before.staged.resident is not staged.resident:
                before.staged.resident.close()
        staged.adapters.put_on(staged.resident.context)
        self._cache.resize(staged.limits.kv, _kv_folder(staged.limits))
        live = LiveSequence(staged.resident.context, self._cache, staged.plan.execution)
        live.forget()
        staged.resident.trim(staged.plan, staged.limits.adapters)
        self._active, self._staged = Active(staged, request.generation, live), None
        self._send(protocol.Done(id=request.id))

    def _discard(self) -> None:
        staged, self._staged = self._staged, None
        running = self._active.staged.resident if self._active else None
        if staged is not None and staged.resident is not running:
            staged.resident.close()

    def _generate(self, request: protocol.Generate) -> None:
        from veneer.runtime.answer import answer

        active = self._require_active()

        def emit(text: str) -> None:
            if text:
                self._send(protocol.Chunk(id=request.id, text=text))

        check = self._cancel_check(request.id)
        result = answer(active.staged.resident, active.live, request, emit, check)
        self._send(
            protocol.Finished(
                id=request.id,
                token_ids=tuple(result.token_ids),
                finish_reason=result.reason,
                composition=active.staged.plan.composition,
                execution=active.staged.plan.execution,
                generation=active.generation,
                prompt_tokens=result.prompt_tokens,
                reused_tokens=result.reused_tokens,
                first_token_ms=result.first_token * 1000,
                tokens_per_second=result.tokens_per_second,
                n_ctx=active.staged.resident.context.n_ctx,
                dropped=result.dropped,
            )
        )

    def _evaluate(self, request: protocol.Evaluate) -> None:
        active = self._require_active()
        n_vocab = active.staged.resident.model.n_vocab
        if not request.token_ids or not all(0 <= t < n_vocab for t in request.token_ids):
            raise RuntimeRefused(f"Token ids must be from 0 to {n_vocab - 1}, at least one.")
        active.live.remember()
        active.live.forget()
        active.live.extend(request.token_ids, self._cancel_check(request.id))
        logits = active.staged.resident.context.logits()
        active.live.forget()
        self._send(protocol.Logits(id=request.id, data=logits.astype("<f4").tobytes()))

    def _tokenize(self, request: protocol.Tokenize) -> None:
        model = self._require_active().staged.resident.model
        tokens = model.tokenize(request.text, add_special=True, parse_special=False)
        self._send(protocol.Tokens(id=request.id, token_ids=tokens))

    def _require_active(self) -> Active:
        if self._active is None:
            raise NothingActive("No composition is active.")
        return self._active

    def _residents(self) -> list["Resident"]:
        held = (self._active.staged if self._active else None, self._staged)
        return [staged.resident for staged in held if staged is not None]

    def _cancel_check(self, request_id: int) -> Callable[[], None]:
        def check() -> None:
            self._pulse.advance()
            while (message := self._poll()) is not None:
                if not isinstance(message, protocol.Cancel):
                    self._waiting.append(message)
                if isinstance(message, protocol.Shutdown) or message.id == request_id:
                    raise Cancelled("Stopped.")

        return check

    def _beginning(self, request_id: int) -> Callable[[str, Digest], None]:
        check = self._cancel_check(request_id)

        def begin(doing: str, digest: Digest) -> None:
            check()
            self._pulse.begin(doing, digest)

        return begin


def _kv_folder(limits: protocol.Limits) -> KvFolder | None:
    if not limits.kv_folder:
        return None
    folder = KvFolder(RealFs(), Path(limits.kv_folder), limits.kv_disk)
    return folder if limits.kv_disk else None


class _Clock:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self._last = perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Note the time since the last lap under this name."""
        moment = perf_counter()
        self.laps[name] = (moment - self._last) * 1000
        self._last = moment


def main(connection: Connection, log: str) -> None:
    """The worker's whole life. Runs in the spawned process."""
    household.forget_environment()
    household.limit_resources()
    household.go_first(RealFs())
    written = household.Log(RealFs(), Path(log))
    # Ctrl-C in a terminal reaches every process of the group; stopping is the engine's to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sending = threading.Lock()

    def send(reply: Reply) -> None:
        with sending:
            connection.send_bytes(protocol.encode(reply))

    def poll() -> Request | None:
        return protocol.decode_request(connection.recv_bytes()) if connection.poll() else None

    try:
        lane, ready = _load_llama(written)
    except RuntimeMissing as error:
        send(protocol.Failed(id=0, code=error.code, message=error.message))
        return
    send(ready)
    worker = Worker(send, poll, Pulse(send), lane)
    try:
        while True:
            waiting = worker.next_waiting()
            request = waiting or protocol.decode_request(connection.recv_bytes())
            if isinstance(request, protocol.Shutdown):
                break
            worker.handle(request)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # The engine is gone; there is nobody left to answer.
    worker.close()
    send(protocol.Done(id=request.id))


def _load_llama(log: household.Log) -> tuple["OverlayLane | None", protocol.Ready]:
    from veneer.runtime import llama

    llama.assert_api()
    _kept_alive.append(llama.Logging(log.write))
    try:
        lane, why_not = llama.overlay_lane(), ""
    except OverlayOff as error:
        lane, why_not = None, error.message
    ready = protocol.Ready(
        build=llama.build_id(),
        gpus=llama.devices().gpus,
        overlay="" if lane is None else lane.id,
        why_no_overlay=why_not,
    )
    return lane, ready


_kept_alive: list[object] = []
