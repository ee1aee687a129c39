"""Nothing damaged is used: it is verified, kept aside, and named with all that needs it.

A linked base belongs to somebody else and stays where it is, whatever became of it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from veneer.errors import Damaged, NotFound, StoreError
from veneer.identity import Digest
from veneer.store.catalog import Catalog
from veneer.store.objects import Objects
from veneer.store.quarantine import Quarantine
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.verify import Verifier
from veneer.tasks import CancelToken, Progress, silent

Users = Callable[[Digest], tuple[str, ...]]
"""Gives what people call the compositions that need a base or an adapter."""


class Custody:
    """Answers for the bytes of bases and adapters. Only for the writer of a workspace."""

    def __init__(
        self,
        verifier: Verifier,
        catalog: Catalog,
        objects: Objects,
        quarantine: Quarantine,
        users: Users,
    ) -> None:
        self._verifier = verifier
        self._catalog = catalog
        self._objects = objects
        self._quarantine = quarantine
        self._users = users

    def verify_base(
        self,
        stored: StoredBase,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
        *,
        thorough: bool = False,
    ) -> None:
        """Raise `Damaged` unless the base's file has its digest.

        A file that is in the very state in which it was hashed before is not read again, unless
        `thorough`.
        """
        what, ours = f"The base “{stored.name}”", stored.file if stored.copied else None
        with self._dealing_with_damage(stored.digest, ours):
            self._verifier.verify(
                stored.file, stored.digest, what, progress, cancel, thorough=thorough
            )

    def verify_adapter(
        self,
        stored: StoredAdapter,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
        *,
        thorough: bool = False,
    ) -> None:
        """Raise `Damaged` unless every file of the adapter has its digest; see `verify_base`."""
        for name, digest in stored.files.items():
            what, path = f"The adapter “{stored.name}” ({name})", self._objects.path(digest)
            with self._dealing_with_damage(digest, path):
                self._verifier.verify(path, digest, what, progress, cancel, thorough=thorough)

    def needed_by(self, digest: Digest) -> tuple[str, ...]:
        """What people call the compositions that need a base, an adapter or an object."""
        of = {a.digest for a in self._catalog.adapters() if digest in a.objects} | {digest}
        return tuple(sorted({user for each in of for user in self._users(each)}))

    @contextmanager
    def _dealing_with_damage(self, digest: Digest, ours: Path | None) -> Generator[None]:
        try:
            yield
        except Damaged as error:
            aside = self._set_aside(ours) if ours is not None else ""
            needed = needed_sentence(self.needed_by(digest))
            raise Damaged(f"{error.message}{aside}{needed} Import the original again.") from error

    def _set_aside(self, path: Path) -> str:
        try:
            return f" It is kept as {self._quarantine.take(path)}."
        except NotFound:
            return ""
        except StoreError as error:
            return f" It could not be moved into quarantine: {error.message}"


def needed_sentence(users: tuple[str, ...], most: int = 6) -> str:
    """Who needs it, with a space before; empty if nobody does."""
    if not users:
        return ""
    listed = ", ".join(f"“{user}”" for user in users[:most])
    more = f" and {len(users) - most} more" if len(users) > most else ""
    return f" Needed by {listed}{more}."
