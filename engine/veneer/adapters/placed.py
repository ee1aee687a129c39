"""Where a target of an adapter goes in a base: which rows of which tensor, in which role."""

from dataclasses import dataclass
from typing import Literal

from veneer.adapters.extent import Piece
from veneer.adapters.model import Target
from veneer.formats.rows import RowOrder

Role = Literal["product", "embed", "norm", "layer"]
"""What the base does with the tensor there: `product` multiplies it with activations, `embed`
picks a row of it for each token, `norm` scales a normalised vector by it; `layer` is no tensor but
what a layer hands to the next one. A tied embedding is one tensor in two roles."""


@dataclass(frozen=True)
class Placed:
    """A target, what becomes of its rows' order, and its places in the base.

    `beyond_stock` says, in words that follow the module's name, why llama.cpp's own adapters
    cannot do this; it is empty where they can.
    """

    target: Target
    rows: RowOrder
    pieces: tuple[Piece, ...]
    role: Role = "product"
    beyond_stock: str = ""
