"""What must be true of a workspace after a series of events, worked out without one.

Adapters are known by name, compositions by the name of their recipe.
"""

from dataclasses import dataclass, replace
from typing import Self

from veneer.errors import Damaged, InUse, NotFound, NothingToRollBack, VeneerError

RECIPES: dict[str, tuple[tuple[str, float], ...]] = {
    "plain": (),
    "first": (("one", 1.0),),
    "second": (("two", 1.0),),
    "both": (("one", 1.0), ("two", 0.5)),
    "third": (("three", -1.0),),
    "turned": (("two", 0.5), ("one", 1.0)),
}
ADAPTERS = ("one", "two", "three")


class Expected(Exception):  # noqa: N818
    """The workspace must refuse, with one of these errors, and nothing changes."""

    def __init__(self, *kinds: type[VeneerError]) -> None:
        super().__init__(kinds)
        self.kinds = kinds


@dataclass(frozen=True)
class Committed:
    """A generation that was active once: its recipe, and the place in history it restored."""

    recipe: str
    restores: int | None = None


@dataclass(frozen=True)
class Model:
    """The state of a workspace. Each event gives the next state, or raises `Expected`."""

    history: tuple[Committed, ...]
    adapters: frozenset[str]
    stacks: tuple[tuple[str, str], ...]
    harmed: frozenset[str] = frozenset()

    @property
    def active(self) -> str:
        return self.history[-1].recipe

    def recipe_of(self, stack: str) -> str:
        """The recipe a stack's name stands for."""
        found = dict(self.stacks).get(stack)
        if found is None:
            raise Expected(NotFound)
        return found

    def intact(self, recipe: str) -> bool:
        """Whether everything in it is undamaged. What was removed stays for what needs it."""
        return self.harmed.isdisjoint(adapter for adapter, _ in RECIPES[recipe])

    def imported(self, adapter: str) -> Self:
        return replace(self, adapters=self.adapters | {adapter}, harmed=self.harmed - {adapter})

    def corrupted(self, adapter: str) -> Self:
        return replace(self, harmed=self.harmed | {adapter})

    def forgotten(self, adapter: str) -> Self:
        if adapter not in self.adapters:
            raise Expected(NotFound)
        recipes = {self.active, *dict(self.stacks).values()}
        if any(adapter == a for recipe in recipes for a, _ in RECIPES[recipe]):
            raise Expected(InUse)
        return replace(self, adapters=self.adapters - {adapter})

    def composed(self, stack: str, recipe: str) -> Self:
        if not all(adapter in self.adapters for adapter, _ in RECIPES[recipe]):
            raise Expected(NotFound)
        return replace(self, stacks=tuple(sorted((dict(self.stacks) | {stack: recipe}).items())))

    def unnamed(self, stack: str) -> Self:
        self.recipe_of(stack)
        return replace(self, stacks=tuple(s for s in self.stacks if s[0] != stack))

    def activated(self, stack: str) -> Self:
        return self._running(self.recipe_of(stack), None)

    def rolled_back(self) -> Self:
        last = len(self.history) - 1
        origin = self.history[last].restores
        for place in reversed(range(last if origin is None else origin)):
            if self.history[place].recipe != self.active:
                return self._running(self.history[place].recipe, place)
        raise Expected(NothingToRollBack)

    def reopened(self) -> Self:
        """What recovery makes of it."""
        if self.intact(self.active):
            return self
        for place in reversed(range(len(self.history) - 1)):
            recipe = self.history[place].recipe
            if self.intact(recipe):
                return replace(self, history=(*self.history, Committed(recipe, place)))
        return self

    def _running(self, recipe: str, restores: int | None) -> Self:
        if recipe == self.active:
            return self
        if not self.intact(recipe):
            raise Expected(Damaged)
        return replace(self, history=(*self.history, Committed(recipe, restores)))
