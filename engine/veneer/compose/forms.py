"""Adapters in the form that each lane runs, made once per adapter and kind of base, and kept.

The stock lane's form is llama.cpp's own. The overlay's depends on the very base only where an
operation is made from its weights; what DoRA multiplies rows by depends on the strength, too.

A form is derived: it can be thrown away and made again. It is made again whenever the file on disk
is not in the very state in which it was written.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.dora import GAINS_VERSION, write_gains
from veneer.adapters.overlay_file import OverlayFile
from veneer.adapters.overlay_form import (
    FORM_TYPE,
    OVERLAY_FORM_VERSION,
    uses_weights,
    write_overlay_form,
)
from veneer.adapters.runtime_form import FORM_VERSION, write_runtime_form
from veneer.identity import Digest, digest_of_hashes, sha256_file
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.verify import Verifier
from veneer.tasks import CancelToken


class Forms:
    """The derived forms of a workspace."""

    def __init__(self, fs: Fs, layout: Layout, library: Library, verifier: Verifier) -> None:
        self._fs = fs
        self._layout = layout
        self._library = library
        self._verifier = verifier

    def stock(self, adapter: StoredAdapter, base: StoredBase) -> Path:
        """The path of the adapter's form in llama.cpp's own format, made now if need be.

        Raises `Incompatible`, `FormatError`, `DiskFull`, `StoreError`.
        """

        def write(file: BinaryIO) -> None:
            write_runtime_form(adapter.adapter, self._library.source(adapter), base.base, file)

        return self._ensure(self._stock_key(adapter, base), write)

    def overlay(self, adapter: StoredAdapter, base: StoredBase) -> Path:
        """The path of the adapter's form for the overlay lane. Raises as `stock`."""

        def write(file: BinaryIO) -> None:
            with self._fs.open_read(base.file) as weights:
                source, below = self._library.source(adapter), BaseWeights(weights)
                write_overlay_form(adapter.adapter, source, base.base, below, file)

        return self._ensure(self._overlay_key(adapter, base), write)

    def gains(
        self,
        adapter: StoredAdapter,
        base: StoredBase,
        strength: float,
        cancel: CancelToken | None = None,
    ) -> Path | None:
        """The path of what the adapter multiplies rows by at this strength; None for no DoRA.

        Raises as `stock`, and `Cancelled`.
        """
        if not any(target.operation == "magnitude" for target in adapter.adapter.targets):
            return None
        form = self.overlay(adapter, base)

        def write(file: BinaryIO) -> None:
            with self._fs.open_read(form) as made, self._fs.open_read(base.file) as weights:
                opened = OverlayFile(made, FORM_TYPE)
                write_gains(opened, BaseWeights(weights), strength, file, cancel)

        parts = [*self._overlay_key(adapter, base), base.digest, str(GAINS_VERSION), repr(strength)]
        return self._ensure(parts, write)

    def places(self, adapter: StoredAdapter, base: StoredBase) -> tuple[Path, ...]:
        """Where what is derived from an adapter for a base lies, or would lie, at any strength."""
        keys = self._stock_key(adapter, base), self._overlay_key(adapter, base)
        return tuple(self._place(key) for key in keys)

    def _stock_key(self, adapter: StoredAdapter, base: StoredBase) -> list[str]:
        return [adapter.digest, base.base.architecture_id, base.base.layout, str(FORM_VERSION)]

    def _overlay_key(self, adapter: StoredAdapter, base: StoredBase) -> list[str]:
        made_for = base.digest if uses_weights(adapter.adapter) else base.base.layout
        version = f"overlay {OVERLAY_FORM_VERSION}"
        return [adapter.digest, base.base.architecture_id, made_for, version]

    def _place(self, parts: Sequence[str]) -> Path:
        return self._layout.derived_form(digest_of_hashes(parts))

    def _ensure(self, parts: Sequence[str], write: Callable[[BinaryIO], None]) -> Path:
        path = self._place(parts)
        if not self._verifier.untouched(path):
            self._make(path, write)
        return path

    def _make(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        with Draft(self._fs, self._layout.tmp) as draft:
            write(draft.file)
            draft.file.seek(0)
            digest: Digest = sha256_file(draft.file, 0)
            draft.publish(path)
        state = self._fs.stat(path)
        if state is not None:
            self._verifier.remember(path, state, digest)
