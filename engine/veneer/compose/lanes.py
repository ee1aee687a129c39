"""Which lane a composition takes: llama.cpp's own adapters, or the overlay over its arithmetic.

The overlay does everything that the stock lane does, faster on a CPU; on a GPU every hook copies
activations, so there it is used for what the stock lane cannot do.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from veneer.compose.plan import ContextSettings, Lane, LaneWish
from veneer.errors import NeedsOverlay


@dataclass(frozen=True)
class Offer:
    """What the worker can do.

    `build` names llama.cpp and the processor's features; `overlay` the overlay's kernels, empty
    where that lane is off, with the reason in `why_not`; `gpus` the names of the GPUs.
    """

    build: str
    overlay: str
    why_not: str
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beyond:
    """An adapter by name, and in a sentence what it has that the stock lane cannot do."""

    adapter: str
    what: str


def choose(
    wish: LaneWish, offer: Offer, context: ContextSettings, beyond: Iterable[Beyond]
) -> Lane:
    """The lane to take. Raises `NeedsOverlay` where the one that is wished for, or needed, is not
    to be had."""
    needed = next(iter(beyond), None)
    if wish == "stock":
        if needed is not None:
            raise NeedsOverlay(f"{_of(needed)} The settings ask for the stock lane.")
        return "stock"
    if not offer.overlay:
        if wish == "overlay":
            raise NeedsOverlay(f"The overlay lane is not available: {offer.why_not}")
        if needed is not None:
            raise NeedsOverlay(f"{_of(needed)} It is not available: {offer.why_not}")
        return "stock"
    on_gpu = context.n_gpu_layers != 0
    return "stock" if wish == "auto" and on_gpu and needed is None else "overlay"


def _of(needed: Beyond) -> str:
    return f"“{needed.adapter}” cannot run: {needed.what}"


def lane_id(lane: Lane, offer: Offer) -> str:
    """The lane as it enters an execution id: other kernels may change a bit of a result."""
    return f"{lane} {offer.overlay}" if lane == "overlay" else lane
