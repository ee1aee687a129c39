"""What is needed: by the library, the saved stacks, the kept generations and the running worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from veneer.activation.journal import Journal
from veneer.activation.running import Running
from veneer.compose.forms import Forms
from veneer.compose.manifest import Manifest
from veneer.compose.stacks import Stacks, read_manifest
from veneer.errors import VeneerError
from veneer.identity import Digest
from veneer.store.catalog import Catalog
from veneer.store.custody import needed_sentence
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.settings import SettingsShelf
from veneer.upkeep.plan import Item, Roots

_CLEAR = (
    "If you know what it was, compose the same again, or bring the file back from a backup; "
    "otherwise “veneer fsck --repair” gives it up. Then collect again."
)


@dataclass(frozen=True)
class Marker:
    """Finds what one workspace needs, and what there is."""

    fs: Fs
    layout: Layout
    catalog: Catalog
    stacks: Stacks
    journal: Journal
    forms: Forms
    running: Running
    settings: SettingsShelf

    def items(self) -> tuple[Item, ...]:
        """Every object and every derived file."""
        return tuple(self._items())

    def roots(self) -> Roots:
        """Everything that is needed. Raises `StoreError` where the catalog cannot be read."""
        manifests, unreadable = self._manifests()
        removed = self.catalog.removed()
        wanted = {each.stored.digest for each in removed} & _digests(manifests)
        stored = [*self.catalog.bases(), *self.catalog.adapters()]
        stored += [each.stored for each in removed if each.stored.digest in wanted]
        needed = {self.layout.object(digest) for each in stored for digest in each.objects}
        needed |= set(self._forms(stored)) | set(self._planned())
        return Roots(
            needed=frozenset(map(self.where, needed)),
            removed={
                each.stored.digest: (
                    frozenset(self.where(self.layout.object(d)) for d in each.stored.objects),
                    datetime.fromisoformat(each.removed_at),
                )
                for each in removed
            },
            needed_removed=frozenset(wanted),
            unreadable=unreadable,
        )

    def where(self, path: Path) -> str:
        """A path as a plan says it."""
        return path.relative_to(self.layout.root).as_posix()

    def _items(self) -> Iterator[Item]:
        shelves = self.fs.list_dir(self.layout.objects)
        folders = [self.layout.objects / shelf for shelf in shelves]
        for folder in (*folders, self.layout.derived):
            found = self.fs.stat(folder)
            for name in self.fs.list_dir(folder) if found is not None and found.is_dir else ():
                path, file = folder / name, self.fs.stat(folder / name)
                ours = folder == self.layout.derived or self.layout.object_at(path) is not None
                if ours and file is not None and file.is_file:
                    yield Item(path=self.where(path), size=file.size)

    def _manifests(self) -> tuple[list[Manifest], tuple[str, ...]]:
        """Those of every composition that is a root, and a sentence for each unreadable one."""
        manifests: list[Manifest] = []
        unreadable: list[str] = []
        given_up = {digest for digest, lost in self.stacks.known().items() if lost}
        for composition in sorted(self._compositions()):
            path = self.layout.manifest(composition)
            try:
                manifests.append(read_manifest(self.fs, path, composition))
            except VeneerError as error:
                if composition in given_up:
                    continue
                needed = needed_sentence(self._names(composition))
                unreadable.append(f"{error.message}{needed} {_CLEAR}")
        return manifests, tuple(unreadable)

    def _compositions(self) -> set[Digest]:
        kept = self.journal.kept(self.settings.read().keep_generations)
        saved = {named.digest for named in self.stacks.named() if named.name is not None}
        plan = self.running.plan
        running = (plan.composition,) if plan is not None else ()
        return {*kept, *saved, *running}

    def _names(self, composition: Digest) -> tuple[str, ...]:
        return tuple(n.name for n in self.stacks.named() if n.digest == composition and n.name)

    def _forms(self, stored: list[StoredBase | StoredAdapter]) -> Iterator[Path]:
        bases = [each for each in stored if isinstance(each, StoredBase)]
        for adapter in stored:
            if isinstance(adapter, StoredAdapter):
                for base in bases:
                    yield from self.forms.places(adapter, base)

    def _planned(self) -> Iterator[Path]:
        plan = self.running.plan
        adapters = plan.adapters if plan is not None else ()
        paths = [Path(file) for a in adapters for file in (a.path, a.gains) if file]
        yield from (path for path in paths if path.is_relative_to(self.layout.root))


def _digests(manifests: list[Manifest]) -> set[Digest]:
    semantics = [manifest.composition for manifest in manifests]
    adapters = {adapter.digest for semantic in semantics for adapter in semantic.adapters}
    return adapters | {digest for semantic in semantics for digest in semantic.base.digests}
