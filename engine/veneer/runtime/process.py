"""The worker as a process: spawned, spoken to, listened to, and ended if it hangs.

A worker is hung if it says nothing for longer than it ever should, or if it says that one step
takes longer than any step may. Time is counted by looking, so that a suspended computer does not
wake up to a hung worker.
"""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from veneer.errors import RuntimeCrashed, RuntimeTimeout
from veneer.runtime import protocol
from veneer.runtime.protocol import Beat, Reply, Request

_POLL = 0.02


@dataclass(frozen=True)
class Patience:
    """Seconds. `silence`: without any word. `load` and `step`: in one step, as the worker says.

    A step is one file loaded, one probe, or one batch of tokens decoded.
    """

    start: float = 60.0
    silence: float = 30.0
    load: float = 900.0
    step: float = 120.0


@contextmanager
def _ctrl_c_kept_out() -> Generator[None]:
    """A process started in here does not hear Ctrl-C, not even before it can say so itself."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerProcess:
    """One worker, alive from construction until it dies or `end` is called."""

    def __init__(self, log: Path) -> None:
        # Imported here because the worker module is the other process's, not ours.
        from veneer.runtime.worker import main

        self._log = log
        self._sending = threading.Lock()
        self._doing = Beat(id=0, doing="", digest=None, seconds=0.0)
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=main, args=(theirs, str(log)), name="veneer-worker", daemon=True
        )
        with _ctrl_c_kept_out():
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid or 0

    @property
    def alive(self) -> bool:
        """Whether there is somebody to talk to."""
        return self._process.is_alive()

    def say(self, request: Request) -> None:
        """Send a request. Raises `RuntimeCrashed`."""
        try:
            with self._sending:
                self._connection.send_bytes(protocol.encode(request))
        except (OSError, ValueError) as error:
            raise self._crashed("being spoken to") from error

    def replies(self, doing: str, silence: float, step: float) -> Iterator[Reply | None]:
        """Replies as they come; None now and then, so that the caller can look around.

        Raises `RuntimeCrashed` and `RuntimeTimeout`; the process is gone then.
        """
        waited = 0.0
        self._doing = Beat(id=0, doing=doing, digest=None, seconds=0.0)
        while True:
            ready = wait([self._connection, self._process.sentinel], _POLL)
            waited = 0.0 if ready else waited + _POLL
            if self._connection in ready:
                reply = self._receive(doing)
                if isinstance(reply, Beat):
                    self._judge(reply, doing, step)
                else:
                    yield reply
            elif ready:
                raise self._crashed(doing)
            elif waited > silence:
                raise self._hung(f"said nothing for {silence:g} s", doing)
            yield None

    def end(self, grace: float = 0.0) -> None:
        """Let it end by itself for `grace` seconds, then end it by force."""
        self._process.join(grace)
        if self._process.is_alive():
            self._process.kill()
        # Not closed: another thread may be asking it whether it is alive.
        self._process.join(10)
        self._connection.close()

    def _receive(self, doing: str) -> Reply:
        try:
            return protocol.decode_reply(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._crashed(doing) from None

    def _judge(self, beat: Beat, doing: str, step: float) -> None:
        self._doing = beat if beat.doing else self._doing
        if beat.seconds > step:
            raise self._hung(f"spent more than {step:g} s on one step", doing)

    def _hung(self, how: str, doing: str) -> RuntimeTimeout:
        self.end()
        return RuntimeTimeout(
            f"The runtime {how} while {self._doing.doing or doing}, and was stopped.",
            digest=self._doing.digest,
        )

    def _crashed(self, doing: str) -> RuntimeCrashed:
        self.end(grace=5)
        code = self._process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return RuntimeCrashed(
            f"The runtime ended unexpectedly while {self._doing.doing or doing} ({how}). Its last "
            f"words are in {self._log}.",
            digest=self._doing.digest,
        )
