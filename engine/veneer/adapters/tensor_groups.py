"""How a base is quantized, by what its tensors are for."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from veneer.formats.gguf import TensorInfo

Part = Literal["attention", "feed-forward", "embeddings", "output", "norms", "other"]


class TensorGroup(Struct, frozen=True, kw_only=True):
    """The tensors with one purpose: bytes by ggml's name of the type they are stored in."""

    part: Part
    types: dict[str, int]

    @property
    def bytes(self) -> int:
        """All of them."""
        return sum(self.types.values())


def tensor_groups(tensors: Iterable[TensorInfo]) -> tuple[TensorGroup, ...]:
    """The groups that have tensors, in the order of `Part`; in each the largest type first."""
    sizes: dict[Part, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for tensor in tensors:
        sizes[_part(tensor.name)][tensor.type] += tensor.nbytes
    return tuple(
        TensorGroup(part=part, types=_largest_first(sizes[part]))
        for part in get_args(Part)
        if part in sizes
    )


def _largest_first(types: dict[str, int]) -> dict[str, int]:
    return dict(sorted(types.items(), key=lambda item: (-item[1], item[0])))


def _part(name: str) -> Part:
    own = name.split(".", 2)[2] if name.startswith("blk.") and name.count(".") > 1 else name
    if "norm" in own:
        return "norms"
    if own.startswith("attn"):
        return "attention"
    if own.startswith("ffn"):
        return "feed-forward"
    if own.startswith("output."):
        return "output"
    return "embeddings" if own.split(".")[0].endswith(("_embd", "_types")) else "other"
