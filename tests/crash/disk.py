"""A disk that loses its power: what of a workspace may be found on it afterwards."""

import os
import random
import shutil
from pathlib import Path
from typing import Literal

from tests.engine.faults import Call

Loss = Literal["killed", "lost", "empty", "zeroes", "torn", "shuffled"]
"""`killed`: the process alone died, nothing is lost. `lost`: whatever was not made safe is as
before. `empty`, `zeroes`, `torn`: every name is there, and the bytes that were not made safe are
missing, or zeroes, or end in the middle of a block. `shuffled`: each name and each file by chance.
"""
LOSSES: tuple[Loss, ...] = ("killed", "lost", "empty", "zeroes", "torn", "shuffled")

_SECTOR = 512
_NAMING = {"create", "replace", "unlink", "make_dirs"}
_OTHERS = {"veneer.db", "veneer.db-wal", "veneer.db-shm", "lock"}
"""Files that are not written through an `Fs`."""


class Disk:
    """Follows the files under `root`; `vault` keeps the bytes of those that have lost their name.

    What lies there at the beginning is safe.
    """

    def __init__(self, root: Path, vault: Path) -> None:
        self._root = root
        self._vault = vault
        self._safe: dict[int, bytes] = {}
        self._names: dict[Path, dict[str, list[int | None]]] = {}
        vault.mkdir()
        self.observe()
        for inode in self._safe:
            self._safe[inode] = self._bytes(inode)
        for directory in self._names:
            self._make_names_safe(directory)

    def observe(self) -> None:
        """Notice what has come, gone or been renamed since the last time."""
        for directory in self._directories():
            known = self._names.setdefault(directory, {})
            found = {path.name: self._inode(path) for path in directory.iterdir()}
            for name in {*known, *found} - (_OTHERS if directory == self._root else set()):
                states = known.setdefault(name, [None])
                if states[-1] != found.get(name):
                    states.append(found.get(name))

    def after(self, call: Call) -> None:
        """Notice what an operation changed or made safe."""
        if call.operation in _NAMING:
            self.observe()
        if call.operation == "sync":
            inode = self._inode(call.path)
            self._safe[inode] = self._bytes(inode)
        if call.operation == "sync_dir" and call.path in self._names:
            self.observe()
            self._make_names_safe(call.path)

    def leave(self, target: Path, loss: Loss, seed: int = 0) -> None:
        """Write what may be found after a cut at this moment to `target`."""
        self.observe()
        chance = random.Random(seed)
        self._leave(self._root, target, loss, chance)
        for name in ("veneer.db", "veneer.db-wal"):
            if (self._root / name).exists():
                target.mkdir(mode=0o700, exist_ok=True)
                shutil.copy(self._root / name, target / name)

    def _leave(self, directory: Path, target: Path, loss: Loss, chance: random.Random) -> None:
        target.mkdir(mode=0o700, exist_ok=True)
        for name, states in sorted(self._names.get(directory, {}).items()):
            inode = _chosen(states, loss, chance)
            if inode is None:
                continue
            if directory / name in self._names:
                self._leave(directory / name, target / name, loss, chance)
            else:
                (target / name).write_bytes(self._found(inode, loss, chance))

    def _found(self, inode: int, loss: Loss, chance: random.Random) -> bytes:
        safe, written = self._safe[inode], self._bytes(inode)
        if safe == written or loss == "killed":
            return written
        half = len(written) // 2
        torn = written[: half // _SECTOR * _SECTOR or half]
        options = {"lost": safe, "empty": b"", "zeroes": bytes(len(written)), "torn": torn}
        return options[loss] if loss != "shuffled" else chance.choice([*options.values(), written])

    def _directories(self) -> list[Path]:
        return [Path(path) for path, _, _ in os.walk(self._root)]

    def _inode(self, path: Path) -> int:
        found = path.stat()
        if path.is_file() and found.st_ino not in self._safe:
            # As long as the vault has a name for it, no other file gets its number.
            os.link(path, self._vault / str(found.st_ino))
            self._safe[found.st_ino] = b""
        return found.st_ino

    def _bytes(self, inode: int) -> bytes:
        return (self._vault / str(inode)).read_bytes()

    def _make_names_safe(self, directory: Path) -> None:
        known = self._names[directory]
        self._names[directory] = {n: [s[-1]] for n, s in known.items() if s[-1] is not None}


def _chosen(states: list[int | None], loss: Loss, chance: random.Random) -> int | None:
    if loss == "shuffled":
        return chance.choice(states)
    return states[0 if loss == "lost" else -1]
