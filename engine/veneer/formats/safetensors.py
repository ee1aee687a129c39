"""Read and check a safetensors file: the header first, then one tensor at a time.

The rules are those of the reference implementation (contiguous from 0, no holes, the last byte is
the end of the file), plus tighter caps and the refusal of duplicate keys. A file that passes
means the same to every reader.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError
from veneer.formats.floats import read_floats
from veneer.formats.strict_json import parse_object

_HEADER_MAX = 16 << 20
_ENTRIES_MAX = 65_536
_NAME_MAX = 512
_DIMS_MAX = 8
_BYTES_MAX = 1 << 63
_METADATA = "__metadata__"

_SIZES: Final = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U64": 8,
    "U32": 4,
    "U16": 2,
    "U8": 1,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}


@dataclass(frozen=True)
class StoredTensor:
    """One tensor: `shape` in numpy's order, `start` and `stop` in bytes from the file's start."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class SafetensorsHeader:
    """The tensors by name, in the order of their data, and the file's free-text metadata."""

    tensors: Mapping[str, StoredTensor]
    metadata: Mapping[str, str]


def read_header(file: BinaryIO, *, empty: bool = False) -> SafetensorsHeader:
    """Read the header of an open, seekable file, in which tensors may be `empty` if said so.

    Only `FormatError` escapes for bad bytes.
    """
    size = file.seek(0, 2)
    file.seek(0)
    raw = _raw_header(file, size)
    table = parse_object(raw, "The safetensors header")
    metadata = _metadata(table.pop(_METADATA, {}))
    if len(table) > _ENTRIES_MAX:
        raise FormatError("COUNT", f"The file claims {len(table)} tensors.")
    data_start = 8 + len(raw)
    found = [_tensor(name, entry, data_start) for name, entry in table.items()]
    if not empty:
        _refuse_empty(found)
    found.sort(key=lambda tensor: (tensor.start, tensor.stop))
    _check_layout(found, data_start, size)
    return SafetensorsHeader(
        tensors=MappingProxyType({tensor.name: tensor for tensor in found}),
        metadata=MappingProxyType(metadata),
    )


def read_tensor(file: BinaryIO, header: SafetensorsHeader, name: str) -> NDArray[np.float32]:
    """The F32, F16, BF16 or F64 tensor `name` as float32.

    Raises `FormatError` NAME (no such tensor), DTYPE (not a float), TRUNCATED.
    """
    tensor = header.tensors.get(name)
    if tensor is None:
        raise FormatError("NAME", f"The file has no tensor {name}.")
    return read_floats(file, tensor.start, tensor.dtype, tensor.shape, name)


def read_indices(file: BinaryIO, header: SafetensorsHeader, name: str) -> NDArray[np.int32]:
    """The I32 tensor `name`. Raises `FormatError` DTYPE or TRUNCATED."""
    tensor = header.tensors[name]
    if tensor.dtype != "I32":
        raise FormatError("DTYPE", f"{name} is stored as {tensor.dtype}, not as I32.")
    file.seek(tensor.start)
    raw = _read(file, tensor.stop - tensor.start)
    return np.frombuffer(raw, "<i4").reshape(tensor.shape)


def _raw_header(file: BinaryIO, size: int) -> bytes:
    if size < 10:
        raise FormatError("SIZE", "The file is too small to be a safetensors file.")
    length = struct.unpack("<Q", _read(file, 8))[0]
    if length > _HEADER_MAX:
        raise FormatError("SIZE", f"The header claims {length} bytes; this is no safetensors file.")
    if length > size - 8:
        raise FormatError("TRUNCATED", "The file ends in the middle of its header.")
    raw = _read(file, length)
    if not raw.startswith(b"{"):
        raise FormatError("MAGIC", "This is not a safetensors file.")
    return raw


def _read(file: BinaryIO, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = file.read(count)
        if not part:
            raise FormatError("TRUNCATED", "The file became shorter while it was read.")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise FormatError("JSON", "The safetensors metadata is not a table.")
    table = cast("dict[str, Any]", value)
    if not all(isinstance(item, str) for item in table.values()):
        raise FormatError("JSON", "The safetensors metadata has a value that is not text.")
    return table


def _tensor(name: str, entry: Any, data_start: int) -> StoredTensor:
    if not (1 <= len(name) <= _NAME_MAX and name.isascii() and name.isprintable()):
        raise FormatError("NAME", f"The tensor name {name[:80]!r} is not a plain name.")
    if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != {
        "dtype",
        "shape",
        "data_offsets",
    }:
        raise FormatError("JSON", f"{name} is not described by dtype, shape and data_offsets.")
    fields = cast("dict[str, Any]", entry)
    dtype, shape = _dtype(name, fields["dtype"]), _numbers(name, fields["shape"], _DIMS_MAX)
    offsets = _numbers(name, fields["data_offsets"], 2)
    nbytes = prod(shape) * _SIZES[dtype]
    if nbytes >= _BYTES_MAX:
        raise FormatError("SHAPE", f"{name} is larger than any file can be.")
    if len(offsets) != 2 or offsets[1] - offsets[0] != nbytes:
        raise FormatError("LAYOUT", f"{name} needs {nbytes} bytes, but its offsets say otherwise.")
    return StoredTensor(name, dtype, shape, data_start + offsets[0], data_start + offsets[1])


def _dtype(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in _SIZES:
        raise FormatError("DTYPE", f"{name} has the unknown type {str(value)[:40]!r}.")
    return value


def _numbers(name: str, value: Any, most: int) -> tuple[int, ...]:
    numbers = cast("list[Any]", value)
    if not isinstance(value, list) or len(numbers) > most or not all(map(_is_size, numbers)):
        raise FormatError("SHAPE", f"{name} has a shape or offsets that are not whole numbers.")
    return tuple(numbers)


def _is_size(value: Any) -> bool:
    return type(value) is int and value >= 0


def _refuse_empty(tensors: list[StoredTensor]) -> None:
    for tensor in tensors:
        if 0 in tensor.shape:
            what = "is empty. A sharded training run must be gathered before it is saved."
            raise FormatError("SHAPE", f"{tensor.name} {what}")


def _check_layout(tensors: list[StoredTensor], data_start: int, size: int) -> None:
    expected = data_start
    for tensor in tensors:
        if tensor.start != expected:
            message = f"{tensor.name} starts at byte {tensor.start}, not at {expected}."
            raise FormatError("LAYOUT", message)
        expected = tensor.stop
    if expected > size:
        raise FormatError("TRUNCATED", f"The file lacks {expected - size} bytes of its tensors.")
    if expected < size:
        raise FormatError("LAYOUT", f"The file has {size - expected} bytes after its last tensor.")
