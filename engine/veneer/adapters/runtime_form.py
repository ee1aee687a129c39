"""The one form in which adapters reach llama.cpp: a GGUF LoRA made for one base.

Whatever an adapter was stored as, it is written anew, so that there is one path to test and no
second opinion about strength. What happens to the numbers:

1. B's rows are brought into the base's order (the rotated heads of queries and keys), and what
   the base stores apart or together is cut or stacked.
2. B is multiplied by the target's scaling in float32, and alpha is written as 0, which tells
   llama.cpp to apply the factors as they are. A single alpha could not express targets of
   different ranks or rsLoRA.
3. Everything is stored as F32. With an F16 or BF16 factor, llama.cpp's matrix product first
   rounds the activations to that type, and the result is no longer the one that was trained.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from veneer.adapters.base import Base
from veneer.adapters.compat import placements
from veneer.adapters.contents import Factors
from veneer.adapters.model import Adapter, Target
from veneer.adapters.placed import Placed, Role
from veneer.adapters.reading import open_contents
from veneer.adapters.source import Source
from veneer.adapters.stacking import Share, Stack
from veneer.errors import FormatError, Incompatible
from veneer.formats import gguf_writer

FORM_VERSION = 2
"""Part of the key of every cached runtime form. Raise it when the bytes written here change."""


def write_runtime_form(adapter: Adapter, source: Source, base: Base, out: BinaryIO) -> None:
    """Write `adapter` for `base` to `out`, reading its weights from `source`.

    The same arguments give the same bytes. At most two copies of the largest tensor written are
    in memory. Raises `Incompatible` if `check` refuses, `FormatError` if the source is not (or no
    longer) the adapter described.
    """
    placed = placements(adapter, base)
    beyond = [item for item in placed if item.beyond_stock]
    if beyond:
        module, what = beyond[0].target.module, beyond[0].beyond_stock
        raise Incompatible(f"{module} {what}, which needs the overlay lane.")
    with open_contents(source) as contents:
        factors = contents.factors()
        _check_same(placed, factors)
        tensors = [new for stack in _stacks(placed, factors, base) for new in stack.new_tensors()]
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


def _stacks(
    placed: tuple[Placed, ...], factors: Mapping[Target, Factors], base: Base
) -> Iterator[Stack]:
    """What each tensor gets, in the order of their names."""
    shares: dict[tuple[str, Role], list[Share]] = {}
    for item in placed:
        for piece in item.pieces:
            share = Share(item, piece, factors[item.target])
            shares.setdefault((piece.tensor, item.role), []).append(share)
    for tensor, role in sorted(shares):
        yield Stack(tensor, tuple(shares[tensor, role]), base, role)
