"""The two factors that a tensor gets, from the pieces of the targets that reach it.

Most tensors get one target whole. Several pieces on one tensor become one pair exactly: their A's
one above the other, their B's each beside the others and over its own rows. Experts are stacked
along the first axis, and one with a smaller rank, or none, is filled up with zeros.

The strengths of the targets are multiplied into B, unless a form has its own place for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.base import Base
from veneer.adapters.contents import Factors
from veneer.adapters.extent import Piece, inputs_and_outputs
from veneer.adapters.placed import Placed, Role
from veneer.errors import FormatError
from veneer.formats.gguf_writer import NewTensor
from veneer.formats.rows import row_order

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Share:
    """A piece of a target on a tensor, and the target's factors."""

    placed: Placed
    piece: Piece
    factors: Factors

    @property
    def rank(self) -> int:
        """The rank of the target."""
        return self.placed.target.rank

    def a(self, wide: int) -> Matrix:
        """The target's A (rank, wide)."""
        matrix = self.factors.a()
        return np.ascontiguousarray(matrix[:, :wide]) if self.placed.target.cut else matrix


@dataclass(frozen=True)
class Stack:
    """Everything that one tensor of a base gets: at least one share."""

    tensor: str
    shares: tuple[Share, ...]
    base: Base
    role: Role = "product"

    def a(self) -> Matrix:
        """A: (rank, in), for a stack of experts with one more axis before."""
        return self._produce_a()

    def plain_b(self) -> Matrix:
        """B without the scalings: (out, rank), for a stack of experts with one more axis before."""
        return self._produce_b(scaled=False)

    def scaled_b(self) -> Matrix:
        """The same with the scalings in it. Raises `FormatError` NONFINITE."""
        return self._produce_b()

    def new_tensors(self) -> tuple[NewTensor, NewTensor]:
        """A and B as llama.cpp wants them, F32; B has the scalings in it.

        A matrix gets (rank, in) and (out, rank); a stack of experts the same with one more axis
        before. Producing them raises `FormatError` NONFINITE where a scaling overflows.
        """
        a_shape, b_shape = self.shapes()
        turned = self.role == "embed"
        # A token picks a row of A, so llama.cpp wants this one A the other way round.
        a = NewTensor(
            f"{self.tensor}.lora_a",
            a_shape[::-1] if turned else a_shape,
            "F32",
            lambda: self.a().T if turned else self.a(),
        )
        return a, NewTensor(f"{self.tensor}.lora_b", b_shape, "F32", self._produce_b)

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those of A and B."""
        wide, rows = inputs_and_outputs(self.base, self.tensor, picked=self.role == "embed")
        experts = self.base.tensors[self.tensor][2:]
        rank = self._rank()
        return (*experts, rank, wide), (*experts, rows, rank)

    def _rank(self) -> int:
        return max(sum(share.rank for share in group) for group in self._groups())

    def _groups(self) -> list[list[Share]]:
        """The shares of each expert; a tensor without experts is one group."""
        experts = self.base.tensors[self.tensor][2:]
        if not experts:
            return [list(self.shares)]
        groups: list[list[Share]] = [[] for _ in range(experts[0])]
        for share in self.shares:
            groups[share.piece.expert or 0].append(share)
        return groups

    def _produce_a(self) -> Matrix:
        if len(self.shares) == 1 and self.shares[0].piece.expert is None:
            return self.shares[0].a(self.shapes()[0][-1])
        shape, _ = self.shapes()
        whole = np.zeros(shape, np.float32)
        for matrix, group in zip(_matrices(whole), self._groups(), strict=True):
            _fill_a(matrix, group)
        return whole

    def _produce_b(self, *, scaled: bool = True) -> Matrix:
        _, shape = self.shapes()
        first = self.shares[0]
        if len(self.shares) == 1 and first.piece.expert is None and first.piece.size == shape[-2]:
            return _rows_of(first, self.base, scaled)
        whole = np.zeros(shape, np.float32)
        for matrix, group in zip(_matrices(whole), self._groups(), strict=True):
            _fill_b(matrix, group, self.base, scaled)
        return whole


def _matrices(whole: Matrix) -> Sequence[Matrix]:
    return list(whole) if whole.ndim == 3 else [whole]


def _fill_a(matrix: Matrix, group: list[Share]) -> None:
    at = 0
    for share in group:
        matrix[at : at + share.rank] = share.a(matrix.shape[-1])
        at += share.rank


def _fill_b(matrix: Matrix, group: list[Share], base: Base, scaled: bool) -> None:
    at = 0
    for share in group:
        start, size = share.piece.start, share.piece.size
        matrix[start : start + size, at : at + share.rank] = _rows_of(share, base, scaled)
        at += share.rank


def rows_of(placed: Placed, piece: Piece, rows: Matrix, base: Base) -> Matrix:
    """Of something with one entry a row of a target, what a piece has, in the base's order.

    `rows` has the rows on its first axis, behind that of a stack of experts.
    """
    axis = 1 if placed.target.experts else 0
    order = row_order(placed.rows, rows.shape[axis], base.heads)
    if order is None:
        raise FormatError("SHAPE", f"{placed.target.module} no longer has the rows of its heads.")
    chosen = slice(piece.first, piece.first + piece.size)
    if placed.rows == "same":
        return rows[:, chosen] if axis else rows[chosen]
    return np.take(rows, order[chosen], axis)


def _rows_of(share: Share, base: Base, scaled: bool) -> Matrix:
    target = share.placed.target
    matrix = rows_of(share.placed, share.piece, share.factors.b(), base)
    if not scaled:
        return matrix
    with np.errstate(over="ignore"):
        matrix *= np.float32(target.scaling)
    if not np.isfinite(matrix).all():
        raise FormatError("NONFINITE", f"{target.module} overflows when its scaling is applied.")
    return matrix
