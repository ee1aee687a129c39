"""Read and check the header of a GGUF file, in pure Python.

llama.cpp aborts or corrupts memory on many malformed files, and a process cannot survive that.
So this reader accepts less than the format allows, and everything it accepts is bounded, in
range, and laid out without gaps or overlaps.

Order: preamble (magic, version, counts), metadata, alignment, tensor descriptions, and last the
layout of the data against the length of the file. Tensor data itself is not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from veneer.errors import FormatError
from veneer.formats.gguf_metadata import read_metadata
from veneer.formats.gguf_types import GGML_TYPES, GgmlType, Value
from veneer.formats.gguf_window import Window

_MAGIC = b"GGUF"
_MIN_FILE = 24
_DEFAULT_ALIGNMENT = 32
_ALIGNMENTS = frozenset(1 << bit for bit in range(3, 17))
_MIN_TENSOR = 8 + 1 + 4 + 8 + 4 + 8
_TENSORS_MAX = 65_536
_NAME_MAX = 63
_PLAIN = bytes(range(0x21, 0x7F))
_DIMS_MAX = 4
_BYTES_MAX = 1 << 63


@dataclass(frozen=True)
class TensorInfo:
    """One tensor. `shape` is in ggml's order: `shape[0]` is contiguous (a matrix's columns).

    `offset` counts from the header's `data_start`; `nbytes` excludes padding.
    """

    name: str
    shape: tuple[int, ...]
    type_id: int
    type: str
    offset: int
    nbytes: int


@dataclass(frozen=True)
class GgufHeader:
    """Everything but the tensor data. The maps keep the order of the file."""

    version: int
    alignment: int
    data_start: int
    file_size: int
    metadata: Mapping[str, Value]
    tensors: Mapping[str, TensorInfo]

    def text(self, key: str) -> str | None:
        """A string, or None where the key is missing. Raises `FormatError` KEY for other types."""
        value = self.metadata.get(key)
        if value is None or isinstance(value, str):
            return value
        raise FormatError("KEY", f"{key} is not a string.")

    def integer(self, key: str) -> int | None:
        """A whole number, or None where the key is missing."""
        value = self.metadata.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise FormatError("KEY", f"{key} is not a whole number.")

    def integers(self, key: str) -> tuple[int, ...]:
        """A whole number, or one for each layer; empty where the key is missing."""
        value = self.metadata.get(key)
        if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.integer):
            return tuple(int(item) for item in value.astype(np.int64))
        number = self.integer(key)
        return () if number is None else (number,)

    def strings(self, key: str) -> tuple[bytes, ...]:
        """An array of raw strings; empty where the key is missing."""
        value = self.metadata.get(key, ())
        if isinstance(value, tuple):
            return value
        raise FormatError("KEY", f"{key} is not a list of strings.")


def read_header(file: BinaryIO) -> GgufHeader:
    """Read the header of an open, seekable file. Only `FormatError` escapes for bad bytes."""
    window = Window(file)
    version, n_tensors, n_pairs = _preamble(window)
    metadata = read_metadata(window, n_pairs)
    alignment = _alignment(metadata)
    described = _describe_all(window, n_tensors)
    data_start = _padded(window.pos, alignment)
    _check_layout(file, window, alignment, described)
    return GgufHeader(
        version=version,
        alignment=alignment,
        data_start=data_start,
        file_size=window.size,
        metadata=MappingProxyType(dict(metadata)),
        tensors=MappingProxyType(described),
    )


def _preamble(window: Window) -> tuple[int, int, int]:
    if window.size < _MIN_FILE:
        raise FormatError("SIZE", "The file is too small to be a GGUF file.")
    if window.take(4) != _MAGIC:
        raise FormatError("MAGIC", "This is not a GGUF file.")
    version = window.u32()
    if version not in (2, 3):
        big = version & 0xFFFF == 0
        hint = "it was written for a big-endian machine" if big else "only 2 and 3 are supported"
        raise FormatError("VERSION", f"The file has GGUF version {version}: {hint}.")
    return version, window.u64(), window.u64()


def _alignment(metadata: Mapping[str, Value]) -> int:
    value = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(value, int) or value not in _ALIGNMENTS:
        raise FormatError("VALUE", f"general.alignment is {value}, not a power of two of 8..65536.")
    return value


def _describe_all(window: Window, count: int) -> dict[str, TensorInfo]:
    if count > min(_TENSORS_MAX, window.remaining // _MIN_TENSOR):
        raise FormatError("COUNT", f"The file claims {count} tensors.")
    tensors: dict[str, TensorInfo] = {}
    for _ in range(count):
        tensor = _describe(window)
        if tensor.name in tensors:
            raise FormatError("NAME", f"The tensor {tensor.name} appears twice.")
        tensors[tensor.name] = tensor
    return tensors


def _describe(window: Window) -> TensorInfo:
    name = _name(window)
    n_dims = window.u32()
    if not 1 <= n_dims <= _DIMS_MAX:
        raise FormatError("SHAPE", f"{name} has {n_dims} dimensions; 1 to 4 are possible.")
    shape = tuple(window.u64() for _ in range(n_dims))
    if min(shape) < 1:
        raise FormatError("SHAPE", f"{name} has a dimension of size 0.")
    type_id, offset = window.u32(), window.u64()
    if type_id not in GGML_TYPES:
        raise FormatError("DTYPE", f"{name} has the unknown or retired type {type_id}.")
    kind = GGML_TYPES[type_id]
    return TensorInfo(name, shape, type_id, kind.name, offset, _nbytes(name, shape, kind))


def _name(window: Window) -> str:
    length = window.u64()
    if not 1 <= length <= _NAME_MAX:
        raise FormatError("NAME", f"A tensor name is {length} bytes long; 1 to 63 are possible.")
    raw = window.take(length)
    # ASCII without blanks: what every converter writes, and what no terminal can be fooled by.
    if raw.translate(None, _PLAIN):
        raise FormatError("NAME", f"The tensor name {raw!r} has characters that names never have.")
    return raw.decode("ascii")


def _nbytes(name: str, shape: tuple[int, ...], kind: GgmlType) -> int:
    if shape[0] % kind.block:
        message = f"{name} has rows of {shape[0]}, not a multiple of {kind.name}'s {kind.block}."
        raise FormatError("SHAPE", message)
    nbytes = prod(shape) // kind.block * kind.size
    if max(nbytes, prod(shape)) >= _BYTES_MAX:
        raise FormatError("SHAPE", f"{name} is larger than any file can be.")
    return nbytes


def _padded(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment


def _check_layout(
    file: BinaryIO, window: Window, alignment: int, tensors: Mapping[str, TensorInfo]
) -> None:
    """Each tensor starts where the padding of the one before ends, and the file ends with them.

    Hidden data between or behind tensors would make two programs see two different models.
    """
    expected = end = 0
    for tensor in tensors.values():
        if tensor.offset != expected:
            message = f"{tensor.name} starts at {tensor.offset}, not at {expected}."
            raise FormatError("LAYOUT", message)
        end = expected + tensor.nbytes
        expected = _padded(end, alignment)
    stop = _padded(window.pos, alignment) + end if tensors else window.pos
    if stop > window.size:
        raise FormatError("TRUNCATED", f"The file lacks {stop - window.size} bytes of its tensors.")
    if window.size - stop > alignment:
        raise FormatError(
            "LAYOUT", f"The file has {window.size - stop} bytes after its last tensor."
        )
    file.seek(stop)
    if any(file.read(window.size - stop)):
        raise FormatError("LAYOUT", "The file has data hidden after its last tensor.")
