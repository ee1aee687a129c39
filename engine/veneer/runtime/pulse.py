"""The worker's sign of life: once a second, what it is doing and for how long. Worker process only.

llama.cpp works outside Python's lock, so the pulse goes on while a step takes long; the engine
judges from `seconds` whether it takes too long, and from silence that the whole process stands.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from veneer.identity import Digest
from veneer.runtime.protocol import Beat

EVERY = 1.0


class Pulse:
    """Beats while a request is in hand. `send` must be safe to call from another thread."""

    def __init__(self, send: Callable[[Beat], None], every: float = EVERY) -> None:
        self._send = send
        self._every = every
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._request: int | None = None
        self._doing, self._digest, self._since = "", None, 0.0
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def take(self, request_id: int) -> None:
        """A request is in hand from now on."""
        with self._lock:
            self._request, self._doing, self._digest = request_id, "", None
            self._since = monotonic()

    def rest(self) -> None:
        """No request is in hand: nobody listens, so nothing is sent."""
        with self._lock:
            self._request = None

    def advance(self) -> None:
        """One more step like the one before begins."""
        self._since = monotonic()

    def begin(self, doing: str, digest: Digest | None = None) -> None:
        """A step of its own begins, and is told at once: it may be the last thing we say."""
        with self._lock:
            self._doing, self._digest, self._since = doing, digest, monotonic()
            self._beat()

    def _run(self) -> None:
        with suppress(OSError):  # The engine is gone; the main thread finds out by itself.
            while not self._ended.wait(self._every):
                with self._lock:
                    self._beat()

    def _beat(self) -> None:
        if self._request is not None:
            seconds = monotonic() - self._since
            self._send(
                Beat(id=self._request, doing=self._doing, digest=self._digest, seconds=seconds)
            )
