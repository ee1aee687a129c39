"""Where each target of an adapter goes in a base, or why it has no place there.

Every target is looked up by name and both its sides are compared with the weights it names. Most
targets are one whole tensor. Where a base stores several modules in one tensor, or one module in
several, a target goes in pieces: its A with each of them, its B cut by rows.
"""

from dataclasses import dataclass

from veneer.adapters.base import Base
from veneer.adapters.extent import Piece, extent, lookup, sides, size
from veneer.adapters.model import Adapter, Target
from veneer.adapters.problem import Problem, problem
from veneer.adapters.waiting import why_waiting
from veneer.formats import naming
from veneer.formats.rows import RowOrder, row_order


@dataclass(frozen=True)
class Placed:
    """A target, what becomes of its rows' order, and its places in the base."""

    target: Target
    rows: RowOrder
    pieces: tuple[Piece, ...]


def place_all(adapter: Adapter, base: Base) -> tuple[list[Placed], list[Problem]]:
    """Every target of an adapter that has its place in the base, and what is wrong with others."""
    placed: list[Placed] = []
    problems: list[Problem] = []
    taken: dict[str, list[Piece]] = {}
    for target in adapter.targets:
        found = _place(adapter, base, target)
        if isinstance(found, Placed):
            found = _alone(found, taken)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            placed.append(found)
    return placed, problems


def _alone(found: Placed, taken: dict[str, list[Piece]]) -> Placed | Problem:
    """The same, unless an earlier target has some of its rows."""
    for piece in found.pieces:
        others = taken.setdefault(piece.tensor, [])
        if any(_overlap(piece, other) for other in others):
            return problem("DUPLICATE", found.target, f"is a second adapter for {piece.tensor}")
        others.append(piece)
    return found


def _overlap(one: Piece, other: Piece) -> bool:
    if None not in (one.expert, other.expert) and one.expert != other.expert:
        return False
    return one.start < other.start + other.size and other.start < one.start + one.size


def _place(adapter: Adapter, base: Base, target: Target) -> Placed | Problem:
    if target.operation != "low_rank":
        return why_waiting(adapter, base, target)
    place = lookup(adapter, base, target)
    if place is None:
        return problem(
            "UNKNOWN_MODULE", target, "is not a weight that can be adapted in this architecture"
        )
    if base.tied_embeddings and place.blocks[0] in (naming.TOKEN_EMBEDDING, naming.OUTPUT_HEAD):
        return problem(
            "NEEDS_OVERLAY",
            target,
            "shares its weight with the other end of this base, so llama.cpp cannot adapt one of "
            "the two",
        )
    found = _fitted(target, place, base)
    if place.deaf and isinstance(found, Placed):
        return problem(
            "NEEDS_OVERLAY", target, "is a weight that llama.cpp uses without its adapters"
        )
    return found


def _fitted(target: Target, place: naming.Place, base: Base) -> Placed | Problem:
    embeds = place.blocks[0] == naming.TOKEN_EMBEDDING
    if target.embedding != embeds:
        return problem("SHAPE", target, "is an embedding on one side and a layer on the other")
    found = extent(place, target, base)
    if isinstance(found, Problem):
        return found
    wanted, shape = sides(target), found.sides
    ordered = row_order(place.rows, target.out_features, base.heads) is not None
    fits = shape == wanted or (target.cut and shape[0] < wanted[0] and shape[1] == wanted[1])
    if fits and ordered and found.even:
        return Placed(target, place.rows, found.pieces)
    if base.heads_differ and (not found.pieces or shape == wanted):
        what = "has rows by attention heads, in which the layers of this base differ"
        return problem("SHAPE", target, what)
    what = f"is {size(wanted)} in the adapter and {size(shape)} in this base"
    return problem("SHAPE", target, what)
