"""Write a GGUF file (version 3) to an open binary file, one tensor in memory at a time.

Order: room for the head -> the tensors, each of which may turn out to be of a smaller type than
could be known before -> the head. Used for the files that Veneer makes for llama.cpp, and for
fixtures. The bytes depend on the arguments alone: no dates, no names, no dictionary order but the
caller's.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from veneer.formats.gguf_types import SCALARS, ValueType

ALIGNMENT = 32

Encodable: TypeAlias = (
    bool | int | float | str | np.generic | NDArray[Any] | Sequence[str] | Sequence[bytes]
)
"""A value to write. Plain ints become U32 and plain floats F32; numpy scalars and arrays keep
their own type; a sequence of strings becomes an array."""

NewType = Literal["F32", "F16", "BF16", "I32", "I64"]

_TYPE_IDS: Final[Mapping[NewType, int]] = {"F32": 0, "F16": 1, "BF16": 30, "I32": 26, "I64": 27}
_STORAGE: Final[Mapping[NewType, np.dtype[Any]]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
}
_STORED_AS: Final[Mapping[np.dtype[Any], NewType]] = {
    dtype: name for name, dtype in _STORAGE.items()
}
_NUMPY_TYPES: Final = {
    np.dtype(dtype): tag for tag, (_, dtype) in SCALARS.items() if tag != ValueType.BOOL
} | {np.dtype(np.bool_): ValueType.BOOL}


@dataclass(frozen=True)
class NewTensor:
    """A tensor to write: `shape` in numpy's order, `produce` called once, when its turn comes.

    `produce` must return that shape in the dtype's storage (BF16 as uint16); without a `dtype`, in
    that of any type that can be written.
    """

    name: str
    shape: tuple[int, ...]
    dtype: NewType | None
    produce: Callable[[], NDArray[Any]]


def write(file: BinaryIO, metadata: Mapping[str, Encodable], tensors: Sequence[NewTensor]) -> None:
    """Write the whole file from its current position, which must be 0; the file must be seekable.

    Raises `ValueError` if a tensor is not of the shape or dtype it was announced with.
    """
    found: list[NewType] = ["F32"] * len(tensors)
    file.write(bytes(len(_head(metadata, tensors, found))))
    for index, tensor in enumerate(tensors):
        data = np.ascontiguousarray(tensor.produce())
        found[index] = _checked(tensor, data)
        file.write(data.reshape(-1).view(np.uint8).data)
        file.write(bytes(-data.nbytes % ALIGNMENT))
    end = file.tell()
    file.seek(0)
    file.write(_head(metadata, tensors, found))
    file.seek(end)


def _head(
    metadata: Mapping[str, Encodable], tensors: Sequence[NewTensor], types: Sequence[NewType]
) -> bytes:
    parts = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))]
    parts += [_text(key) + _value(value) for key, value in metadata.items()]
    offset = 0
    for tensor, dtype in zip(tensors, types, strict=True):
        dims = tensor.shape[::-1]
        parts.append(_text(tensor.name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
        parts.append(struct.pack("<IQ", _TYPE_IDS[dtype], offset))
        nbytes = prod(dims) * _STORAGE[dtype].itemsize
        offset += nbytes + -nbytes % ALIGNMENT
    head = b"".join(parts)
    return head + bytes(-len(head) % ALIGNMENT)


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


def _checked(tensor: NewTensor, data: NDArray[Any]) -> NewType:
    stored = _STORED_AS.get(data.dtype)
    if data.shape != tensor.shape or stored is None or tensor.dtype not in (None, stored):
        found = f"{data.dtype}{list(data.shape)}"
        announced = f"{tensor.dtype}{list(tensor.shape)}"
        raise ValueError(f"{tensor.name}: announced {announced}, got {found}")
    return stored
