"""The holder's end: listen -> prove who asks -> carry out, in a thread for each -> say the end.

Commands of several askers run beside each other, as those of one window do: what must not
overlap is serialised further in, by the activator, the worker's client and the database.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from veneer.control import address, messages
from veneer.control.messages import Ask, Begun, Ended, FromHolder, Line, Output, Raise, Run
from veneer.errors import ControlFailed, VeneerError
from veneer.store.fs import Fs, RealFs
from veneer.store.layout import Layout
from veneer.tasks import CancelToken

_GONE = (EOFError, OSError)
_LAST_WORDS = 10.0
"""Seconds that a caller has to go once its command has ended."""


class Caller:
    """Whoever asked: takes output, gives lines, and sets `cancel` on Ctrl-C or when it is gone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self.cancel = CancelToken()

    def write(self, stream: messages.Stream, text: str) -> None:
        """Show text. A caller that is gone hears nothing; its command stops at a safe point."""
        self.send(Output(stream, text))

    def read_line(self, prompt: str) -> str | None:
        """A line of input, or None at its end or when the caller is gone."""
        self.send(Ask(prompt))
        return self._lines.get()

    def send(self, message: FromHolder) -> None:
        """Say something, if there is still someone to hear it."""
        try:
            with self._sending:
                self._connection.send_bytes(messages.encode(message))
        except _GONE:
            self.cancel.cancel()

    def listen(self) -> None:
        """Hear lines and Ctrl-C until the connection ends."""
        with suppress(*_GONE, VeneerError):
            while True:
                said = messages.from_asker(self._connection.recv_bytes(messages.MAX_FRAME))
                if isinstance(said, Line):
                    self._lines.put(said.text)
                else:
                    self.stop()
        self.stop()

    def stop(self) -> None:
        """Have the command end at its next safe point."""
        self.cancel.cancel()
        self._lines.put(None)


Carry = Callable[[Run, Caller], int]
"""Carries out a command line; gives its exit code."""
Show = Callable[[tuple[Path, ...]], None]
"""Brings the window to the front with these files."""


class Server:
    """Answers on a workspace's control channel from construction until `close`.

    Only for the holder of the workspace's lock. `show` is None where there is no window.
    Raises `StoreError` where the address cannot be written.
    """

    def __init__(
        self, root: Path, carry: Carry, show: Show | None = None, fs: Fs | None = None
    ) -> None:
        self._fs, self._layout = fs or RealFs(), Layout(root)
        self._carry, self._show = carry, show
        self._address = address.announce(self._fs, self._layout)
        self._listener = Listener(self._address.where, address.FAMILY)
        self._callers: dict[threading.Thread, Caller | None] = {}
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="veneer-control", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more callers, stop the commands of those that are there, and wait for them."""
        self._closing = True
        address.withdraw(self._fs, self._layout)
        with suppress(OSError):
            # Nothing else wakes a thread that waits for a connection.
            Client(self._address.where, address.FAMILY).close()
        self._thread.join()
        self._listener.close()
        for thread, caller in list(self._callers.items()):
            if caller is not None:
                caller.stop()
            thread.join(_LAST_WORDS)

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                continue
            if self._closing:
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._callers[thread] = None
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            with connection, suppress(*_GONE, AuthenticationError, VeneerError):
                # Here and not in the listener, where one silent caller would keep out all others.
                deliver_challenge(connection, self._address.authkey)
                answer_challenge(connection, self._address.authkey)
                self._answer(connection)
        finally:
            self._callers.pop(threading.current_thread(), None)

    def _answer(self, connection: Connection) -> None:
        asked = messages.from_asker(connection.recv_bytes(messages.MAX_FRAME))
        caller = Caller(connection)
        self._callers[threading.current_thread()] = caller
        if self._closing:
            # Not begun: the asker sees the end of the connection and opens the workspace itself.
            return
        caller.send(Begun())
        if isinstance(asked, Raise):
            caller.send(Ended(self._raise(asked)))
        elif isinstance(asked, Run):
            self._run(asked, caller)
        else:
            raise ControlFailed("The other program began with an answer.")

    def _run(self, asked: Run, caller: Caller) -> None:
        listening = threading.Thread(target=caller.listen, daemon=True)
        listening.start()
        caller.send(Ended(self._carry(asked, caller)))
        # The caller hangs up first, so that nobody still reads from a connection that is closed.
        listening.join(_LAST_WORDS)

    def _raise(self, asked: Raise) -> int:
        if self._show is None:
            return 1
        self._show(tuple(map(Path, asked.paths)))
        return 0
