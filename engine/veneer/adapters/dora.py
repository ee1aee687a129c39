"""What the rows of a DoRA adapter are multiplied by: its magnitudes over the rows' lengths.

The length is that of the row of W + s·scaling·B·A, with W the base's weight as it is (widened, if
it is quantized) and s the strength, as PEFT computes it; of an embedding it is that of a column,
since a token picks a row. One pass over the base's weights, once for each base, adapter and
strength.

Source: Liu et al., DoRA (2024).
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.overlay_file import OverlayFile, PlaceSlots
from veneer.errors import FormatError
from veneer.formats import gguf_writer
from veneer.formats.gguf_writer import NewTensor
from veneer.tasks import CancelToken

GAINS_VERSION: Final = 1
"""Part of the key of every cached file of gains. Raise it when the numbers change."""
GAINS_TYPE: Final = "veneer.overlay.gains"


def write_gains(
    form: OverlayFile,
    weights: BaseWeights,
    strength: float,
    out: BinaryIO,
    cancel: CancelToken | None = None,
) -> None:
    """Write a gain (out,) for each place of the form that has a magnitude.

    Raises `FormatError` NONFINITE where a row has no length, `Cancelled`.
    """
    tensors = [
        NewTensor(f"{place.key}/gain", gain.shape, "F32", lambda gain=gain: gain)
        for place, gain in _gains(form, weights, strength, cancel)
    ]
    gguf_writer.write(out, {"general.type": "adapter", "adapter.type": GAINS_TYPE}, tensors)


def _gains(
    form: OverlayFile, weights: BaseWeights, strength: float, cancel: CancelToken | None
) -> Iterator[tuple[PlaceSlots, NDArray[np.float32]]]:
    for place in form.places():
        if "magnitude" not in place.slots:
            continue
        if cancel is not None:
            cancel.check()
        lengths = _lengths(place, weights, strength)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = place.wide("magnitude") / lengths
        gain = np.where(np.isnan(place.wide("magnitude")), np.float32(1), gain)
        if not np.isfinite(gain).all():
            raise FormatError("NONFINITE", f"{place.tensor} has rows without a length (DoRA).")
        yield place, gain


def _lengths(place: PlaceSlots, weights: BaseWeights, strength: float) -> NDArray[np.float32]:
    a, b = place.wide("a"), place.wide("b")
    b *= place.wide("scaling") * np.float32(strength)
    if place.role == "embed":
        squares = np.zeros(b.shape[0], np.float32)
        for start, block in weights.blocks(place.tensor):
            changed = block + a[:, start : start + len(block)].T @ b.T
            squares += np.square(changed).sum(axis=0)
        return np.sqrt(squares)
    lengths = np.empty(b.shape[0], np.float32)
    for start, block in weights.blocks(place.tensor):
        stop = start + len(block)
        lengths[start:stop] = np.linalg.norm(block + b[start:stop] @ a, axis=1)
    return lengths
