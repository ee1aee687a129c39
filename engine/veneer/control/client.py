"""The asker's end: find the holder -> prove who we are -> ask -> show what comes -> the exit code.

Ctrl-C goes to the holder as a `Cancel`, which it heeds at its next safe point; pressed again, it
leaves without waiting.
"""

from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Protocol

from veneer.control import address, messages
from veneer.control.ctrl_c import CtrlC
from veneer.control.messages import Ask, Begun, Cancel, Ended, FromHolder, Line, Output, Raise, Run
from veneer.errors import ControlFailed
from veneer.store.fs import Fs, RealFs
from veneer.store.layout import Layout

_LOOK_EVERY = 0.05
_GONE = (EOFError, OSError, AuthenticationError)


class Terminal(Protocol):
    """Where output goes and lines come from."""

    def write(self, stream: messages.Stream, text: str) -> None: ...
    def read_line(self, prompt: str) -> str | None: ...


def hand_over(
    root: Path,
    asked: Run,
    terminal: Terminal,
    fs: Fs | None = None,
    ctrl_c: CtrlC | None = None,
) -> int | None:
    """Have the holder of a workspace carry out a command line; gives its exit code.

    None if no holder answers, or none that has begun: nothing has happened then. Only on the
    main thread, where Ctrl-C arrives. Raises `ControlFailed` if the holder ended in between, and
    `KeyboardInterrupt` at the second Ctrl-C.
    """
    connection = _begun(root, asked, fs)
    if connection is None:
        return None
    with connection, ctrl_c or CtrlC() as listening:
        return _follow(connection, terminal, listening)


def raise_window(root: Path, paths: tuple[Path, ...] = (), fs: Fs | None = None) -> bool:
    """Bring the window that holds a workspace to the front, with these files to import.

    False if there is none. Raises `ControlFailed`.
    """
    asked = Raise(tuple(str(path.absolute()) for path in paths))
    connection = _begun(root, asked, fs)
    if connection is None:
        return False
    with connection:
        answer = _next(connection)
        return isinstance(answer, Ended) and answer.code == 0


def _begun(root: Path, asked: Run | Raise, fs: Fs | None) -> Connection | None:
    """A connection to the holder, which has begun with what was asked."""
    found = address.find(fs or RealFs(), Layout(root))
    if found is None:
        return None
    try:
        connection = Client(found.where, address.FAMILY, found.authkey)
    except _GONE:
        return None
    try:
        connection.send_bytes(messages.encode(asked))
        if isinstance(messages.from_holder(connection.recv_bytes(messages.MAX_FRAME)), Begun):
            return connection
    except _GONE:
        pass
    connection.close()
    return None


def _follow(connection: Connection, terminal: Terminal, ctrl_c: CtrlC) -> int:
    told = False
    while True:
        if ctrl_c.pressed and not told:
            _say(connection, Cancel())
            told = True
        if not connection.poll(_LOOK_EVERY):
            continue
        match _next(connection):
            case Output(stream, text):
                terminal.write(stream, text)
            case Ask(prompt):
                with ctrl_c.heeded():
                    _say(connection, Line(terminal.read_line(prompt)))
            case Ended(code):
                return code
            case Begun():
                raise ControlFailed("The holder of the workspace began twice.")


def _next(connection: Connection) -> FromHolder:
    try:
        return messages.from_holder(connection.recv_bytes(messages.MAX_FRAME))
    except _GONE as error:
        raise _gone() from error


def _say(connection: Connection, message: Line | Cancel) -> None:
    try:
        connection.send_bytes(messages.encode(message))
    except _GONE as error:
        raise _gone() from error


def _gone() -> ControlFailed:
    return ControlFailed(
        "The program that carried this out has ended before it was done. "
        "“veneer status” and “veneer history” tell what became of it."
    )
