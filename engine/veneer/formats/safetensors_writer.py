"""Write a safetensors file: the same tensors and metadata give the same bytes."""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_PADDING: Final = 8


@dataclass(frozen=True)
class TensorBytes:
    """A tensor to write: `chunks` together are its `nbytes` bytes, little-endian in C order."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    chunks: Iterable[bytes]


def file_chunks(
    tensors: Iterable[TensorBytes], metadata: Mapping[str, str]
) -> tuple[int, Iterator[bytes]]:
    """The size of the whole file, and its bytes in order: the header, then tensor by tensor."""
    listed = tuple(tensors)
    header = _header(listed, metadata)
    size = len(header) + sum(tensor.nbytes for tensor in listed)
    return size, _chunks(header, listed)


def _chunks(header: bytes, tensors: Iterable[TensorBytes]) -> Iterator[bytes]:
    yield header
    for tensor in tensors:
        yield from tensor.chunks


def _header(tensors: Iterable[TensorBytes], metadata: Mapping[str, str]) -> bytes:
    table: dict[str, object] = {"__metadata__": dict(sorted(metadata.items()))}
    start = 0
    for tensor in tensors:
        table[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [start, start + tensor.nbytes],
        }
        start += tensor.nbytes
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=True).encode()
    text += b" " * (-len(text) % _PADDING)
    return struct.pack("<Q", len(text)) + text
