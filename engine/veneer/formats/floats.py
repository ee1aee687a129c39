"""Tensor bytes to float32, whatever float the file stored.

Both file formats end here. F16 and BF16 widen exactly; F64 is rounded to the nearest float32, and
becomes infinite (which the caller's scan reports) where it does not fit.
"""

from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError

STORAGE: Final = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}
"""Float type -> the numpy dtype of its bytes. BF16 is the upper half of a float32."""

_BF16_SHIFT = np.uint32(16)
_BELOW_HALF = np.uint32(0x1FFF)
"""The bits of a float32's fraction that neither 16-bit type has."""
_FEW: Final = 256


def read_floats(
    file: BinaryIO, offset: int, dtype: str, shape: tuple[int, ...], name: str
) -> NDArray[np.float32]:
    """Read a tensor that starts at byte `offset`, as C-contiguous float32 of `shape`.

    Raises `FormatError` DTYPE for a type outside `STORAGE`, TRUNCATED where the file is short.
    """
    if dtype not in STORAGE:
        floats = ", ".join(STORAGE)
        raise FormatError("DTYPE", f"{name} is stored as {dtype}; weights can be {floats}.")
    return _widen(read_stored(file, offset, np.dtype(STORAGE[dtype]), shape, name), dtype)


def read_stored(
    file: BinaryIO, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...], name: str
) -> NDArray[Any]:
    """Read a tensor that starts at byte `offset`, as it is. Raises `FormatError` TRUNCATED."""
    stored = np.empty(shape, dtype=dtype)
    _fill(file, offset, stored.reshape(-1).view(np.uint8).data, name)
    return stored


def _fill(file: BinaryIO, offset: int, view: memoryview, name: str) -> None:
    file.seek(offset)
    done = 0
    while done < len(view):
        count = cast("Any", file).readinto(view[done:])
        if not count:
            raise FormatError("TRUNCATED", f"The file ends in the middle of {name}.")
        done += count


def narrowest(values: NDArray[np.float32]) -> NDArray[Any]:
    """The same numbers in the smallest type that holds each of them exactly.

    float16, uint16 with the bits of BF16, or float32.
    """
    # What was trained in 32 bits shows it in its first numbers, and is spared the long look.
    few = np.ascontiguousarray(values.reshape(-1)[:_FEW]).view(np.uint32)
    if np.any(few & _BELOW_HALF):
        return values
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    if np.array_equal(half.astype(np.float32), values):
        return half
    bits = np.ascontiguousarray(values).view(np.uint32)
    if not np.any(bits & np.uint32(0xFFFF)):
        return (bits >> _BF16_SHIFT).astype(np.uint16)
    return values


def _widen(stored: NDArray[Any], dtype: str) -> NDArray[np.float32]:
    if dtype == "BF16":
        wide = stored.astype(np.uint32)
        wide <<= _BF16_SHIFT
        return wide.view(np.float32)
    with np.errstate(over="ignore"):
        return stored.astype(np.float32, copy=False)
