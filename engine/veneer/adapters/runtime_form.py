"""The one form in which adapters reach llama.cpp: a GGUF LoRA made for one base.

Whatever an adapter was stored as, it is written anew, so that there is one path to test and no
second opinion about strength. What happens to the numbers:

1. B's rows are brought into the base's order (the rotated heads of queries and keys).
2. B is multiplied by the target's scaling in float32, and alpha is written as 0, which tells
   llama.cpp to apply the factors as they are. A single alpha could not express targets of
   different ranks or rsLoRA.
3. Everything is stored as F32. With an F16 or BF16 factor, llama.cpp's matrix product first
   rounds the activations to that type, and the result is no longer the one that was trained.
"""

from collections.abc import Callable, Mapping
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.base import Base
from veneer.adapters.compat import check
from veneer.adapters.contents import Factors
from veneer.adapters.model import Adapter, Target
from veneer.adapters.placement import Placed, placements
from veneer.adapters.reading import open_contents
from veneer.adapters.source import Source
from veneer.errors import FormatError, Incompatible
from veneer.formats import gguf_writer, naming
from veneer.formats.gguf_writer import NewTensor

FORM_VERSION = 1
"""Part of the key of every cached runtime form. Raise it when the bytes written here change."""


def write_runtime_form(adapter: Adapter, source: Source, base: Base, out: BinaryIO) -> None:
    """Write `adapter` for `base` to `out`, reading its weights from `source`.

    The same arguments give the same bytes. At most two copies of the largest factor are in
    memory. Raises `Incompatible` if `check` refuses, `FormatError` if the source is not (or no
    longer) the adapter described.
    """
    report = check(adapter, base)
    if not report.ok:
        raise Incompatible(" ".join(problem.message for problem in report.problems))
    placed = placements(adapter, base)
    with open_contents(source) as contents:
        factors = contents.factors()
        _check_same(placed, factors)
        tensors = [n for item in placed for n in _new_tensors(item, factors[item.target], base)]
        gguf_writer.write(out, _metadata(base), tensors)


def _check_same(placed: tuple[Placed, ...], factors: Mapping[Target, Factors]) -> None:
    for item in placed:
        if item.target not in factors:
            message = f"The adapter's files no longer hold {item.target.module} as it was imported."
            raise FormatError("SHAPE", message)


def _metadata(base: Base) -> dict[str, gguf_writer.Encodable]:
    return {
        "general.architecture": base.architecture,
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 0.0,
    }


def _new_tensors(item: Placed, factors: Factors, base: Base) -> tuple[NewTensor, NewTensor]:
    target, name = item.target, item.place.tensor
    a_shape = (target.rank, target.in_features)
    if name == naming.TOKEN_EMBEDDING:
        # A token picks a row of A, so llama.cpp wants this one A the other way round.
        a_shape = a_shape[::-1]
    return (
        NewTensor(f"{name}.lora_a", a_shape, "F32", _produce_a(item, factors)),
        NewTensor(
            f"{name}.lora_b",
            (target.out_features, target.rank),
            "F32",
            _produce_b(item, factors, base),
        ),
    )


def _produce_a(item: Placed, factors: Factors) -> Callable[[], NDArray[np.float32]]:
    def produce() -> NDArray[np.float32]:
        matrix = factors.a()
        return matrix.T if item.place.tensor == naming.TOKEN_EMBEDDING else matrix

    return produce


def _produce_b(item: Placed, factors: Factors, base: Base) -> Callable[[], NDArray[np.float32]]:
    def produce() -> NDArray[np.float32]:
        matrix = naming.transform_rows(factors.b(), item.place.rows, base.heads)
        with np.errstate(over="ignore"):
            matrix *= np.float32(item.target.scaling)
        if not np.isfinite(matrix).all():
            message = f"{item.target.module} overflows when its scaling is applied."
            raise FormatError("NONFINITE", message)
        return matrix

    return produce
