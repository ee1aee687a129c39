"""Writing a stack to one file that can be given away.

Every byte is hashed on its way out, so that a damaged adapter never leaves the workspace. The
same stack makes the same file, byte for byte.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from veneer.compose.manifest import encode
from veneer.compose.package import (
    ABOUT,
    MANIFEST,
    About,
    AboutAdapter,
    AboutBase,
    adapter_file,
    base_file,
)
from veneer.compose.stacks import Composition
from veneer.errors import Damaged, NameTaken
from veneer.identity import PREFIX, Digest, short
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.tasks import CancelToken, Progress, silent

_CHUNK: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_OWNER_AND_OTHERS: Final = 0o100644 << 16


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """A package that was written. `size` in bytes."""

    path: str
    composition_id: Digest
    name: str
    adapters: int
    base_included: bool
    size: int


class Exporter:
    """Packs compositions of one workspace."""

    def __init__(self, fs: Fs, library: Library) -> None:
        self._fs = fs
        self._library = library

    def export(
        self,
        composition: Composition,
        target: Path,
        *,
        with_base: bool = False,
        replace: bool = False,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Exported:
        """Write a package to `target`, which appears only when it is complete.

        Raises `NameTaken` if something is there and `replace` is false, `NotFound`, `Damaged`,
        `DiskFull`, `StoreError`, `Cancelled`.
        """
        if not replace and self._fs.stat(target) is not None:
            raise NameTaken(f"There is a file {target} already.")
        semantic = composition.manifest.composition
        base = self._library.base(semantic.base.digests[0])
        adapters = [self._library.adapter(a.digest) for a in semantic.adapters]
        about = _about(composition, base, adapters, with_base=with_base)
        total = sum(a.size for a in adapters) + (base.base.bytes if with_base else 0)
        copier = _Copier(total, progress, cancel)
        with Draft(self._fs, target.parent) as draft:
            with zipfile.ZipFile(draft.file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(_entry(MANIFEST), encode(composition.manifest))
                archive.writestr(_entry(ABOUT), msgspec.toml.encode(about))
                for adapter in adapters:
                    self._pack(archive, adapter, copier)
                if with_base:
                    with self._fs.open_read(base.file) as source:
                        copier.copy(archive, base_file(base.digest), source, base.digest)
            size = draft.file.tell()
            draft.publish(target)
        return Exported(
            path=str(target),
            composition_id=composition.id,
            name=about.name,
            adapters=len(adapters),
            base_included=with_base,
            size=size,
        )

    def _pack(self, archive: zipfile.ZipFile, adapter: StoredAdapter, copier: "_Copier") -> None:
        source = self._library.source(adapter)
        for name, digest in adapter.files.items():
            with source.open(name) as file:
                copier.copy(archive, adapter_file(adapter.digest, name), file, digest)


class _Copier:
    """Copies files into an archive, counts the bytes, and holds them to their digests."""

    def __init__(self, total: int, progress: Progress, cancel: CancelToken | None) -> None:
        self._total = total
        self._progress = progress
        self._cancel = cancel
        self._done = 0

    def copy(self, archive: zipfile.ZipFile, name: str, source: BinaryIO, digest: Digest) -> None:
        hasher = hashlib.sha256()
        with archive.open(_entry(name), "w", force_zip64=True) as member:
            for chunk in _chunks(source):
                if self._cancel is not None:
                    self._cancel.check()
                hasher.update(chunk)
                member.write(chunk)
                self._done += len(chunk)
                self._progress(self._done, self._total)
        if PREFIX + hasher.hexdigest() != digest:
            raise Damaged(
                f"The file {short(digest)} has changed in the workspace and is not given away. "
                "Import the original again.",
                digest=digest,
            )


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    while chunk := source.read(_CHUNK):
        yield chunk


def _entry(name: str) -> zipfile.ZipInfo:
    """A member without anything of this computer or this moment in it."""
    made = zipfile.ZipInfo(name, _EPOCH)
    made.external_attr = _OWNER_AND_OTHERS
    return made


def _about(
    composition: Composition,
    base: StoredBase,
    adapters: list[StoredAdapter],
    *,
    with_base: bool,
) -> About:
    model = base.base
    return About(
        name=composition.name or composition.manifest.envelope.name or short(composition.id),
        composition=composition.id,
        base=AboutBase(
            digest=base.digest,
            name=base.name,
            architecture=model.architecture,
            tokenizer=model.tokenizer,
            n_layers=model.n_layers,
            n_embd=model.n_embd,
            n_vocab=model.n_vocab,
            size=model.bytes,
            included=with_base,
        ),
        adapters=tuple(
            AboutAdapter(
                digest=a.digest,
                name=a.name,
                files=a.files,
                default_scale=a.default_scale,
                trigger_text=a.trigger_text,
                notes=a.notes,
                tags=a.tags,
                system_prompt=a.system_prompt,
                license=a.license,
            )
            for a in adapters
        ),
    )
