"""Where a command's output goes and its lines come from: this terminal, or another process's."""

import io
import sys
from pathlib import Path
from typing import IO, Protocol, cast

from rich.console import Console

from veneer.control.messages import Run, Stream
from veneer.control.server import Caller


class Terminal(Protocol):
    """A terminal, and the directory in which its relative paths start."""

    @property
    def cwd(self) -> Path: ...
    def write(self, stream: Stream, text: str) -> None: ...
    def read_line(self, prompt: str) -> str | None: ...
    def console(self, stream: Stream) -> Console: ...


class LocalTerminal:
    """The standard streams of this process."""

    cwd = Path()

    def write(self, stream: Stream, text: str) -> None:
        """Print text at once."""
        file = sys.stdout if stream == "out" else sys.stderr
        file.write(text)
        file.flush()

    def read_line(self, prompt: str) -> str | None:
        """A line without its end, or None at the end of input. Piped input shows no prompt."""
        try:
            return input(prompt if sys.stdin.isatty() else "")
        except EOFError:
            return None

    def console(self, stream: Stream) -> Console:
        """For what is more than plain text."""
        return Console(stderr=stream == "err", highlight=False, soft_wrap=stream == "out")


class CallersTerminal:
    """The terminal of the process that asked, as its request describes it."""

    def __init__(self, asked: Run, caller: Caller) -> None:
        self.cwd = Path(asked.cwd)
        self._asked = asked
        self._caller = caller

    def write(self, stream: Stream, text: str) -> None:
        """Send text at once."""
        self._caller.write(stream, text)

    def read_line(self, prompt: str) -> str | None:
        """A line typed at the other end."""
        return self._caller.read_line(prompt)

    def console(self, stream: Stream) -> Console:
        """For what is more than plain text."""
        return Console(
            file=cast("IO[str]", _Sent(self._caller, stream)),
            force_terminal=self._asked.interactive,
            width=self._asked.columns,
            highlight=False,
            soft_wrap=stream == "out",
        )


class _Sent(io.TextIOBase):
    """A text file whose writes go to a caller."""

    def __init__(self, caller: Caller, stream: Stream) -> None:
        self._caller = caller
        self._stream: Stream = stream

    def write(self, text: str, /) -> int:
        if text:
            self._caller.write(self._stream, text)
        return len(text)

    def writable(self) -> bool:
        return True
