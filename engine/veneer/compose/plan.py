"""What the runtime is told: files, scales and settings, with every question answered.

These are the only words of `compose` that travel to the worker.
"""

from typing import Any, Literal

import msgspec

from veneer.identity import Digest

Lane = Literal["stock", "overlay"]
LaneWish = Literal["auto", "stock", "overlay"]
"""What a person chose; `auto` leaves it to `lanes.choose`."""


class ContextSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a context that may change a bit of the result. Sizes in tokens.

    `device` is the one GPU to use, by ggml's name; without one llama.cpp takes what there is.
    """

    n_ctx: int = 4096
    n_batch: int = 256
    n_threads: int = 2
    type_kv: Literal["f16", "f32", "q8_0"] = "f16"
    n_gpu_layers: int = 0
    device: str = ""

    def identity(self) -> dict[str, Any]:
        """The fields as they enter an execution id."""
        return msgspec.to_builtins(self)


class PlannedAdapter(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter as the worker loads it: a file in its lane's form and a scale.

    `size` is the bytes it takes in memory. `gains` is the file of what a DoRA adapter multiplies
    rows by at this scale; empty where there is none. `tokens` are some without which it may change
    nothing.
    """

    digest: Digest
    name: str
    path: str
    scale: float
    size: int
    gains: str = ""
    tokens: tuple[int, ...] = ()


class RuntimePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the worker needs to run one composition."""

    composition: Digest
    execution: Digest
    base: Digest
    base_name: str
    base_path: str
    adapters: tuple[PlannedAdapter, ...]
    context: ContextSettings
    lane: Lane
