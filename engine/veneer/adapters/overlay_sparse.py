"""Sparse changes of a weight as compressed rows, in the order in which the base has them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.extent import Piece
from veneer.adapters.placed import Placed
from veneer.errors import FormatError
from veneer.formats.rows import Heads, row_order

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Csr:
    """`starts` (rows + 1,) says where each row's entries begin among `columns` and `values`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: Matrix


def rearranged(
    placed: Placed,
    piece: Piece,
    places: NDArray[np.int32],
    values: Matrix,
    rows: int,
    heads: Heads,
) -> Csr | None:
    """The entries at `places` (entries, 2) that a piece has, for a tensor of so many rows.

    None if it has none of them.
    """
    order = row_order(placed.rows, placed.target.out_features, heads)
    if order is None:
        raise FormatError("SHAPE", f"{placed.target.module} no longer has the rows of its heads.")
    where = np.empty_like(order)
    where[order] = np.arange(order.size)
    row = where[places[:, 0]]
    mine = (row >= piece.first) & (row < piece.first + piece.size)
    if not mine.any():
        return None
    at = row[mine] - piece.first + piece.start
    # The order within a row stays: a stable sort by rows.
    sort = np.argsort(at, kind="stable")
    return Csr(_starts(at, rows), places[mine, 1][sort], values[mine][sort])


def retrained(tokens: tuple[int, ...], more: Matrix, rows: int) -> Csr:
    """What is `more` (tokens, width) in the rows of these tokens. Raises `FormatError` INDEX."""
    at = np.array(tokens)
    if np.unique(at).size != at.size:
        raise FormatError("INDEX", "A token is retrained twice.")
    sort = np.argsort(at)
    width = more.shape[1]
    columns = np.tile(np.arange(width, dtype=np.int32), at.size)
    return Csr(_starts(np.repeat(at, width), rows), columns, more[sort].reshape(-1))


def _starts(at: NDArray[np.intp], rows: int) -> NDArray[np.int64]:
    counts = np.bincount(at, minlength=rows)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
