"""What a check of a workspace found, and what was done about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

Code = Literal[
    "OBJECT_DAMAGED",  # its bytes are not those that name it
    "OBJECT_UNREADABLE",  # the file system does not give its bytes
    "OBJECT_UNUSED",  # no row names it
    "STRAY",  # a file that Veneer did not put there
    "FILES_MISSING",  # an adapter or base lacks a file
    "TABLE_MISSING",  # the table of an adapter's files is gone or damaged
    "MANIFEST_DAMAGED",
    "MANIFEST_MISSING",
    "MANIFEST_UNKNOWN",  # no row names it, or one that had given it up
    "POINTER",  # what is active was never committed
    "CATALOG",  # SQLite finds its file damaged
    "TEMPORARY",  # a file that is being written, or was left
    "PERMISSIONS",  # others may look into the workspace
]

_HARMLESS = frozenset({"OBJECT_UNUSED", "MANIFEST_UNKNOWN", "TEMPORARY"})


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it should be. `repair` says what was done, or is empty."""

    code: Code
    where: str
    message: str
    repair: str = ""

    @property
    def ok(self) -> bool:
        """Whether it costs space alone, or is put right."""
        return bool(self.repair) or self.code in _HARMLESS


@dataclass(frozen=True)
class Found:
    """A finding, and how to repair it where that is certain: `repair` does it and says what."""

    finding: Finding
    repair: Callable[[], str] | None = None


class FsckReport(msgspec.Struct, frozen=True, kw_only=True):
    """A whole check: how much was looked at (`bytes` of `objects`), and what was found."""

    objects: int
    bytes: int
    manifests: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is left that needs a person."""
        return all(finding.ok for finding in self.findings)
