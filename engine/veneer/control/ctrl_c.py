"""Ctrl-C as a wish and not as an exception, which could fall between a commit and its return.

The first press is noted, and what is under way ends at its next safe point, or ends well; the
second leaves at once. A wait for input is always left at once. Only for the main thread.
"""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


class CtrlC:
    """Listens inside its `with` block. `heard` is called at the first press."""

    def __init__(self, heard: Callable[[], None] = lambda: None) -> None:
        self.pressed = False
        self.insisted = False
        self._heard = heard
        self._raises = False

    def __enter__(self) -> "CtrlC":
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def heeded(self) -> Generator[None]:
        """Let it end a wait for input."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.insisted = self.pressed
        self.pressed = True
        self._heard()
        if self.insisted or self._raises:
            raise KeyboardInterrupt
