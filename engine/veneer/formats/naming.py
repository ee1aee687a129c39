"""From a module of a Hugging Face model to the GGUF tensors that hold its rows, and back.

`place_module` and `place_tensor` tell which blocks of rows a name means; `stored` tells where a
base keeps a block: in a tensor of its own, or together with others. What is in the table of
`architectures` has a place; nothing else has.
"""

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from veneer.errors import UnsupportedArchitecture
from veneer.formats.architectures import ARCHITECTURES, EXPERT, Architecture, Module
from veneer.formats.rows import RowOrder

TOKEN_EMBEDDING: Final = "token_embd.weight"
OUTPUT_HEAD: Final = "output.weight"


@dataclass(frozen=True)
class Place:
    """The blocks of a module's rows, by the GGUF name each has when it is stored apart.

    `rows` is what became of their order. `expert` is the number of the expert whose matrix it is.
    `deaf` weights are multiplied by llama.cpp without a look at its adapters. `whole` means the
    tensor of that name with everything that is in it, as an adapter in GGUF form means it.
    """

    blocks: tuple[str, ...]
    rows: RowOrder = "same"
    expert: int | None = None
    deaf: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Stored:
    """A tensor, and which of how many blocks in it is meant."""

    tensor: str
    block: int = 0
    of: int = 1


_PACKS: Final = (
    (("attn_q", "attn_k", "attn_v"), "attn_qkv"),
    (("ffn_gate_exps", "ffn_up_exps"), "ffn_gate_up_exps"),
)
_GATE_IN_UP: Final = (("ffn_gate", "ffn_up"), "ffn_up")

_FROM_WIDTH: Final = frozenset({"attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up", "output"})
_TO_WIDTH: Final = frozenset({"attn_output", "ffn_down"})

_NUMBER: Final = "(0|[1-9][0-9]{0,3})"
_LAYER_NUMBER: Final = re.compile(rf"{_NUMBER}\.(.+)", re.ASCII)
_EXPERT_NUMBER: Final = re.compile(rf"\bexperts\.{_NUMBER}\.", re.ASCII)
_BLOCK: Final = re.compile(rf"blk\.{_NUMBER}\.(\w+)\.weight", re.ASCII)


def supported(architecture: str) -> bool:
    """Whether adapters can be placed on bases of this architecture."""
    return architecture in ARCHITECTURES


def place_module(architecture: str, module: str) -> Place | None:
    """The place of a Hugging Face module path, or None for a module that takes no LoRA.

    Whether the base has that many layers and experts is the caller's question.
    Raises `UnsupportedArchitecture`.
    """
    entry = _entry(architecture)
    if module in entry.outer:
        known = entry.outer[module]
        return Place((_gguf_name(architecture, module),), known.rows, deaf=known.deaf)
    match = _LAYER_NUMBER.fullmatch(_after_layers(entry, module))
    if match is None:
        return None
    layer, path = match.groups()
    expert = _EXPERT_NUMBER.search(path)
    path = _EXPERT_NUMBER.sub(EXPERT, path, count=1)
    if path not in entry.inner or EXPERT in match[2]:
        return None
    known = entry.inner[path]
    return Place(
        tuple(f"blk.{layer}.{role}.weight" for role in _roles(architecture, path)),
        known.rows,
        None if expert is None else int(expert[1]),
        known.deaf,
    )


def place_tensor(architecture: str, tensor: str) -> Place | None:
    """The place of a GGUF tensor name, or None for a tensor that takes no LoRA.

    The rows of an adapter in GGUF form are in GGUF order already. Raises as `place_module`.
    """
    entry = _entry(architecture)
    outer = {_gguf_name(architecture, module): known for module, known in entry.outer.items()}
    match = _BLOCK.fullmatch(tensor)
    inner = _gguf_roles(architecture)
    if tensor in outer:
        return Place((tensor,), deaf=outer[tensor].deaf, whole=True)
    if match is None or match[2] not in inner:
        return None
    return Place((tensor,), deaf=inner[match[2]].deaf, whole=True)


def stored(architecture: str, block: str, tensors: Container[str]) -> Stored | None:
    """Where a base with these tensors keeps a block, or None if nowhere."""
    match = _BLOCK.fullmatch(block)
    if match is None:
        return Stored(block) if block in tensors else None
    layer, role = match.groups()
    gate = f"blk.{layer}.ffn_gate.weight"
    packs_gate = _entry(architecture).packs_gate and gate not in tensors
    for roles, pack in (*_PACKS, _GATE_IN_UP) if packs_gate else _PACKS:
        tensor = f"blk.{layer}.{pack}.weight"
        if role in roles and tensor in tensors and (block not in tensors or pack in roles):
            return Stored(tensor, roles.index(role), len(roles))
    return Stored(block) if block in tensors else None


def norm_of(architecture: str, module: str) -> str | None:
    """The GGUF name of a normalisation's weight, or None for what is none."""
    entry = _entry(architecture)
    match = _LAYER_NUMBER.fullmatch(_after_layers(entry, module))
    layer, asked = ("0", module) if match is None else (match[1], f"{entry.layers}0.{match[2]}")
    try:
        name = _gguf_name(architecture, asked)
    except LookupError:
        return None
    return name.replace("blk.0.", f"blk.{layer}.", 1) if "norm" in name else None


def norm_shift(architecture: str) -> float:
    """What a converter adds to every norm's weight. Source: the Gemma classes of llama.cpp's."""
    return 1.0 if architecture in ("gemma", "gemma2", "gemma3") else 0.0


def layer_of(tensor: str) -> int | None:
    """The layer number in a GGUF tensor name."""
    match = re.match(rf"blk\.{_NUMBER}\.", tensor, re.ASCII)
    return int(match[1]) if match else None


def width_side(tensor: str) -> Literal[0, 1] | None:
    """Which side of a matrix's LoRA is as wide as the model: 0 its inputs, 1 its outputs."""
    role = re.sub(r"^blk\.[0-9]+\.", "", tensor).removesuffix(".weight")
    if role in _FROM_WIDTH:
        return 0
    return 1 if role in _TO_WIDTH else None


def _entry(architecture: str) -> Architecture:
    try:
        return ARCHITECTURES[architecture]
    except KeyError:
        known = ", ".join(sorted(ARCHITECTURES))
        message = (
            f"Adapters for models of the architecture {architecture!r} are not supported yet "
            f"(supported: {known})."
        )
        raise UnsupportedArchitecture(message) from None


def _after_layers(entry: Architecture, module: str) -> str:
    for prefix in (entry.layers, *entry.aliases):
        if module.startswith(prefix):
            return module.removeprefix(prefix)
    return ""


def _roles(architecture: str, path: str) -> tuple[str, ...]:
    """The GGUF roles of the blocks of a module inside a layer."""
    entry = _entry(architecture)
    if entry.inner[path].blocks:
        return entry.inner[path].blocks
    # gguf's map is asked about layer 0 alone, so it need not be built for hundreds of layers; it
    # knows the experts by their merged name.
    name = _gguf_name(architecture, f"{entry.layers}0.{path.replace(EXPERT, 'experts.')}")
    return (name.removeprefix("blk.0.").removesuffix(".weight"),)


@cache
def _gguf_roles(architecture: str) -> dict[str, Module]:
    """The roles of everything inside a layer that takes a LoRA, stored apart or together."""
    roles: dict[str, Module] = {}
    for path, module in _entry(architecture).inner.items():
        blocks = _roles(architecture, path)
        packs = {pack for members, pack in (*_PACKS, _GATE_IN_UP) if blocks == members}
        roles |= dict.fromkeys({*blocks, *packs}, module)
    return roles


@cache
def _gguf_name(architecture: str, module: str) -> str:
    import gguf  # 80 ms, and only needed once an adapter is placed

    arch = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    name = gguf.get_tensor_name_map(arch, 1).get_name(module)
    if name is None:
        raise LookupError(f"gguf's map for {architecture} does not know {module}")
    return f"{name}.weight"
