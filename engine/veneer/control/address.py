"""Where the holder of a workspace listens, and the key that proves an asker is the same user.

`control.json` in the workspace has both and is owner-only. It is written by every holder that
listens and removed when it stops; one left by a killed holder leads to a socket nobody answers.
"""

import secrets
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from veneer.errors import VeneerError
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout

FAMILY: Final[str] = "AF_PIPE" if sys.platform == "win32" else "AF_UNIX"
_PIPES: Final = "\\\\.\\pipe\\"
_LONGEST_SOCKET: Final = 100
"""Bytes: the least that the systems leave for a socket's path, less a few."""


class Address(msgspec.Struct, frozen=True):
    """A socket's path or a pipe's name, and the key in hexadecimal."""

    where: str
    key: str

    @property
    def authkey(self) -> bytes:
        """What both ends of a connection must know."""
        return bytes.fromhex(self.key)


def announce(fs: Fs, layout: Layout) -> Address:
    """Choose a place to listen and write it down. Only for the holder of the lock."""
    address = Address(_place(fs, layout), secrets.token_hex(32))
    if not address.where.startswith(_PIPES):
        fs.unlink(Path(address.where))
    with Draft(fs, layout.tmp) as draft:
        draft.write(msgspec.json.encode(address))
        draft.publish(layout.control)
    return address


def withdraw(fs: Fs, layout: Layout) -> None:
    """Take the announcement back."""
    fs.unlink(layout.control)


def find(fs: Fs, layout: Layout) -> Address | None:
    """Where the holder listens, as far as is known."""
    try:
        with fs.open_read(layout.control) as file:
            return msgspec.json.decode(file.read(), type=Address)
    except (VeneerError, msgspec.DecodeError):
        return None


def _place(fs: Fs, layout: Layout) -> str:
    name = sha256(str(layout.root).encode()).hexdigest()[:16]
    if sys.platform == "win32":
        return f"{_PIPES}veneer-{name}-{secrets.token_hex(4)}"
    beside = layout.root / "control.sock"
    if len(bytes(beside)) <= _LONGEST_SOCKET:
        return str(beside)
    directory = platformdirs.user_runtime_path("veneer", appauthor=False)
    fs.make_dirs(directory)
    return str(directory / f"{name}.sock")
