"""What an operation changed, so that every view refreshes what it shows and nothing else."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from veneer.identity import Digest

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Changes:
    """The ids of everything an operation added, changed or removed."""

    bases: frozenset[Digest] = frozenset()
    adapters: frozenset[Digest] = frozenset()
    compositions: frozenset[Digest] = frozenset()
    generations: frozenset[int] = frozenset()
    conversations: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return self != Changes()


@dataclass(frozen=True)
class Outcome(Generic[T_co]):
    """The result of an operation and what it changed."""

    value: T_co
    changes: Changes
