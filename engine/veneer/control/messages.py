"""What the two ends say to each other: msgpack, one message a frame.

The asker sends one `Run` or `Raise`. The holder says `Begun` (until then nothing has happened),
then `Output` and `Ask` as they come, and `Ended` at last; the asker answers each `Ask` with a
`Line` and may send `Cancel`.
"""

from typing import Final, Literal

import msgspec

from veneer.errors import ControlFailed

MAX_FRAME: Final = 1 << 20
"""Bytes. A command line or a piece of output is far smaller."""


Stream = Literal["out", "err"]


class Run(msgspec.Struct, frozen=True, tag=True):
    """A command line, and what the holder must know of the terminal it was typed in.

    `cwd` is where its relative paths start; `columns` is the width; `interactive` tells whether
    both ends of the terminal are a person's.
    """

    words: tuple[str, ...]
    cwd: str
    columns: int
    interactive: bool


class Raise(msgspec.Struct, frozen=True, tag=True):
    """Bring the window to the front, and import these files (absolute paths)."""

    paths: tuple[str, ...] = ()


class Line(msgspec.Struct, frozen=True, tag=True):
    """What was typed, or None at the end of input."""

    text: str | None


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """Ctrl-C was pressed."""


class Begun(msgspec.Struct, frozen=True, tag=True):
    """The holder has taken the request and carries it out."""


class Output(msgspec.Struct, frozen=True, tag=True):
    """Text for the asker's terminal."""

    stream: Stream
    text: str


class Ask(msgspec.Struct, frozen=True, tag=True):
    """The command wants a line of input."""

    prompt: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The command has ended with this exit code."""

    code: int


FromAsker = Run | Raise | Line | Cancel
FromHolder = Begun | Output | Ask | Ended

_encoder = msgspec.msgpack.Encoder()
_from_asker = msgspec.msgpack.Decoder(FromAsker)
_from_holder = msgspec.msgpack.Decoder(FromHolder)


def encode(message: FromAsker | FromHolder) -> bytes:
    """One frame."""
    return _encoder.encode(message)


def from_asker(frame: bytes) -> FromAsker:
    """What an asker says. Raises `ControlFailed`."""
    try:
        return _from_asker.decode(frame)
    except msgspec.DecodeError as error:
        raise ControlFailed(f"The other program was not understood: {error}.") from error


def from_holder(frame: bytes) -> FromHolder:
    """What the holder says. Raises `ControlFailed`."""
    try:
        return _from_holder.decode(frame)
    except msgspec.DecodeError as error:
        raise ControlFailed(
            f"The program that holds the workspace was not understood: {error}. "
            "It may be another version of Veneer; close it and try again."
        ) from error
