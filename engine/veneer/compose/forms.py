"""Adapters in llama.cpp's own form, made once per adapter and kind of base, and kept.

A form is derived: it can be thrown away and made again. It is made again whenever the file on
disk is not in the very state in which it was written.
"""

from pathlib import Path

from veneer.adapters.runtime_form import FORM_VERSION, write_runtime_form
from veneer.identity import Digest, digest_of_hashes, sha256_file
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.verify import Verifier


class Forms:
    """The derived forms of a workspace."""

    def __init__(self, fs: Fs, layout: Layout, library: Library, verifier: Verifier) -> None:
        self._fs = fs
        self._layout = layout
        self._library = library
        self._verifier = verifier

    def ensure(self, adapter: StoredAdapter, base: StoredBase) -> Path:
        """The path of the adapter's form for this base, made now if need be.

        Raises `Incompatible`, `FormatError`, `DiskFull`, `StoreError`.
        """
        path = self.path(adapter.digest, base.base.architecture_id, base.base.layout)
        if not self._verifier.untouched(path):
            self._make(adapter, base, path)
        return path

    def path(self, adapter: Digest, architecture_id: Digest, layout: Digest) -> Path:
        """Where an adapter's form for such bases lies, or would lie."""
        key = digest_of_hashes([adapter, architecture_id, layout, str(FORM_VERSION)])
        return self._layout.derived_form(key)

    def _make(self, adapter: StoredAdapter, base: StoredBase, path: Path) -> None:
        with Draft(self._fs, self._layout.tmp) as draft:
            source, file = self._library.source(adapter), draft.file
            write_runtime_form(adapter.adapter, source, base.base, file)
            file.seek(0)
            digest: Digest = sha256_file(file, 0)
            draft.publish(path)
        state = self._fs.stat(path)
        if state is not None:
            self._verifier.remember(path, state, digest)
