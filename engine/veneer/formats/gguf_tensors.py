"""Read one tensor's floats from a GGUF file whose header has been checked.

Quantized tensors stay llama.cpp's business: nothing here needs their values.
"""

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError
from veneer.formats.floats import read_floats
from veneer.formats.gguf import GgufHeader


def read_tensor(file: BinaryIO, header: GgufHeader, name: str) -> NDArray[np.float32]:
    """The F32, F16, BF16 or F64 tensor `name` as float32, in numpy's order (ggml's reversed).

    Raises `FormatError` NAME (no such tensor), DTYPE (quantized or integers), TRUNCATED.
    """
    tensor = header.tensors.get(name)
    if tensor is None:
        raise FormatError("NAME", f"The file has no tensor {name}.")
    offset = header.data_start + tensor.offset
    return read_floats(file, offset, tensor.type, tensor.shape[::-1], name)
