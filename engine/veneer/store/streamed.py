"""A file that has no path: what an archive and a hub have in common."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO


@dataclass(frozen=True)
class Streamed(ABC):
    """One file by the name that it has where it lies, with / between folders. Size in bytes."""

    name: str
    size: int

    @property
    def folder(self) -> str:
        """The folder it lies in, "" at the top."""
        return str(PurePosixPath(self.name).parent).removeprefix(".")

    @property
    def file_name(self) -> str:
        """Its name without the folder."""
        return PurePosixPath(self.name).name

    @abstractmethod
    def open(self) -> AbstractContextManager[BinaryIO]:
        """Read it from its start, forwards only. Raises a `VeneerError` where it is broken."""
