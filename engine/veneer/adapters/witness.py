"""Was the adapter trained over this very base? What its witnesses say.

The rows of a witness are compared with the same rows of the base, dequantised. They differ by
what the base's type loses; two models that were trained apart differ by more than their size.
"""

from collections.abc import Iterable
from math import prod
from typing import BinaryIO, Final

import numpy as np

from veneer.adapters.base import Base
from veneer.adapters.contents import Matrix
from veneer.adapters.model import Witness
from veneer.adapters.problem import Problem, ProblemCode
from veneer.formats import gguf, naming
from veneer.formats.gguf import GgufHeader, TensorInfo
from veneer.formats.witness import sampled

_ROUNDED: Final = 2.0**-8
"""How much a weight changes at most, by its own size, when it is rounded to 16 bits."""
_LOST_MOST: Final = 0.7


def unlike(witness: Witness, sample: Matrix, base: Base, file: BinaryIO) -> Problem | None:
    """Why a witness's `sample`, (rows, width), is not of this base, whose open `file` it is.

    Raises `FormatError` if the file is not that of a base any more.
    """
    header = gguf.read_header(file)
    tensor = _tensor(witness, base, header)
    if tensor is None:
        return _problem("MISSING_TENSOR", witness, "this base has none")
    width, rows = tensor.shape
    if width != witness.width or rows < witness.rows:
        other = f"it is {witness.rows} x {witness.width} there and {rows} x {width} here"
        return _problem("SHAPE", witness, other)
    here = _rows(file, header, tensor, sampled(witness.rows))
    if here is None:
        return _problem("OTHER_BASE", witness, f"{tensor.type} cannot be compared with it")
    if _distance(sample, here) <= _lost(tensor):
        return None
    return _problem("OTHER_BASE", witness, "this base has other weights there")


def _problem(code: ProblemCode, witness: Witness, what: str) -> Problem:
    message = f"It was trained over a {witness.module} that it brought a sample of, and {what}."
    return Problem(code=code, message=message, tensor=witness.module)


def _tensor(witness: Witness, base: Base, header: GgufHeader) -> TensorInfo | None:
    place = naming.place_module(base.architecture, witness.module)
    name = place.blocks[0] if place is not None else ""
    if name == naming.OUTPUT_HEAD and base.tied_embeddings:
        name = naming.TOKEN_EMBEDDING
    return header.tensors.get(name)


def _rows(
    file: BinaryIO, header: GgufHeader, tensor: TensorInfo, rows: Iterable[int]
) -> Matrix | None:
    """These rows as float32; None for a type that gguf cannot dequantise."""
    stride = tensor.nbytes // tensor.shape[1]
    raw = bytearray()
    for row in rows:
        file.seek(header.data_start + tensor.offset + row * stride)
        raw += file.read(stride)
    from gguf import GGMLQuantizationType, quants  # 80 ms, and rarely needed

    stored = np.frombuffer(raw, np.uint8).reshape(-1, stride)
    try:
        return quants.dequantize(stored, GGMLQuantizationType(tensor.type_id))
    except (NotImplementedError, ValueError):
        return None


def _distance(one: Matrix, other: Matrix) -> float:
    """The length of their difference, as a share of the first one's."""
    length = float(np.linalg.norm(one))
    return float(np.linalg.norm(one - other)) / length if length else float(other.any())


def _lost(tensor: TensorInfo) -> float:
    """What rounding to the tensor's type loses at most, as such a share.

    For b bits, blocks of 32 Gaussian weights lie in about 2 x 2.5 standard deviations of 2^b - 1
    steps, and rounding errs by a step over the root of 12: 1.44 / (2^b - 1). Twice that is
    allowed.
    """
    bits = 8 * tensor.nbytes / prod(tensor.shape)
    return min(max(_ROUNDED, 2.9 / (2 ** int(bits) - 1)), _LOST_MOST)
