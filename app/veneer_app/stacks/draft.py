"""A stack while it is being edited: immutable values and the edits that give new ones.

Layers are bottom first, as in the manifest. One that is off is not part of the composition, and
while one plays solo no other is. `parts` has the strengths that will be used: those of the layers
or, in a blend, the same proportions within a budget.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from veneer.compose.stacks import Composition
from veneer.identity import Digest
from veneer_app import text

LIMIT = 100.0
BUDGET_LIMIT = 10.0
_BLEND_DIGITS = 4
translate = text.translate


@dataclass(frozen=True)
class Layer:
    """One adapter at a strength."""

    adapter: Digest
    scale: float = 1.0
    on: bool = True


@dataclass(frozen=True)
class Draft:
    """What a stack would be if it were saved now."""

    name: str = ""
    base: Digest | None = None
    layers: tuple[Layer, ...] = ()
    solo: Digest | None = None
    blend: float | None = None
    """What the strengths of a blend add up to, signs left aside; None for the plain sum."""

    @property
    def parts(self) -> tuple[tuple[Digest, float], ...]:
        """The adapters that count and the strengths that will be used, for the engine."""
        heard = [layer for layer in self.layers if self.counts(layer)]
        total = sum(abs(layer.scale) for layer in heard)
        if self.blend is None or total == 0:
            return tuple((layer.adapter, layer.scale) for layer in heard)
        share = self.blend / total
        return tuple((la.adapter, round(la.scale * share, _BLEND_DIGITS) + 0.0) for la in heard)

    def counts(self, layer: Layer) -> bool:
        """Whether a layer is part of the composition."""
        return layer.on and (self.solo is None or self.solo == layer.adapter)

    def means(self, other: "Draft") -> bool:
        """Whether both are the same composition under the same name."""
        return (self.name, self.base, self.parts) == (other.name, other.base, other.parts)

    def place_of(self, adapter: Digest) -> int | None:
        """Where an adapter is, or None."""
        places = [n for n, layer in enumerate(self.layers) if layer.adapter == adapter]
        return places[0] if places else None


def draft_of(composition: Composition) -> Draft:
    """The draft that a saved stack opens as."""
    semantic = composition.manifest.composition
    return Draft(
        name=composition.name or "",
        base=semantic.base.digests[0],
        layers=tuple(Layer(a.digest, a.scale) for a in semantic.adapters),
    )


def with_adapter(draft: Draft, adapter: Digest, scale: float, at: int | None = None) -> Draft:
    """With an adapter on top, or at a place. One that is there already moves there."""
    here = draft.place_of(adapter)
    if here is not None:
        return draft if at is None else moved(draft, adapter, at)
    place = len(draft.layers) if at is None else at
    layers = (*draft.layers[:place], Layer(adapter, scale), *draft.layers[place:])
    return replace(draft, layers=layers)


def without(draft: Draft, adapter: Digest) -> Draft:
    """Without an adapter."""
    kept = tuple(la for la in draft.layers if la.adapter != adapter)
    return replace(draft, layers=kept, solo=None if draft.solo == adapter else draft.solo)


def with_scale(draft: Draft, adapter: Digest, scale: float) -> Draft:
    """With another strength, kept within the limits."""
    kept = round(max(-LIMIT, min(LIMIT, scale)), 2) + 0.0
    return _changed(draft, adapter, lambda layer: replace(layer, scale=kept))


def with_on(draft: Draft, adapter: Digest, on: bool) -> Draft:
    """With an adapter switched on or off. One that plays solo and goes off is solo no more."""
    changed = _changed(draft, adapter, lambda layer: replace(layer, on=on))
    return changed if on or draft.solo != adapter else replace(changed, solo=None)


def with_solo(draft: Draft, adapter: Digest) -> Draft:
    """With an adapter alone, or with the others again if it was."""
    if draft.solo == adapter:
        return replace(draft, solo=None)
    return replace(with_on(draft, adapter, on=True), solo=adapter)


def with_blend(draft: Draft, budget: float | None) -> Draft:
    """As a blend within a budget, or (None) as the plain sum."""
    kept = None if budget is None else round(max(0.0, min(BUDGET_LIMIT, budget)), 2)
    return replace(draft, blend=kept)


def moved(draft: Draft, adapter: Digest, to: int) -> Draft:
    """With an adapter before the layer that is now at `to` (counted with the adapter in it)."""
    here = draft.place_of(adapter)
    if here is None:
        return draft
    rest = tuple(la for la in draft.layers if la.adapter != adapter)
    place = max(0, min(len(rest), to - 1 if to > here + 1 else to))
    return replace(draft, layers=(*rest[:place], draft.layers[here], *rest[place:]))


def _changed(draft: Draft, adapter: Digest, change: Callable[[Layer], Layer]) -> Draft:
    layers = tuple(change(la) if la.adapter == adapter else la for la in draft.layers)
    return replace(draft, layers=layers)


def difference(draft: Draft, other: Draft | None, names: Mapping[Digest, str]) -> str:
    """How a draft differs from what is active, in one line."""
    if other is None:
        return translate("Draft", "Nothing is active yet.")
    if draft.base != other.base:
        return translate("Draft", "Another base than the active one.")
    mine, theirs = dict(draft.parts), dict(other.parts)
    said = [
        *(f"+ {_name(names, a)} {text.scale(s)}" for a, s in mine.items() if a not in theirs),
        *(f"− {_name(names, a)}" for a in theirs if a not in mine),
        *(
            f"{_name(names, a)} {text.scale(theirs[a])} → {text.scale(s)}"
            for a, s in mine.items()
            if a in theirs and theirs[a] != s
        ),
    ]
    if said:
        return translate("Draft", "Against the active one: {changes}").format(
            changes=", ".join(said)
        )
    if draft.parts != other.parts:
        return translate("Draft", "Against the active one: another order.")
    return translate("Draft", "This is what is active.")


def _name(names: Mapping[Digest, str], adapter: Digest) -> str:
    return text.plain(names.get(adapter, "?"), 32)
