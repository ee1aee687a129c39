"""Where each target of an adapter goes in a base, or why it has no place there.

Every target is looked up by name and both its sides are compared with the weights it names. Most
targets are one whole tensor. Where a base stores several modules in one tensor, or one module in
several, a target goes in pieces: its A with each of them, its B cut by rows.
"""

from veneer.adapters.base import Base
from veneer.adapters.beyond import Found, place_beyond
from veneer.adapters.extent import Piece, embeds, extent, lookup, sides, size
from veneer.adapters.model import Adapter, Operation, Target
from veneer.adapters.placed import Placed, Role
from veneer.adapters.problem import Problem, problem
from veneer.formats import naming
from veneer.formats.rows import row_order

_Spot = tuple[Operation, Role, str]


def place_all(adapter: Adapter, base: Base) -> tuple[list[Placed], list[Problem]]:
    """Every target of an adapter that has its place in the base, and what is wrong with others.

    A target may have two places, in different roles; it has at most one problem.
    """
    placed: list[Placed] = []
    problems: list[Problem] = []
    taken: dict[_Spot, list[Piece]] = {}
    for target in adapter.targets:
        found = _place(adapter, base, target)
        if not isinstance(found, Problem):
            found = _alone(found, taken)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            placed.extend(found)
    return placed, problems


def _alone(found: tuple[Placed, ...], taken: dict[_Spot, list[Piece]]) -> Found:
    """The same, unless an earlier target does the same to some of its rows."""
    for item in found:
        for piece in item.pieces:
            others = taken.setdefault((item.target.operation, item.role, piece.tensor), [])
            if any(_overlap(piece, other) for other in others):
                return problem("DUPLICATE", item.target, f"is a second adapter for {piece.tensor}")
            others.append(piece)
    return found


def _overlap(one: Piece, other: Piece) -> bool:
    if None not in (one.expert, other.expert) and one.expert != other.expert:
        return False
    return one.start < other.start + other.size and other.start < one.start + one.size


def _place(adapter: Adapter, base: Base, target: Target) -> Found:
    if target.operation != "low_rank":
        return place_beyond(adapter, base, target)
    place = lookup(adapter, base, target)
    if place is None:
        return problem(
            "UNKNOWN_MODULE", target, "is not a weight that can be adapted in this architecture"
        )
    return _fitted(target, place, base)


def _beyond_stock(place: naming.Place, base: Base) -> str:
    if base.tied_embeddings and place.blocks[0] in (naming.TOKEN_EMBEDDING, naming.OUTPUT_HEAD):
        return (
            "shares its weight with the other end of this base, so llama.cpp cannot adapt one of "
            "the two"
        )
    return "is a weight that llama.cpp uses without its adapters" if place.deaf else ""


def _fitted(target: Target, place: naming.Place, base: Base) -> Found:
    if target.embedding != embeds(place):
        return problem("SHAPE", target, "is an embedding on one side and a layer on the other")
    found = extent(place, target, base)
    if isinstance(found, Problem):
        return found
    wanted, shape = sides(target), found.sides
    ordered = row_order(place.rows, target.out_features, base.heads) is not None
    fits = shape == wanted or (target.cut and shape[0] < wanted[0] and shape[1] == wanted[1])
    if fits and ordered and found.even:
        role: Role = "embed" if embeds(place) else "product"
        return (Placed(target, place.rows, found.pieces, role, _beyond_stock(place, base)),)
    if base.heads_differ and (not found.pieces or shape == wanted):
        what = "has rows by attention heads, in which the layers of this base differ"
        return problem("SHAPE", target, what)
    what = f"is {size(wanted)} in the adapter and {size(shape)} in this base"
    return problem("SHAPE", target, what)
