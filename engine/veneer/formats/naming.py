"""From a module of a Hugging Face model to the GGUF tensor that holds its weight.

A table, because a wrong guess here applies an adapter to the wrong rows and nothing complains.
Each architecture has one entry: where its layers are, which modules take a LoRA in llama.cpp's
graph, and what the converter did to their rows. The GGUF names come from gguf's own map.

Adding an architecture is adding an entry to `_ENTRIES`; adding a transform is adding a function
to `_ROWS`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from veneer.errors import UnsupportedArchitecture

RowTransform = Literal["none", "rope_q", "rope_k"]
"""What the converter did to the rows (outputs) of a weight. Columns (inputs) are never moved."""

TOKEN_EMBEDDING: Final = "token_embd.weight"
OUTPUT_HEAD: Final = "output.weight"


@dataclass(frozen=True)
class Heads:
    """The attention heads of a base: of the queries, and of the keys and values."""

    queries: int
    keys: int


@dataclass(frozen=True)
class Place:
    """Where a module's weight is in the GGUF, and what became of its rows there."""

    tensor: str
    rows: RowTransform


@dataclass(frozen=True)
class _Entry:
    layers: str
    """The module path before the layer number."""
    inner: Mapping[str, RowTransform]
    """The modules of a layer that take a LoRA, by their path after the layer number."""
    outer: Mapping[str, RowTransform]
    """The modules outside the layers that take a LoRA."""


_ENTRIES: Final[Mapping[str, _Entry]] = {
    # Llama, Mistral, SmolLM2 and others that were converted under this name.
    "llama": _Entry(
        layers="model.layers.",
        inner={
            "self_attn.q_proj": "rope_q",
            "self_attn.k_proj": "rope_k",
            "self_attn.v_proj": "none",
            "self_attn.o_proj": "none",
            "mlp.gate_proj": "none",
            "mlp.up_proj": "none",
            "mlp.down_proj": "none",
        },
        outer={"model.embed_tokens": "none", "lm_head": "none"},
    ),
}

_FROM_WIDTH: Final = frozenset({"attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up", "output"})
_TO_WIDTH: Final = frozenset({"attn_output", "ffn_down"})

_LAYER_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,3})\.(.+)", re.ASCII)
_BLOCK: Final = re.compile(r"blk\.(?:0|[1-9][0-9]{0,3})\.", re.ASCII)


def supported(architecture: str) -> bool:
    """Whether adapters can be placed on bases of this architecture."""
    return architecture in _ENTRIES


def place_module(architecture: str, module: str) -> Place | None:
    """The place of a Hugging Face module path, or None for a module that takes no LoRA.

    Whether the base has that many layers is the caller's question.
    Raises `UnsupportedArchitecture`.
    """
    entry = _entry(architecture)
    if module in entry.outer:
        return Place(_gguf_name(architecture, module), entry.outer[module])
    match = _LAYER_NUMBER.fullmatch(module.removeprefix(entry.layers))
    if not module.startswith(entry.layers) or match is None or match[2] not in entry.inner:
        return None
    # gguf's map is asked about layer 0 alone, so it need not be built for hundreds of layers.
    name = _gguf_name(architecture, f"{entry.layers}0.{match[2]}")
    return Place(name.replace("blk.0.", f"blk.{match[1]}.", 1), entry.inner[match[2]])


def place_tensor(architecture: str, tensor: str) -> Place | None:
    """The place of a GGUF tensor name, or None for a tensor that takes no LoRA.

    The rows of an adapter in GGUF form are in GGUF order already. Raises as `place_module`.
    """
    _entry(architecture)
    known = _BLOCK.sub("blk.0.", tensor, count=1) in _gguf_names(architecture)
    return Place(tensor, "none") if known else None


def layer_of(tensor: str) -> int | None:
    """The layer number in a GGUF tensor name."""
    match = re.match(r"blk\.([0-9]{1,4})\.", tensor, re.ASCII)
    return int(match[1]) if match else None


def width_side(tensor: str) -> Literal[0, 1] | None:
    """Which side of a matrix's LoRA is as wide as the model: 0 its inputs, 1 its outputs."""
    role = re.sub(r"^blk\.[0-9]+\.", "", tensor).removesuffix(".weight")
    if role in _FROM_WIDTH:
        return 0
    return 1 if role in _TO_WIDTH else None


def transform_rows(matrix: NDArray[Any], rows: RowTransform, heads: Heads) -> NDArray[Any]:
    """Bring the rows (axis 0) of a matrix from Hugging Face's order into GGUF's.

    The number of rows must be a multiple of twice the heads concerned.
    """
    return _ROWS[rows](matrix, heads)


def _entry(architecture: str) -> _Entry:
    try:
        return _ENTRIES[architecture]
    except KeyError:
        known = ", ".join(sorted(_ENTRIES))
        message = (
            f"Adapters for models of the architecture {architecture!r} are not supported yet "
            f"(supported: {known})."
        )
        raise UnsupportedArchitecture(message) from None


@cache
def _gguf_names(architecture: str) -> frozenset[str]:
    """The GGUF names of everything that takes a LoRA, with 0 for the layer."""
    entry = _entry(architecture)
    inner = (f"{entry.layers}0.{module}" for module in entry.inner)
    return frozenset(_gguf_name(architecture, module) for module in (*inner, *entry.outer))


@cache
def _gguf_name(architecture: str, module: str) -> str:
    import gguf  # 80 ms, and only needed once an adapter is placed

    arch = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    name = gguf.get_tensor_name_map(arch, 1).get_name(module)
    if name is None:
        raise LookupError(f"gguf's map for {architecture} does not know {module}")
    return f"{name}.weight"


def _same(matrix: NDArray[Any], heads: Heads) -> NDArray[Any]:
    del heads
    return matrix


def _permute(matrix: NDArray[Any], heads: int) -> NDArray[Any]:
    """Interleave the two halves of each head's rows.

    Hugging Face rotates dimension i together with i + d/2, llama.cpp i with i + 1; the converter
    reorders the rows so that both rotate the same pairs.
    """
    half = matrix.shape[0] // heads // 2
    split = matrix.reshape(heads, 2, half, *matrix.shape[1:])
    return np.ascontiguousarray(split.swapaxes(1, 2)).reshape(matrix.shape)


_ROWS: Final[Mapping[RowTransform, Callable[[NDArray[Any], Heads], NDArray[Any]]]] = {
    "none": _same,
    "rope_q": lambda matrix, heads: _permute(matrix, heads.queries),
    "rope_k": lambda matrix, heads: _permute(matrix, heads.keys),
}
