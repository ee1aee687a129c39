"""How large the place of a target is in a base, and which rows of which tensors it is.

Most places are one whole tensor. Where a base stores several modules in one tensor, or one module
in several, a place is in pieces.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter, Target
from veneer.adapters.problem import Problem, problem
from veneer.formats import naming
from veneer.formats.rows import block_sizes


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
class Extent:
    """The pieces of a place, and its inputs and outputs. It is `even` if all tensors agree on the
    inputs."""

    pieces: tuple[Piece, ...]
    sides: tuple[int, int]
    even: bool


def lookup(adapter: Adapter, base: Base, target: Target) -> naming.Place | None:
    """The place that a target's name means. Raises `UnsupportedArchitecture`."""
    find = naming.place_tensor if adapter.source_format == "gguf" else naming.place_module
    return find(base.architecture, target.module)


def extent(place: naming.Place, target: Target, base: Base) -> Extent | Problem:
    """How large `place` is in `base`, or why there is no such place for `target`."""
    found = [_stored(place, block, base) for block in place.blocks]
    stored = [item for item in found if item is not None]
    if len(stored) < len(found):
        message = f"This base has no {place.blocks[found.index(None)]} for {target.module}"
        return Problem(code="MISSING_TENSOR", message=message, tensor=target.module)
    if any(not _has_expert(place, target, base.tensors[item.tensor]) for item in stored):
        alone = place.expert is None and not target.experts
        what = "is one matrix here and a stack of experts there" if alone else "is no expert here"
        return problem("SHAPE", target, what)
    pieces = tuple(_joined(_pieces(place, stored, base)))
    wide = {_sides_of(place, base, item.tensor)[0] for item in stored}
    rows = sum(piece.size for piece in pieces)
    return Extent(pieces, (max(wide), rows), even=len(wide) == 1)


def sides(target: Target) -> tuple[int, int]:
    """Inputs and outputs."""
    return target.in_features, target.out_features


def size(shape: tuple[int, ...]) -> str:
    """Sizes in words."""
    return " x ".join(map(str, shape))


def _stored(place: naming.Place, block: str, base: Base) -> naming.Stored | None:
    if place.whole and block in base.tensors:
        return naming.Stored(block)
    if block == naming.OUTPUT_HEAD and base.tied_embeddings:
        return naming.Stored(naming.TOKEN_EMBEDDING)
    return naming.stored(base.architecture, block, base.tensors)


def _has_expert(place: naming.Place, target: Target, shape: tuple[int, ...]) -> bool:
    if place.expert is None:
        return shape[2:] == ((target.experts,) if target.experts else ())
    return len(shape) == 3 and place.expert < shape[2]


def _pieces(place: naming.Place, stored: list[naming.Stored], base: Base) -> Iterator[Piece]:
    first = 0
    for item in stored:
        sizes = block_sizes(item.of, _sides_of(place, base, item.tensor)[1], base.heads)
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


def embeds(place: naming.Place) -> bool:
    """Whether a token picks a row of the place, which a head that shares the tensor does not."""
    return place.blocks[0] == naming.TOKEN_EMBEDDING


def _sides_of(place: naming.Place, base: Base, tensor: str) -> tuple[int, int]:
    return inputs_and_outputs(base, tensor, picked=embeds(place))


def inputs_and_outputs(base: Base, tensor: str, *, picked: bool) -> tuple[int, int]:
    """The two sides of a matrix, or of each matrix in a stack of experts.

    One of which a token picks a row is stored as (width, vocabulary), so its sides swap.
    """
    inputs, outputs = base.tensors[tensor][:2]
    return (outputs, inputs) if picked else (inputs, outputs)
