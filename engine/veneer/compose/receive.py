"""Taking in a stack that somebody gave away.

The documents are read -> the base must be here, or in the package -> each adapter is imported as
from anywhere else, and must turn out to be what the manifest names -> the manifest is kept, and
named. If anything fails, what was taken in until then goes again.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from veneer.compose.manifest import MAX_SCALE, Manifest
from veneer.compose.package import (
    AboutAdapter,
    AboutBase,
    adapter_file,
    base_file,
    is_package,
    read,
)
from veneer.compose.stacks import Stacks
from veneer.errors import FormatError, NotFound, VeneerError
from veneer.formats.foreign import one_line
from veneer.identity import Digest, short
from veneer.store.archive import Member, is_archive, members
from veneer.store.changes import Changes, Outcome
from veneer.store.fs import Fs
from veneer.store.importing import Imported, Importer
from veneer.store.intake import Intake
from veneer.store.library import Library
from veneer.store.refs import clean_name
from veneer.tasks import CancelToken, Progress, silent

_NOTE_MAX = 4_000


class Receiver:
    """Unpacks packages into one workspace."""

    def __init__(self, fs: Fs, importer: Importer, library: Library, stacks: Stacks) -> None:
        self._fs = fs
        self._importer = importer
        self._library = library
        self._stacks = stacks

    def is_package(self, path: Path) -> bool:
        """Whether a file is a stack. Raises `FormatError` for a broken archive."""
        path = path.expanduser().resolve()
        found = self._fs.stat(path)
        if found is None or not found.is_file:
            return False
        with self._fs.open_read(path) as file:
            if not is_archive(file):
                return False
        return is_package(members(self._fs, path))

    def receive(
        self,
        path: Path,
        *,
        name: str | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Imported]:
        """Take in the package at `path`, under its own name or another.

        A name that another stack has gets a number. Raises `NotFound` if the base is neither here
        nor in the package, and what importing an adapter raises; then nothing has changed.
        """
        path = path.expanduser().resolve()
        found = {member.name: member for member in members(self._fs, path)}
        manifest, about = read(found)
        here = {stored.digest for stored in self._library.bases()}
        if about.base.digest not in here and base_file(about.base.digest) not in found:
            raise _no_base(about.base)
        report = _Steps(found, progress)
        taken: list[Imported] = []
        try:
            if about.base.digest not in here:
                taken.append(self._base(path, about.base, found, report, cancel))
            for adapter in about.adapters:
                taken.append(self._adapter(path, adapter, found, report, cancel))
            done = self._stacks.receive(manifest, name or clean_name(about.name))
        except BaseException:
            self._undo(taken)
            raise
        return self._outcome(done, manifest, taken)

    def _outcome(
        self, done: tuple[str, bool], manifest: Manifest, taken: list[Imported]
    ) -> Outcome[Imported]:
        name, already = done
        return Outcome(
            Imported("stack", manifest.id, name, already=already),
            Changes(
                bases=frozenset(i.id for i in taken if i.kind == "base"),
                adapters=frozenset(i.id for i in taken if i.kind == "adapter"),
                compositions=frozenset({manifest.id}),
            ),
        )

    def _base(
        self,
        path: Path,
        about: AboutBase,
        found: Mapping[str, Member],
        report: "_Steps",
        cancel: CancelToken | None,
    ) -> Imported:
        member = found[base_file(about.digest)]
        intake = Intake("base", {member.file_name: member}, clean_name(about.name))
        return self._importer.import_expected(
            intake, path, about.digest, report.next(member.size), cancel
        )

    def _adapter(
        self,
        path: Path,
        about: AboutAdapter,
        found: Mapping[str, Member],
        report: "_Steps",
        cancel: CancelToken | None,
    ) -> Imported:
        places = {name: adapter_file(about.digest, name) for name in about.files}
        lacking = [place for place in places.values() if place not in found]
        if lacking:
            raise FormatError("CONFIG", f"The package lacks its file {lacking[0]}.")
        files = {name: found[place] for name, place in places.items()}
        intake = Intake("adapter", files, clean_name(about.name))
        size = sum(member.size for member in files.values())
        done = self._importer.import_expected(intake, path, about.digest, report.next(size), cancel)
        if not done.already:
            self._note(about)
        return done

    def _note(self, about: AboutAdapter) -> None:
        """Keep what its owner noted, bounded: it is a stranger's text."""
        scale = about.default_scale
        sound = math.isfinite(scale) and abs(scale) <= MAX_SCALE
        self._library.update_adapter(
            about.digest,
            default_scale=scale if sound else 1.0,
            trigger_text=one_line(about.trigger_text),
            notes=one_line(about.notes, _NOTE_MAX),
            tags=about.tags,
            system_prompt=one_line(about.system_prompt, _NOTE_MAX),
            license=one_line(about.license),
        )

    def _undo(self, taken: list[Imported]) -> None:
        for item in taken:
            if item.already:
                continue
            with suppress(VeneerError):
                library = self._library
                find = library.base if item.kind == "base" else library.adapter
                library.take_back(find(item.id))


class _Steps:
    """One progress over everything that is copied."""

    def __init__(self, found: Mapping[str, Member], progress: Progress) -> None:
        self._progress = progress
        self._before = self._next = 0
        self._total = sum(member.size for member in found.values())

    def next(self, size: int) -> Progress:
        """The progress of the next thing, which has `size` bytes."""
        self._before, self._next = self._next, self._next + size
        before = self._before
        return lambda done, total: self._progress(before + done, self._total)


def _no_base(base: AboutBase) -> NotFound:
    gigabytes = base.size / 1e9
    return NotFound(
        f"This stack lies on the base “{clean_name(base.name)}” ({one_line(base.architecture, 40)}"
        f", {gigabytes:.1f} GB, {short(base.digest, 12)}), which is not in this workspace. Import "
        "that base first, then the stack again.",
        digest=Digest(base.digest),
    )
