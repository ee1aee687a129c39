"""Write a GGUF file (version 3) to an open binary file, one tensor in memory at a time.

Used for the files that Veneer makes for llama.cpp, and for fixtures. The bytes depend on the
arguments alone: no dates, no names, no dictionary order but the caller's.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from veneer.formats.floats import STORAGE
from veneer.formats.gguf_types import SCALARS, ValueType

ALIGNMENT = 32

Encodable: TypeAlias = (
    bool | int | float | str | np.generic | NDArray[Any] | Sequence[str] | Sequence[bytes]
)
"""A value to write. Plain ints become U32 and plain floats F32; numpy scalars and arrays keep
their own type; a sequence of strings becomes an array."""

NewType = Literal["F32", "F16", "BF16", "I32", "I64"]

_TYPE_IDS: Final = {"F32": 0, "F16": 1, "BF16": 30, "I32": 26, "I64": 27}
_STORAGE: Final = {**STORAGE, "I32": "<i4", "I64": "<i8"}
_NUMPY_TYPES: Final = {
    np.dtype(dtype): tag for tag, (_, dtype) in SCALARS.items() if tag != ValueType.BOOL
} | {np.dtype(np.bool_): ValueType.BOOL}


@dataclass(frozen=True)
class NewTensor:
    """A tensor to write: `shape` in numpy's order, `produce` called once, when its turn comes.

    `produce` must return that shape in the dtype's storage (BF16 as uint16).
    """

    name: str
    shape: tuple[int, ...]
    dtype: NewType
    produce: Callable[[], NDArray[Any]]


def write(file: BinaryIO, metadata: Mapping[str, Encodable], tensors: Sequence[NewTensor]) -> None:
    """Write the whole file from its current position, which must be 0.

    Raises `ValueError` if a tensor is not of the shape or dtype it was announced with.
    """
    head = b"".join(_head(metadata, tensors))
    file.write(head + bytes(-len(head) % ALIGNMENT))
    for tensor in tensors:
        data = _checked(tensor)
        file.write(data.reshape(-1).view(np.uint8).data)
        file.write(bytes(-data.nbytes % ALIGNMENT))


def _head(metadata: Mapping[str, Encodable], tensors: Sequence[NewTensor]) -> Iterable[bytes]:
    yield struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        yield _text(key) + _value(value)
    offset = 0
    for tensor in tensors:
        dims = tensor.shape[::-1]
        yield _text(tensor.name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        yield struct.pack("<IQ", _TYPE_IDS[tensor.dtype], offset)
        nbytes = prod(dims) * np.dtype(_STORAGE[tensor.dtype]).itemsize
        offset += nbytes + -nbytes % ALIGNMENT


def _text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def _value(value: Encodable) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", ValueType.STRING) + _text(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (bool, int, float, np.generic)):
        return _number(value)
    head = struct.pack("<IIQ", ValueType.ARRAY, ValueType.STRING, len(value))
    return head + b"".join(_text(item) for item in value)


def _number(value: bool | int | float | np.generic) -> bytes:
    tag = _NUMPY_TYPES[value.dtype] if isinstance(value, np.generic) else _plain_tag(value)
    return struct.pack("<I", tag) + struct.pack(SCALARS[tag][0], value)


def _plain_tag(value: bool | int | float) -> ValueType:
    if isinstance(value, bool):
        return ValueType.BOOL
    return ValueType.U32 if isinstance(value, int) else ValueType.F32


def _array(values: NDArray[Any]) -> bytes:
    head = struct.pack("<IIQ", ValueType.ARRAY, _NUMPY_TYPES[values.dtype], values.size)
    return head + values.tobytes()


def _checked(tensor: NewTensor) -> NDArray[Any]:
    data = np.ascontiguousarray(tensor.produce())
    if data.shape != tensor.shape or data.dtype != np.dtype(_STORAGE[tensor.dtype]):
        found = f"{data.dtype}{list(data.shape)}"
        raise ValueError(
            f"{tensor.name}: announced {tensor.dtype}{list(tensor.shape)}, got {found}"
        )
    return data
