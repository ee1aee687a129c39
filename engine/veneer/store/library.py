"""What a person has: listing, finding, checking, renaming and forgetting.

What was forgotten is listed and found by name no more, but known by its digest to the generations
that ran it, until nothing needs it and `gc` removes its files.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import msgspec

from veneer.adapters.compat import CompatReport, check
from veneer.adapters.model import Adapter
from veneer.adapters.source import Source
from veneer.errors import NotFound
from veneer.identity import Digest, short
from veneer.store.catalog import Catalog
from veneer.store.changes import Changes, Outcome
from veneer.store.fs import Fs
from veneer.store.objects import Objects
from veneer.store.records import OpenedSource, StoredAdapter, StoredBase
from veneer.store.refs import Named, clean_name, resolve
from veneer.store.witnesses import Witnesses


class Library:
    """The bases and adapters of a workspace."""

    def __init__(self, fs: Fs, catalog: Catalog, objects: Objects) -> None:
        self._catalog = catalog
        self._objects = objects
        self._witnesses = Witnesses(fs, self.source)
        self._fitting: dict[tuple[Digest, Digest], tuple[Adapter, CompatReport]] = {}

    def bases(self) -> tuple[StoredBase, ...]:
        """Every base, by name."""
        return self._catalog.bases()

    def adapters(self) -> tuple[StoredAdapter, ...]:
        """Every adapter, by name."""
        return self._catalog.adapters()

    def base(self, digest: Digest) -> StoredBase:
        """One base, even if it was forgotten. Raises `NotFound`."""
        listed = self._catalog.base(digest)
        return listed or self._catalog.removed_base(digest) or _missing("base", digest)

    def adapter(self, digest: Digest) -> StoredAdapter:
        """One adapter, even if it was forgotten. Raises `NotFound`."""
        listed = self._catalog.adapter(digest)
        return listed or self._catalog.removed_adapter(digest) or _missing("adapter", digest)

    def named(self) -> list[Named]:
        """Everything here that a ref may mean."""
        bases = [Named("base", n, d) for n, d in self._catalog.names("bases").items()]
        adapters = [Named("adapter", n, d) for n, d in self._catalog.names("adapters").items()]
        return bases + adapters

    def find_base(self, ref: str) -> StoredBase:
        """The base that `ref` means. Raises `NotFound` or `AmbiguousRef`."""
        pool = [n for n in self.named() if n.kind == "base"]
        return self.base(resolve(ref, pool).digest)

    def find_adapter(self, ref: str) -> StoredAdapter:
        """The adapter that `ref` means. Raises `NotFound` or `AmbiguousRef`."""
        pool = [n for n in self.named() if n.kind == "adapter"]
        return self.adapter(resolve(ref, pool).digest)

    def check(self, adapter: Digest, base: Digest) -> CompatReport:
        """Whether, and how completely, the adapter applies to the base. Raises `NotFound`."""
        layer, below = self.adapter(adapter), self.base(base)
        known = self._fitting.get((adapter, base))
        # The same bytes, brought in again, may have come with another tokenizer or template.
        if known is not None and known[0] is layer.adapter:
            return known[1]
        report = check(layer.adapter, below.base, base, self._witnesses.ask(layer, below))
        if report.ok:
            # A refusal may be long, and nobody asks for it at every switch.
            self._fitting[adapter, base] = (layer.adapter, report)
        return report

    def source(self, stored: StoredAdapter) -> Source:
        """The files of a stored adapter."""
        return OpenedSource({n: _door(self._objects.open, d) for n, d in stored.files.items()})

    def object_of(self, stored: StoredAdapter) -> Path:
        """Where the workspace keeps the first of an adapter's files."""
        return self._objects.path(next(iter(stored.files.values())))

    def update_adapter(
        self,
        digest: Digest,
        *,
        name: str | None = None,
        default_scale: float | None = None,
        trigger_text: str | None = None,
        notes: str | None = None,
        tags: Sequence[str] | None = None,
        system_prompt: str | None = None,
        license: str | None = None,  # noqa: A002 - what it is called everywhere else
    ) -> Outcome[StoredAdapter]:
        """Change what its owner notes about an adapter. Raises `NotFound`, `NameTaken`."""
        given = {
            "name": clean_name(name) if name is not None else None,
            "default_scale": default_scale,
            "trigger_text": trigger_text,
            "notes": notes,
            "tags": _clean_tags(tags) if tags is not None else None,
            "system_prompt": system_prompt,
            "license": license,
        }
        fields = cast("dict[str, Any]", {k: v for k, v in given.items() if v is not None})
        stored = msgspec.structs.replace(self._listed_adapter(digest), **fields)
        self._catalog.put_adapter(stored)
        return Outcome(stored, Changes(adapters=frozenset({digest})))

    def rename_base(self, digest: Digest, name: str) -> Outcome[StoredBase]:
        """Give a base another name. Raises `NotFound`, `NameTaken`."""
        stored = msgspec.structs.replace(self._listed_base(digest), name=clean_name(name))
        self._catalog.put_base(stored)
        return Outcome(stored, Changes(bases=frozenset({digest})))

    def forget_adapter(self, digest: Digest) -> Changes:
        """Take an adapter out of the library. Raises `NotFound`."""
        self._catalog.remove(self._listed_adapter(digest))
        return Changes(adapters=frozenset({digest}))

    def forget_base(self, digest: Digest) -> Changes:
        """Take a base out of the library. Raises `NotFound`."""
        self._catalog.remove(self._listed_base(digest))
        return Changes(bases=frozenset({digest}))

    def take_back(self, stored: StoredBase | StoredAdapter) -> None:
        """Undo an import that led to nothing: its row goes, then the files no other row names."""
        with self._objects.naming:
            self._catalog.withdraw(stored)
            removed = [each.stored for each in self._catalog.removed()]
            others = (*self._catalog.bases(), *self._catalog.adapters(), *removed)
            needed = {digest for other in others for digest in other.objects}
            for digest in stored.objects - needed:
                self._objects.remove(digest)

    def _listed_base(self, digest: Digest) -> StoredBase:
        return self._catalog.base(digest) or _missing("base", digest)

    def _listed_adapter(self, digest: Digest) -> StoredAdapter:
        return self._catalog.adapter(digest) or _missing("adapter", digest)


def _missing(kind: str, digest: Digest) -> NoReturn:
    raise NotFound(f"The {kind} {short(digest)} is not in this workspace. Import it.")


def _clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Each once, in the order given, none empty."""
    return tuple(dict.fromkeys(clean_name(tag) for tag in tags if tag.strip()))


def _door(opener: Callable[[Digest], BinaryIO], digest: Digest) -> Callable[[], BinaryIO]:
    return lambda: opener(digest)
