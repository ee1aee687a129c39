"""Read one tensor from a GGUF file whose header has been checked.

Multiplying with quantized tensors stays llama.cpp's business; here they are only widened, for
what is computed from a base's weights beforehand.
"""

from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError
from veneer.formats.floats import STORAGE, read_floats, read_stored
from veneer.formats.gguf import GgufHeader
from veneer.formats.gguf_types import GGML_TYPES

_WHOLE_NUMBERS: Final = {"I32": "<i4", "I64": "<i8"}


def read_tensor(file: BinaryIO, header: GgufHeader, name: str) -> NDArray[np.float32]:
    """The F32, F16, BF16 or F64 tensor `name` as float32, in numpy's order (ggml's reversed).

    Raises `FormatError` NAME (no such tensor), DTYPE (quantized or integers), TRUNCATED.
    """
    tensor = header.tensors.get(name)
    if tensor is None:
        raise FormatError("NAME", f"The file has no tensor {name}.")
    offset = header.data_start + tensor.offset
    return read_floats(file, offset, tensor.type, tensor.shape[::-1], name)


def read_as_stored(file: BinaryIO, header: GgufHeader, name: str) -> NDArray[Any]:
    """The tensor `name` in its own type, F32, F16, BF16 (as uint16), F64, I32 or I64.

    Raises as `read_tensor`.
    """
    tensor = header.tensors[name]
    kinds = STORAGE | _WHOLE_NUMBERS
    if tensor.type not in kinds:
        raise FormatError("DTYPE", f"{name} is stored as {tensor.type}.")
    offset = header.data_start + tensor.offset
    return read_stored(file, offset, np.dtype(kinds[tensor.type]), tensor.shape[::-1], name)


def read_rows(
    file: BinaryIO, header: GgufHeader, name: str, start: int, count: int
) -> NDArray[np.float32]:
    """`count` rows of the matrix `name` from row `start` on, widened to float32: (count, columns).

    A vector is one row. Raises `FormatError` DTYPE for a type that nobody can widen, TRUNCATED.
    """
    tensor = header.tensors[name]
    kind = GGML_TYPES[tensor.type_id]
    row = tensor.shape[0] // kind.block * kind.size
    offset = header.data_start + tensor.offset + start * row
    if tensor.type in STORAGE:
        return read_floats(file, offset, tensor.type, (count, tensor.shape[0]), name)
    raw = read_stored(file, offset, np.dtype(np.uint8), (count, row), name)
    return _widened(raw, tensor.type_id, name)


def _widened(raw: NDArray[np.uint8], type_id: int, name: str) -> NDArray[np.float32]:
    import gguf  # 80 ms, and only needed for the few operations that look at the base's weights

    widen = cast("Any", gguf.quants).dequantize
    try:
        return widen(raw, gguf.GGMLQuantizationType(type_id))
    except NotImplementedError as error:
        message = f"{name} is quantized in a way whose values cannot be told."
        raise FormatError("DTYPE", message) from error
