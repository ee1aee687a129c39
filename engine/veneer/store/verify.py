"""Are the bytes still the bytes? Re-hashing, and remembering what need not be re-hashed.

A file that hashed right is remembered under its device, inode, size and times; while those stay
the same it is not read again. Anything else is hashed before it is used.
"""

from collections.abc import Iterable
from pathlib import Path

from veneer.errors import Damaged
from veneer.identity import Digest, sha256_file, short
from veneer.store.database import Database
from veneer.store.fs import FileStat, Fs
from veneer.tasks import CancelToken, Progress, silent


class Verifier:
    """Checks files against their digests."""

    def __init__(self, fs: Fs, database: Database) -> None:
        self._fs = fs
        self._database = database

    def verify(
        self,
        path: Path,
        digest: Digest,
        what: str,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
        *,
        thorough: bool = False,
    ) -> None:
        """Raise `Damaged`, naming `what`, unless the file at `path` has this digest now."""
        found = self._fs.stat(path)
        if found is None or not found.is_file:
            raise Damaged(f"{what} is missing: there is no file {path}.")
        if not thorough and self._known(path, found) == digest:
            return
        with self._fs.open_read(path) as file:
            actual = sha256_file(file, found.size, progress, cancel)
        if actual != digest:
            raise Damaged(
                f"{what} has changed on disk: {path} now hashes to {short(actual)}, not to "
                f"{short(digest)}."
            )
        self.remember(path, found, digest)

    def untouched(self, path: Path) -> bool:
        """Whether the file is there and in the very state in which it was last remembered."""
        found = self._fs.stat(path)
        return found is not None and self._known(path, found) is not None

    def remember(self, path: Path, state: FileStat, digest: Digest) -> None:
        """Note that the file in this state has this digest (its hasher says so)."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO verified (path, state, digest) VALUES (?, ?, ?)",
                (str(path), state.key, digest),
            )

    def forget(self, paths: Iterable[Path]) -> None:
        """Forget files that are removed."""
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM verified WHERE path = ?", [(str(path),) for path in paths]
            )

    def _known(self, path: Path, state: FileStat) -> str | None:
        row = self._database.row(
            "SELECT digest FROM verified WHERE path = ? AND state = ?", (str(path), state.key)
        )
        return row["digest"] if row else None
