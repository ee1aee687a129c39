"""Where each target of an adapter goes in a base, or why it has no place there.

Every target is looked up by name and both its sides are compared with the weight it names.
"""

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter, Target
from veneer.formats import naming

ProblemCode = Literal[
    "ARCHITECTURE",
    "UNSUPPORTED_ARCHITECTURE",
    "OTHER_MODEL",
    "UNKNOWN_MODULE",
    "MISSING_TENSOR",
    "SHAPE",
    "DUPLICATE",
    "NEEDS_OVERLAY",
]


class Problem(Struct, frozen=True, kw_only=True):
    """One reason against. `tensor` is the first target concerned, as its source names it."""

    code: ProblemCode
    message: str
    tensor: str | None = None


@dataclass(frozen=True)
class Placed:
    """A target and its place in the base."""

    target: Target
    place: naming.Place


def placements(adapter: Adapter, base: Base) -> tuple[Placed, ...]:
    """Where each target goes, in the order of the GGUF tensor names.

    Only for a pair that `check` accepts; other targets are missing from the result.
    """
    placed, _ = place_all(adapter, base)
    return tuple(sorted(placed, key=lambda item: item.place.tensor))


def place_all(adapter: Adapter, base: Base) -> tuple[list[Placed], list[Problem]]:
    """Every target of an adapter that has its place in the base, and what is wrong with others."""
    placed: list[Placed] = []
    problems: list[Problem] = []
    taken: set[str] = set()
    for target in adapter.targets:
        found = _place(adapter, base, target)
        if isinstance(found, Placed) and found.place.tensor in taken:
            message = f"{target.module} is a second adapter for {found.place.tensor}"
            found = Problem(code="DUPLICATE", message=message, tensor=target.module)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            taken.add(found.place.tensor)
            placed.append(found)
    return placed, problems


def _place(adapter: Adapter, base: Base, target: Target) -> Placed | Problem:
    lookup = naming.place_tensor if adapter.source_format == "gguf" else naming.place_module
    place = lookup(base.architecture, target.module)
    if place is None:
        message = f"{target.module} is not a weight that can be adapted in this architecture"
        return Problem(code="UNKNOWN_MODULE", message=message, tensor=target.module)
    tied = place.tensor in (naming.TOKEN_EMBEDDING, naming.OUTPUT_HEAD) and base.tied_embeddings
    if tied:
        message = (
            f"{target.module} shares its weight with the other end of this base, so llama.cpp "
            "cannot adapt one of the two"
        )
        return Problem(code="NEEDS_OVERLAY", message=message, tensor=target.module)
    shape = base.tensors.get(place.tensor)
    if shape is None:
        message = f"This base has no {place.tensor} for {target.module}"
        return Problem(code="MISSING_TENSOR", message=message, tensor=target.module)
    return _fitted(target, place, shape)


def _fitted(target: Target, place: naming.Place, shape: tuple[int, ...]) -> Placed | Problem:
    # An embedding is stored as (width, vocabulary): a token picks a row, so its sides swap.
    embeds = place.tensor == naming.TOKEN_EMBEDDING
    if target.embedding != embeds:
        message = f"{target.module} is an embedding on one side and a layer on the other"
        return Problem(code="SHAPE", message=message, tensor=target.module)
    wanted = (target.out_features, target.in_features) if embeds else sides(target)
    if shape == wanted:
        return Placed(target, place)
    message = f"{target.module} is {_size(wanted)} in the adapter and {_size(shape)} in this base"
    return Problem(code="SHAPE", message=message, tensor=target.module)


def sides(target: Target) -> tuple[int, int]:
    """Inputs and outputs."""
    return target.in_features, target.out_features


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
