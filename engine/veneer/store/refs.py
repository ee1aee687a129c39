"""How people name things: by name, or by an id prefix that fits only one of them.

`adapter:pirate` asks for an adapter where the bare name would fit a stack as well.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from veneer.errors import AmbiguousRef, NotFound
from veneer.formats.foreign import one_line
from veneer.identity import PREFIX, Digest, short

Kind = Literal["base", "adapter", "composition"]

_ID = re.compile(r"(?:sha256:)?([0-9a-f]{4,64})")
_NAME_LIMIT = 80


@dataclass(frozen=True)
class Named:
    """Something a ref may mean. `name` is None for a composition nobody has named."""

    kind: Kind
    name: str | None
    digest: Digest

    def __str__(self) -> str:
        return f"{self.kind}:{self.name or short(self.digest)}"


def resolve(ref: str, candidates: Iterable[Named]) -> Named:
    """The one candidate that `ref` means. Raises `NotFound` or `AmbiguousRef`."""
    kind, _, rest = ref.partition(":")
    pool = list(candidates)
    wanted = ref
    if rest and kind in {"base", "adapter", "composition"}:
        pool, wanted = [c for c in pool if c.kind == kind], rest
    by_name = [c for c in pool if c.name == wanted]
    return _only(ref, by_name or _by_id(wanted, pool))


def _by_id(wanted: str, pool: list[Named]) -> list[Named]:
    match = _ID.fullmatch(wanted)
    if match is None:
        return []
    found = [c for c in pool if c.digest.startswith(PREFIX + match[1])]
    unique = {(c.kind, c.digest): c for c in found}
    return list(unique.values())


def _only(ref: str, found: list[Named]) -> Named:
    if not found:
        raise NotFound(f"Nothing here is called “{clean_name(ref)}”.")
    if len(found) > 1:
        options = ", ".join(sorted(str(c) for c in found))
        raise AmbiguousRef(f"“{clean_name(ref)}” could mean {options}. Say which.")
    return found[0]


def clean_name(text: str) -> str:
    """A name fit to show: one line, no control or direction-changing characters, bounded."""
    return one_line(text, _NAME_LIMIT) or "unnamed"


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or the first of `wanted-2`, `wanted-3`, ... that nobody has."""
    names, number, name = set(taken), 1, wanted
    while name in names:
        number += 1
        name = f"{wanted}-{number}"
    return name
