"""The overlay lane in a worker: whether it may be used, and one overlay for each context.

The native runtime is found to work before it is used: it must be there, be certain of the layout
of the loaded llama.cpp's tensors, and compute what numpy computes. Otherwise the lane is off and
the reason is told.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from veneer.errors import OverlayOff, RuntimeRefused
from veneer.runtime.overlay_selftest import wrong_product

if TYPE_CHECKING:
    from veneer._overlay import Layout, Overlay, Plan

OVERLAY_VERSION = 1
"""Part of the lane's id. Raise it when the native runtime may compute other bits."""


class OverlayLane:
    """The lane of this process. Raises `OverlayOff` where it cannot be used."""

    def __init__(self, library: Path, *, only_cpu: bool) -> None:
        """`library` is llama.cpp's own, which is loaded already; `only_cpu`: it computes nowhere
        else."""
        try:
            from veneer import _overlay
        except ImportError as error:
            raise OverlayOff(f"its native part is not installed ({error}).") from error
        try:
            self._layout: Layout = _overlay.probe(str(library))
        except _overlay.ProbeError as error:
            raise OverlayOff(
                f"this llama.cpp cannot be told apart for certain ({error})."
            ) from error
        wrong = wrong_product()
        if wrong is not None:
            raise OverlayOff(f"its arithmetic is wrong on this machine ({wrong}).")
        self._only_cpu = only_cpu
        self.id = f"{OVERLAY_VERSION} {_overlay.kernels()}"

    def context(self, n_threads: int) -> "ContextOverlay":
        """The overlay of one context."""
        from veneer import _overlay

        return ContextOverlay(_overlay.Overlay(self._layout, n_threads, rides=self._only_cpu))


class ContextOverlay:
    """What edits one context's results. Lives at least as long as the context."""

    def __init__(self, native: "Overlay") -> None:
        self._native = native
        self.callback = native.callback
        self.user_data = native.user_data

    def publish(self, plan: "Plan | None") -> None:
        """Use this plan from the next decode on; None is the base as it is."""
        self._native.publish(plan)

    def begin(self, tokens: Sequence[int]) -> None:
        """Tell of the batch that is decoded next."""
        self._native.begin(np.array(tokens, np.int32))

    def finish(self) -> None:
        """Raise `RuntimeRefused` if the batch could not be edited: its results are worthless."""
        from veneer._overlay import OverlayError

        try:
            self._native.finish()
        except OverlayError as error:
            raise RuntimeRefused(f"The overlay could not do its work: {error}") from error

    def missed(self, plan: "Plan") -> tuple[str, ...]:
        """The names of what the plan changes and the last batch never used."""
        hits = self._native.hits(plan)
        return tuple(edit.name for edit, count in zip(plan.edits, hits, strict=True) if not count)
