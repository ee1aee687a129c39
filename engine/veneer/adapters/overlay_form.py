"""The form in which adapters reach the overlay lane: every operation, placed on one base.

A GGUF file whose tensors are named `<tensor of the base>/<role>/<slot>` (`placed.Role`). With the
strength s of an adapter, the output y of what the base does there becomes

    (1 + s·gain) ∘ y + s·scaling·B(A x) + s·S x + s·bias

and every slot is one of those words, the same for every strength:

`a` (rank, in), `b` (out, rank), `scaling` (1,): a low-rank product; experts have one more axis.
`magnitude` (out,): DoRA's; NaN where a row has none. What it comes to depends on s, see `dora`.
`gain` (out,): IA³'s scale of outputs less one.
`post` (out,): the same for everything that is done there, by this adapter or another (IA³'s scale
    of inputs, on the rows that become those inputs).
`bias` (out,): added; against the base's own bias where that is replaced or scaled.
`replace` (out, in): a whole weight in place of the base's.
`starts` (rows + 1,), `columns`, `values`, `width` (1,): the sparse matrix S by rows, and how many
    columns it has; in the role `embed` its rows are tokens, as are A's columns and the rows of
    `replace`.

Numbers keep their type as far as it holds them exactly: what was trained and saved in 16 bits
stays in 16 bits, and everything else is F32. Nothing is rounded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO, Final, Literal

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.base import Base
from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.beyond import bias_of
from veneer.adapters.compat import placements
from veneer.adapters.contents import Matrix, Part
from veneer.adapters.extent import Piece
from veneer.adapters.model import Adapter, Target
from veneer.adapters.overlay_sparse import Csr, rearranged, retrained
from veneer.adapters.placed import Placed, Role
from veneer.adapters.reading import open_contents
from veneer.adapters.source import Source
from veneer.adapters.stacking import Share, Stack, rows_of
from veneer.errors import FormatError
from veneer.formats import gguf_writer, naming
from veneer.formats.floats import narrowest
from veneer.formats.gguf_writer import NewTensor

OVERLAY_FORM_VERSION: Final = 1
"""Part of the key of every cached form. Raise it when the bytes written here change."""
FORM_TYPE: Final = "veneer.overlay"


def write_overlay_form(
    adapter: Adapter, source: Source, base: Base, weights: BaseWeights, out: BinaryIO
) -> None:
    """Write `adapter` for `base` to `out`, reading its numbers from `source`.

    The same arguments give the same bytes. Raises `Incompatible` if `check` refuses,
    `FormatError` if the source is not (or no longer) the adapter described, or if a number
    overflows.
    """
    placed = placements(adapter, base)
    with open_contents(source) as contents:
        parts = {part.target: part for part in contents.parts}
        tensors = [
            new
            for place in _places(placed, parts)
            for new in _Writing(place, base, weights).tensors()
        ]
        gguf_writer.write(out, _metadata(base), tensors)


def uses_weights(adapter: Adapter) -> bool:
    """Whether the form depends on the base's numbers, and not on its shapes alone."""
    plain = {"low_rank", "magnitude", "add_bias", "sparse", "direction"}
    return any(target.operation not in plain for target in adapter.targets)


def _metadata(base: Base) -> dict[str, gguf_writer.Encodable]:
    return {
        "general.architecture": base.architecture,
        "general.type": "adapter",
        "adapter.type": FORM_TYPE,
    }


@dataclass(frozen=True)
class _Item:
    placed: Placed
    piece: Piece
    part: Part

    @property
    def values(self) -> Matrix:
        if self.part.values is None:
            raise FormatError("SHAPE", _gone(self.placed.target))
        return self.part.values()


@dataclass(frozen=True)
class _Place:
    """Everything that one adapter does in one place."""

    tensor: str
    role: Role
    items: tuple[_Item, ...]


def _places(placed: Iterable[Placed], parts: Mapping[Target, Part]) -> Iterator[_Place]:
    """In the order of their tensors' names."""
    items: dict[tuple[str, Role], list[_Item]] = {}
    for each in placed:
        if each.target not in parts:
            raise FormatError("SHAPE", _gone(each.target))
        for piece in each.pieces:
            item = _Item(each, piece, parts[each.target])
            items.setdefault((piece.tensor, each.role), []).append(item)
    for (tensor, role), found in sorted(items.items(), key=lambda entry: entry[0]):
        yield _Place(tensor, role, tuple(found))


def _gone(target: Target) -> str:
    return f"The adapter's files no longer hold {target.module} as it was imported."


Vector = Literal["gain", "post", "magnitude", "bias"]
_Maker = Callable[["_Writing", _Item], Iterator[tuple[Vector, Matrix]]]


class _Writing:
    """One place being written."""

    def __init__(self, place: _Place, base: Base, weights: BaseWeights) -> None:
        self._place = place
        self._base = base
        self._weights = weights

    def tensors(self) -> Iterator[NewTensor]:
        """The slots of the place."""
        yield from self._product()
        for slot, whole in sorted(self._vectors().items()):
            yield self._made(slot, whole)
        for item in self._place.items:
            match item.placed.target.operation:
                case "replace" if self._place.role != "norm":
                    shape = self._whole(item).shape
                    yield self._new("replace", shape, lambda item=item: self._whole(item))
                case "sparse":
                    yield from self._sparse(_sparse(item, self._base))
                case "rows":
                    yield from self._sparse(self._retrained(item))
                case _:
                    pass

    def _product(self) -> Iterator[NewTensor]:
        shares = tuple(
            Share(item.placed, item.piece, item.part.factors)
            for item in self._place.items
            if item.part.factors is not None
        )
        if not shares:
            return
        stack = Stack(self._place.tensor, shares, self._base, self._place.role)
        scalings = {share.placed.target.scaling for share in shares}
        apart = len(scalings) == 1
        scaling = np.array([scalings.pop() if apart else 1.0], np.float32)
        if not np.isfinite(scaling).all():
            raise FormatError("NONFINITE", f"The strength on {self._place.tensor} overflows.")
        a_shape, b_shape = stack.shapes()
        yield self._new("a", a_shape, stack.a)
        yield self._new("b", b_shape, stack.plain_b if apart else stack.scaled_b)
        yield self._made("scaling", scaling)

    def _vectors(self) -> dict[str, Matrix]:
        """The slots that have one number a row, summed over the items."""
        found: dict[str, Matrix] = {}
        for item in self._place.items:
            make = _VECTORS.get(item.placed.target.operation)
            for slot, rows in make(self, item) if make is not None else ():
                start, size = item.piece.start, item.piece.size
                if slot not in found:
                    empty = np.nan if slot == "magnitude" else 0.0
                    found[slot] = np.full(self._n_out, empty, np.float32)
                kept = found[slot][start : start + size]
                kept[:] = rows if slot == "magnitude" else kept + rows
        for slot, whole in found.items():
            if np.isinf(whole).any():
                raise FormatError("NONFINITE", f"{slot} on {self._place.tensor} overflows.")
        return found

    @property
    def _n_out(self) -> int:
        if self._place.role == "layer":
            return self._base.n_embd
        shape = self._base.tensors[self._place.tensor]
        return shape[1] if self._place.role == "product" else shape[0]

    def base_bias(self, item: _Item) -> Matrix | None:
        """The piece's rows of the bias beside the weight."""
        name = bias_of(self._place.tensor)
        if name not in self._base.tensors:
            return None
        start, size = item.piece.start, item.piece.size
        return self._weights.vector(name)[start : start + size]

    def rows(self, item: _Item) -> Matrix:
        """What an item has for its piece's rows, in the base's order: (rows,) or (rows, in)."""
        return rows_of(item.placed, item.piece, item.values, self._base)

    def replaced_norm(self, item: _Item) -> Matrix:
        """By how much more a norm scales, of what it scales now, if its gain is another."""
        old = self._weights.vector(self._place.tensor)
        new = item.values + np.float32(naming.norm_shift(self._base.architecture))
        if (new[old == 0] != 0).any():
            message = f"{item.placed.target.module} cannot be replaced where the base has zeros."
            raise FormatError("NONFINITE", message)
        safe = np.where(old == 0, np.float32(1), old)
        return np.where(old == 0, np.float32(0), (new - old) / safe)

    def _whole(self, item: _Item) -> Matrix:
        # What tokens pick has a row for each of them, and no order of its own.
        return item.values if self._place.role == "embed" else self.rows(item)

    def _retrained(self, item: _Item) -> Csr:
        tokens = item.placed.target.tokens
        old = self._weights.picked(self._place.tensor, tokens)
        return retrained(tokens, item.values - old, self._base.n_vocab)

    def _sparse(self, csr: Csr | None) -> Iterator[NewTensor]:
        if csr is not None:
            yield self._made("starts", csr.starts)
            yield self._made("columns", csr.columns)
            yield self._made("values", csr.values)
            columns = np.array([self._base.tensors[self._place.tensor][0]], np.int32)
            yield self._made("width", columns)

    def _made(self, slot: str, values: NDArray[Any]) -> NewTensor:
        return self._new(slot, values.shape, lambda: values)

    def _new(
        self, slot: str, shape: tuple[int, ...], produce: Callable[[], NDArray[Any]]
    ) -> NewTensor:
        name = f"{self._place.tensor}/{self._place.role}/{slot}"
        return NewTensor(name, shape, None, lambda: _narrow(produce()))


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    matrix = values.ndim > 1 and values.dtype == np.float32
    return narrowest(values) if matrix and prod(values.shape) else values


def _sparse(item: _Item, base: Base) -> Csr | None:
    if item.part.places is None:
        raise FormatError("SHAPE", _gone(item.placed.target))
    rows = base.tensors[item.piece.tensor][1]
    piece = Piece(item.piece.tensor, 0, 0, rows) if item.placed.role == "embed" else item.piece
    return rearranged(item.placed, piece, item.part.places(), item.values, rows, base.heads)


def _magnitude(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    yield "magnitude", writing.rows(item)


def _add_bias(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    with np.errstate(over="ignore"):
        yield "bias", writing.rows(item) * np.float32(item.placed.target.scaling)


def _bias(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    old = writing.base_bias(item)
    if old is None:
        raise FormatError("SHAPE", _gone(item.placed.target))
    yield "bias", writing.rows(item) - old


def _scale_outputs(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    yield from _scaled(writing, item, "gain")


def _scale_inputs(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    yield from _scaled(writing, item, "post")


def _scaled(
    writing: _Writing, item: _Item, slot: Literal["gain", "post"]
) -> Iterator[tuple[Vector, Matrix]]:
    """The base adds its bias afterwards, and what is scaled has it already."""
    more = writing.rows(item) - np.float32(1)
    yield slot, more
    old = writing.base_bias(item)
    if old is not None:
        yield "bias", more * old


def _replace(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    if item.placed.role == "norm":
        yield "gain", writing.replaced_norm(item)


def _direction(writing: _Writing, item: _Item) -> Iterator[tuple[Vector, Matrix]]:
    yield "bias", writing.rows(item)


_VECTORS: Final[Mapping[str, _Maker]] = {
    "magnitude": _magnitude,
    "add_bias": _add_bias,
    "bias": _bias,
    "scale_outputs": _scale_outputs,
    "scale_inputs": _scale_inputs,
    "replace": _replace,
    "direction": _direction,
}
