"""Computed sequences in files, for those who ask for it: they hold what was said.

A file is `length of header, header, state`. The header says under which execution id and for
which tokens the state was computed, and the state's SHA-256: a file that says anything else, or
is damaged, is removed and never used. Everything here can be lost at any time, so a file system
that refuses costs speed and nothing else. Files are the owner's alone. Worker process only.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec

from veneer.errors import VeneerError
from veneer.identity import Digest, hex_of
from veneer.runtime.sequences import Snapshot, Tokens, continues
from veneer.store.draft import Draft
from veneer.store.fs import Fs

_LENGTH = 4
_SUFFIX = ".kv"
_PART = ".part"


class _Header(msgspec.Struct, frozen=True):
    execution: Digest
    tokens: Tokens
    sha256: bytes


class KvFolder:
    """The files of one folder, at most `budget` bytes of them. Those written first go first."""

    def __init__(self, fs: Fs, folder: Path, budget: int) -> None:
        self._fs = fs
        self._folder = folder
        self._budget = budget
        for path in self._files():
            if path.suffix == _PART:  # Left half written by a process that died.
                self._remove(path)
        self._trim()

    def keep(self, execution: Digest, sequence: Snapshot) -> None:
        """Write a sequence, unless it is there."""
        path = self._path(execution, sequence.tokens)
        if self._budget < len(sequence.state):
            return
        with suppress(VeneerError):
            if self._fs.stat(path) is None:
                self._write(path, execution, sequence)
            self._trim()

    def longest_prefix(self, execution: Digest, prompt: Tokens) -> Snapshot | None:
        """The longest intact sequence that `prompt` properly continues, or None."""
        found = [(self._header(path), path) for path in self._files(_shelf(execution))]
        fitting = [
            (header, path)
            for header, path in found
            if header is not None
            and header.execution == execution
            and continues(header.tokens, prompt)
        ]
        for header, path in sorted(fitting, key=lambda pair: len(pair[0].tokens), reverse=True):
            state = self._state(path, header)
            if state is not None:
                return Snapshot(header.tokens, state)
            self._remove(path)
        return None

    def _path(self, execution: Digest, tokens: Tokens) -> Path:
        digest = hashlib.sha256(msgspec.msgpack.encode(tokens)).hexdigest()
        return self._folder / f"{_shelf(execution)}{digest[:32]}{_SUFFIX}"

    def _write(self, path: Path, execution: Digest, sequence: Snapshot) -> None:
        header = msgspec.msgpack.encode(
            _Header(execution, sequence.tokens, hashlib.sha256(sequence.state).digest())
        )
        with Draft(self._fs, self._folder) as draft:
            draft.write(len(header).to_bytes(_LENGTH, "little") + header)
            draft.write(sequence.state)
            draft.publish(path)

    def _header(self, path: Path) -> _Header | None:
        try:
            with self._fs.open_read(path) as file:
                length = int.from_bytes(file.read(_LENGTH), "little")
                return msgspec.msgpack.decode(file.read(length), type=_Header)
        except (VeneerError, msgspec.DecodeError):
            self._remove(path)
            return None

    def _state(self, path: Path, header: _Header) -> bytes | None:
        with suppress(VeneerError), self._fs.open_read(path) as file:
            length = int.from_bytes(file.read(_LENGTH), "little")
            file.seek(_LENGTH + length)
            state = file.read()
            return state if hashlib.sha256(state).digest() == header.sha256 else None
        return None

    def _files(self, beginning: str = "") -> list[Path]:
        with suppress(VeneerError):
            names = self._fs.list_dir(self._folder)
            paths = [self._folder / name for name in names if name.startswith(beginning)]
            # Whatever else lies there is not ours to remove.
            return [path for path in paths if path.suffix in (_SUFFIX, _PART)]
        return []

    def _trim(self) -> None:
        """Down to the budget."""
        stats = [(path, self._fs.stat(path)) for path in self._files()]
        there = [(stat.mtime_ns, stat.size, path) for path, stat in stats if stat is not None]
        excess = sum(size for _, size, _ in there) - self._budget
        for _, size, path in sorted(there):
            if excess <= 0:
                return
            self._remove(path)
            excess -= size

    def _remove(self, path: Path) -> None:
        with suppress(VeneerError):
            self._fs.unlink(path)


def _shelf(execution: Digest) -> str:
    return f"{hex_of(execution)[:32]}-"
