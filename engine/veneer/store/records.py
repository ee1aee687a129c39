"""The rows of the catalog as immutable values."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter
from veneer.identity import Digest


class StoredBase(msgspec.Struct, frozen=True, kw_only=True):
    """A base the workspace knows: linked where it lies, or copied in."""

    digest: Digest
    name: str
    path: str
    copied: bool
    base: Base
    added_at: str

    @property
    def file(self) -> Path:
        """Where its bytes are."""
        return Path(self.path)

    @property
    def objects(self) -> frozenset[Digest]:
        """The object that it is, if it was copied in."""
        return frozenset({self.digest} if self.copied else ())


class StoredAdapter(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter the workspace holds, with what its owner noted about it.

    `files` maps each semantic file's name to the object that holds it. `source` is the path it
    was first imported from; nothing is ever read from there again. `system_prompt` is what its
    owner recommends to ask it with.
    """

    digest: Digest
    name: str
    files: dict[str, Digest]
    size: int
    adapter: Adapter
    added_at: str
    default_scale: float = 1.0
    trigger_text: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    system_prompt: str = ""
    license: str = ""
    source: str = ""

    @property
    def objects(self) -> frozenset[Digest]:
        """Every object it is made of: its files, and the table of them if there are several."""
        return frozenset({self.digest, *self.files.values()})


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """What a person took out of the library, as it was, and when (UTC, ISO 8601)."""

    stored: StoredBase | StoredAdapter
    removed_at: str


@dataclass(frozen=True)
class OpenedSource:
    """An adapter's semantic files, each opened by its own door."""

    doors: dict[str, Callable[[], BinaryIO]]

    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self.doors)

    def open(self, name: str) -> BinaryIO:
        """Open one of them. The caller closes it."""
        return self.doors[name]()
