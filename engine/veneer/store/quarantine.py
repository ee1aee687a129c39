"""Where damaged files are kept: out of use, and not lost.

A file keeps its name; one of that name that lies there already is not replaced.
"""

from pathlib import Path

from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.refs import free_name


class Quarantine:
    """The quarantine of a workspace that is open for writing."""

    def __init__(self, fs: Fs, layout: Layout) -> None:
        self._fs = fs
        self._folder = layout.quarantine

    def take(self, path: Path) -> Path:
        """Move a file out of use; gives where it is now. Raises `NotFound`, `StoreError`."""
        kept = self._folder / free_name(path.name, self._fs.list_dir(self._folder))
        self._fs.replace(path, kept)
        self._fs.sync_dir(self._folder)
        self._fs.sync_dir(path.parent)
        return kept
