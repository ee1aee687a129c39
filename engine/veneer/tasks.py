"""Long operations: how they report progress and how they are stopped.

A long operation takes `progress` and `cancel`. It calls `progress(done, total)` now and then, and
`cancel.check()` at every point where stopping leaves nothing half done.
"""

import threading
from collections.abc import Callable

from veneer.errors import Cancelled

Progress = Callable[[int, int], None]
"""Called with (done, total), both in bytes or both in steps; from the operation's own thread."""


def silent(done: int, total: int) -> None:
    """A `Progress` that reports to nobody."""


def part_of(whole: Progress, before: int, total: int) -> Progress:
    """The progress of one part, told as that of a whole of which `before` was done before it."""

    def report(done: int, _: int) -> None:
        whole(before + done, total)

    return report


class CancelToken:
    """Set once, from any thread, to stop the operation that holds it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the operation to stop at its next safe point."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Let time pass. Raises `Cancelled` as soon as the operation is to stop."""
        self._event.wait(seconds)
        self.check()

    def check(self) -> None:
        """Raise `Cancelled` if the operation is to stop."""
        if self._event.is_set():
            raise Cancelled("Stopped. Nothing was changed.")
