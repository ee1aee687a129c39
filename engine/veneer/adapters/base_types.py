"""Which types the tensors of a base may have for llama.cpp to compute with them.

It looks at shapes when it loads a model, but meets a wrong type only when it computes, and ends
the process there.
"""

from typing import Final

from veneer.errors import FormatError
from veneer.formats.gguf import GgufHeader, TensorInfo

_NO_WEIGHTS: Final = frozenset({"I8", "I16", "I32", "I64", "F64"})


def check_types(header: GgufHeader) -> None:
    """Raises `FormatError` DTYPE naming the first tensor that cannot be computed with."""
    for tensor in header.tensors.values():
        if tensor.type in _NO_WEIGHTS or (_is_added(tensor) and tensor.type != "F32"):
            message = f"{tensor.name} is stored as {tensor.type}, which cannot be computed."
            raise FormatError("DTYPE", message)


def _is_added(tensor: TensorInfo) -> bool:
    """Whether it is added or multiplied entry by entry, which is done with F32 alone."""
    return len(tensor.shape) == 1 or "norm" in tensor.name or tensor.name.endswith(".bias")
