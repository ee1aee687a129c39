"""The numbers of a base, for the few operations that are made from them before anything runs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import BinaryIO, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from veneer.formats import gguf, gguf_tensors

_ROWS: Final = 1024


class OpenBase(Protocol):
    """Opens the base's file, seekable."""

    def __call__(self) -> AbstractContextManager[BinaryIO]:
        """The file. Raises `StoreError`."""
        ...


class BaseWeights:
    """An open GGUF file's tensors, widened to float32."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @cached_property
    def _header(self) -> gguf.GgufHeader:
        # Most adapters are placed without a number of the base, and a header holds a vocabulary.
        return gguf.read_header(self._file)

    def vector(self, tensor: str) -> NDArray[np.float32]:
        """A tensor with one axis."""
        return gguf_tensors.read_tensor(self._file, self._header, tensor)

    def blocks(self, tensor: str) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The rows of a matrix, some at a time: the number of the first, and (rows, columns)."""
        rows = self._header.tensors[tensor].shape[1]
        for start in range(0, rows, _ROWS):
            count = min(_ROWS, rows - start)
            yield (
                start,
                gguf_tensors.read_rows(self._file, self._header, tensor, start, count),
            )

    def picked(self, tensor: str, rows: tuple[int, ...]) -> NDArray[np.float32]:
        """Some rows of a matrix, in the order asked for."""
        each = [gguf_tensors.read_rows(self._file, self._header, tensor, row, 1) for row in rows]
        return np.concatenate(each)
