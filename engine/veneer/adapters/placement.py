"""Where each target of an adapter goes in a base, or why it has no place there.

Every target is looked up by name and both its sides are compared with the weights it names. Most
targets are one whole tensor. Where a base stores several modules in one tensor, or one module in
several, a target goes in pieces: its A with each of them, its B cut by rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from msgspec import Struct

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter, Operation, Target
from veneer.formats import naming
from veneer.formats.rows import RowOrder, block_sizes, row_order

ProblemCode = Literal[
    "ARCHITECTURE",
    "UNSUPPORTED_ARCHITECTURE",
    "OTHER_MODEL",
    "VOCABULARY",
    "UNKNOWN_MODULE",
    "MISSING_TENSOR",
    "SHAPE",
    "DUPLICATE",
    "NEEDS_OVERLAY",
]


_NOT_EXECUTED: Final[Mapping[Operation, str]] = {
    "magnitude": "has a DoRA magnitude",
    "scale_outputs": "scales its outputs (IA³)",
    "scale_inputs": "scales its inputs (IA³)",
    "bias": "has a trained bias in place of the base's",
    "add_bias": "has a trained bias beside its LoRA",
    "replace": "is replaced whole",
    "rows": "has retrained tokens",
    "sparse": "is changed in single weights",
    "direction": "is pushed in a direction",
    "prompt": "is a trained prompt",
    "prefix": "is a trained prefix",
}
"""What the stock lane does not execute, in words that follow a module's name."""


class Problem(Struct, frozen=True, kw_only=True):
    """One reason against. `tensor` is the first target concerned, as its source names it."""

    code: ProblemCode
    message: str
    tensor: str | None = None


@dataclass(frozen=True)
class Piece:
    """`size` rows of a target, from its row `first` (in the GGUF's order) on, and their place:
    from row `start` of `tensor`, in the matrix of `expert` if the tensor is a stack of them."""

    tensor: str
    start: int
    first: int
    size: int
    expert: int | None = None


@dataclass(frozen=True)
class Placed:
    """A target, what becomes of its rows' order, and its places in the base."""

    target: Target
    rows: RowOrder
    pieces: tuple[Piece, ...]


def placements(adapter: Adapter, base: Base) -> tuple[Placed, ...]:
    """Where each target goes, in the order of the GGUF tensor names.

    Only for a pair that `check` accepts; other targets are missing from the result.
    """
    placed, _ = place_all(adapter, base)
    return tuple(sorted(placed, key=lambda item: (item.pieces[0].tensor, item.pieces[0].start)))


def place_all(adapter: Adapter, base: Base) -> tuple[list[Placed], list[Problem]]:
    """Every target of an adapter that has its place in the base, and what is wrong with others."""
    placed: list[Placed] = []
    problems: list[Problem] = []
    taken: dict[tuple[str, int | None], list[Piece]] = {}
    for target in adapter.targets:
        found = _place(adapter, base, target)
        if isinstance(found, Placed):
            found = _alone(found, taken)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            placed.append(found)
    return placed, problems


def lookup(adapter: Adapter, base: Base, target: Target) -> naming.Place | None:
    """The place that a target's name means. Raises `UnsupportedArchitecture`."""
    find = naming.place_tensor if adapter.source_format == "gguf" else naming.place_module
    return find(base.architecture, target.module)


def _alone(found: Placed, taken: dict[tuple[str, int | None], list[Piece]]) -> Placed | Problem:
    """The same, unless an earlier target has some of its rows."""
    for piece in found.pieces:
        others = taken.setdefault((piece.tensor, piece.expert), [])
        if any(_overlap(piece, other) for other in others):
            return _problem("DUPLICATE", found.target, f"is a second adapter for {piece.tensor}")
        others.append(piece)
    return found


def _overlap(one: Piece, other: Piece) -> bool:
    return one.start < other.start + other.size and other.start < one.start + one.size


def _place(adapter: Adapter, base: Base, target: Target) -> Placed | Problem:
    if target.operation != "low_rank":
        return _not_executed(target, base)
    place = lookup(adapter, base, target)
    if place is None:
        return _problem(
            "UNKNOWN_MODULE", target, "is not a weight that can be adapted in this architecture"
        )
    if base.tied_embeddings and place.blocks[0] in (naming.TOKEN_EMBEDDING, naming.OUTPUT_HEAD):
        return _problem(
            "NEEDS_OVERLAY",
            target,
            "shares its weight with the other end of this base, so llama.cpp cannot adapt one of "
            "the two",
        )
    if place.deaf:
        return _problem(
            "NEEDS_OVERLAY", target, "is a weight that llama.cpp uses without its adapters"
        )
    return _fitted(target, place, base)


def _not_executed(target: Target, base: Base) -> Problem:
    if any(token >= base.n_vocab for token in target.tokens):
        what = f"has retrained token {max(target.tokens)}, and this base has only {base.n_vocab}"
        return _problem("VOCABULARY", target, what)
    what = f"{_NOT_EXECUTED[target.operation]}, which needs the overlay lane"
    return _problem("NEEDS_OVERLAY", target, what)


def _fitted(target: Target, place: naming.Place, base: Base) -> Placed | Problem:
    embeds = place.blocks[0] == naming.TOKEN_EMBEDDING
    if target.embedding != embeds:
        return _problem("SHAPE", target, "is an embedding on one side and a layer on the other")
    found = [_stored(place, block, base) for block in place.blocks]
    stored = [item for item in found if item is not None]
    if len(stored) < len(found):
        message = f"This base has no {place.blocks[found.index(None)]} for {target.module}"
        return Problem(code="MISSING_TENSOR", message=message, tensor=target.module)
    if any(not _has_expert(place, base.tensors[item.tensor]) for item in stored):
        alone = place.expert is None
        what = "is one matrix here and a stack of experts there" if alone else "is no expert here"
        return _problem("SHAPE", target, what)
    pieces = tuple(_joined(_pieces(place, stored, base)))
    wide = {inputs_and_outputs(base, item.tensor)[0] for item in stored}
    shape = (max(wide), sum(piece.size for piece in pieces))
    wanted = sides(target)
    ordered = row_order(place.rows, target.out_features, base.heads) is not None
    fits = shape == wanted or (target.cut and shape[0] < wanted[0] and shape[1] == wanted[1])
    if fits and ordered and len(wide) == 1:
        return Placed(target, place.rows, pieces)
    if base.heads_differ and (not pieces or shape == wanted):
        what = "has rows by attention heads, in which the layers of this base differ"
        return _problem("SHAPE", target, what)
    what = f"is {_size(wanted)} in the adapter and {_size(shape)} in this base"
    return _problem("SHAPE", target, what)


def _stored(place: naming.Place, block: str, base: Base) -> naming.Stored | None:
    if place.whole and block in base.tensors:
        return naming.Stored(block)
    return naming.stored(base.architecture, block, base.tensors)


def _has_expert(place: naming.Place, shape: tuple[int, ...]) -> bool:
    if place.expert is None:
        return len(shape) == 2
    return len(shape) == 3 and place.expert < shape[2]


def _pieces(place: naming.Place, stored: list[naming.Stored], base: Base) -> Iterator[Piece]:
    first = 0
    for item in stored:
        sizes = block_sizes(item.of, inputs_and_outputs(base, item.tensor)[1], base.heads)
        if sizes is None:
            return
        size = sizes[item.block]
        yield Piece(item.tensor, sum(sizes[: item.block]), first, size, place.expert)
        first += size


def _joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Blocks that follow each other on both sides are one piece."""
    last = next(pieces, None)
    for piece in pieces:
        if last is not None and _follows(piece, last):
            last = replace(last, size=last.size + piece.size)
        elif last is not None:
            yield last
            last = piece
    if last is not None:
        yield last


def _follows(piece: Piece, last: Piece) -> bool:
    return piece.tensor == last.tensor and piece.start == last.start + last.size


def inputs_and_outputs(base: Base, tensor: str) -> tuple[int, int]:
    """The two sides of a matrix, or of each matrix in a stack of experts."""
    inputs, outputs = base.tensors[tensor][:2]
    # An embedding is stored as (width, vocabulary): a token picks a row, so its sides swap.
    return (outputs, inputs) if tensor == naming.TOKEN_EMBEDDING else (inputs, outputs)


def sides(target: Target) -> tuple[int, int]:
    """Inputs and outputs."""
    return target.in_features, target.out_features


def _problem(code: ProblemCode, target: Target, what: str) -> Problem:
    return Problem(code=code, message=f"{target.module} {what}", tensor=target.module)


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
