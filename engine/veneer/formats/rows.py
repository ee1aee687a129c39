"""What converters do to the rows (outputs) of a weight, as an order of row numbers.

A module of the model may hold several blocks of rows (queries, keys and values; gate and up), and
a GGUF may store those blocks apart or together. Columns (inputs) are never moved. The order
applies to whatever has one entry a row: to B of a LoRA, a bias, a magnitude.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

RowOrder = Literal["same", "rope_q", "rope_k", "grouped", "grouped_rope"]
"""`same`: as in the model. `rope_q`, `rope_k`: the halves of each head interleaved. `grouped`:
the model stores, for each key-value head, its queries, its key and its value; the GGUF all
queries, all keys, all values. `grouped_rope`: that, and queries and keys interleaved."""


@dataclass(frozen=True)
class Heads:
    """The attention heads of a base: of the queries, and of the keys and values."""

    queries: int
    keys: int

    @property
    def together(self) -> int:
        """Heads of a packed projection: queries, keys and values."""
        return self.queries + 2 * self.keys


def row_order(order: RowOrder, rows: int, heads: Heads) -> NDArray[np.intp] | None:
    """For each row in the GGUF, its number in the model: shape (rows,). None if it cannot be.

    Source: the `modify_tensors` of llama.cpp's converter.
    """
    numbers = np.arange(rows)
    match order:
        case "same":
            return numbers
        case "rope_q":
            return _interleaved(numbers, heads.queries)
        case "rope_k":
            return _interleaved(numbers, heads.keys)
        case "grouped" | "grouped_rope":
            return _ungrouped(numbers, heads, rotated=order == "grouped_rope")


def block_sizes(blocks: int, rows: int, heads: Heads) -> tuple[int, ...] | None:
    """The rows of each block of a packed weight: 3 are queries, keys, values; 2 are halves.

    None if the rows cannot be divided so.
    """
    if blocks == 1:
        return (rows,)
    if blocks == 2:
        return None if rows % 2 else (rows // 2,) * 2
    size = _divided(rows, heads.together)
    return None if size is None else (heads.queries * size, heads.keys * size, heads.keys * size)


def _divided(rows: int, parts: int) -> int | None:
    return rows // parts if parts and rows % parts == 0 else None


def _interleaved(numbers: NDArray[np.intp], heads: int) -> NDArray[np.intp] | None:
    """Interleave the two halves of each head's rows.

    The model rotates dimension i together with i + d/2, llama.cpp i with i + 1; the converter
    reorders the rows so that both rotate the same pairs.
    """
    if _divided(numbers.size, 2 * heads) is None:
        return None
    return numbers.reshape(heads, 2, -1).swapaxes(1, 2).reshape(-1)


def _ungrouped(
    numbers: NDArray[np.intp], heads: Heads, *, rotated: bool
) -> NDArray[np.intp] | None:
    size = _divided(numbers.size, heads.together)
    if size is None or heads.queries % heads.keys:
        return None
    groups = numbers.reshape(heads.keys, -1, size)
    queries, keys, values = (
        groups[:, part].reshape(-1) for part in (slice(None, -2), slice(-2, -1), slice(-1, None))
    )
    if not rotated:
        return np.concatenate((queries, keys, values))
    turned = (_interleaved(queries, heads.queries), _interleaved(keys, heads.keys))
    if turned[0] is None or turned[1] is None:
        return None
    return np.concatenate((turned[0], turned[1], values))
