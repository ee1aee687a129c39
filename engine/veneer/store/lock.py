"""One workspace has one writer at a time.

The lock is the kernel's, on a permanent file: when its holder dies, however it dies, the lock is
gone, so nothing ever guesses whether a lock is stale. `holder.json` beside it is for messages.
"""

import os
import socket
import sys
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from veneer.errors import VeneerError, WorkspaceBusy
from veneer.store.database import now
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock, as far as is known."""

    pid: int
    host: str
    program: str
    since: str


class WriterLock:
    """Held from construction until `release`. Raises `WorkspaceBusy` naming the holder."""

    def __init__(self, fs: Fs, layout: Layout) -> None:
        self._lock = FileLock(layout.lock, timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise WorkspaceBusy(_busy_sentence(fs, layout)) from error
        self._announce(fs, layout)

    def release(self) -> None:
        """Let the next writer in."""
        self._lock.release()

    def _announce(self, fs: Fs, layout: Layout) -> None:
        program = Path(sys.argv[0]).name or "python"
        holder = Holder(os.getpid(), socket.gethostname(), program, now())
        try:
            with Draft(fs, layout.tmp) as draft:
                draft.write(msgspec.json.encode(holder))
                draft.publish(layout.holder)
        except VeneerError:
            self.release()
            raise


def _busy_sentence(fs: Fs, layout: Layout) -> str:
    try:
        with fs.open_read(layout.holder) as file:
            holder = msgspec.json.decode(file.read(), type=Holder)
    except (VeneerError, msgspec.DecodeError):
        return f"Another program is using the workspace {layout.root}."
    return (
        f"The workspace {layout.root} is in use by {holder.program} (process {holder.pid} on "
        f"{holder.host}, since {holder.since[:19]}). Close it, or use another workspace."
    )
