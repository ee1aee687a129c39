"""The gains of DoRA where something is zero, negative, or missing."""

import io

import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.dora import GAINS_TYPE, write_gains
from veneer.adapters.overlay_file import OverlayFile
from veneer.adapters.overlay_form import FORM_TYPE
from veneer.errors import FormatError

W = np.array([[3, 4], [0, 2], [1, 0]], np.float32)
A = np.array([[1, 0]], np.float32)
B = np.array([[1], [2], [-1]], np.float32)
MAGNITUDE = np.array([10, 6, 3], np.float32)
SCALING = 0.5


def _gains(strength: float, *, w: np.ndarray = W, magnitude: np.ndarray = MAGNITUDE) -> list[float]:
    base = io.BytesIO(tiny.gguf_bytes(tiny.base_metadata(), {"w": w}))
    slots = {"a": A, "b": B, "scaling": np.array([SCALING], np.float32), "magnitude": magnitude}
    metadata = {"general.type": "adapter", "adapter.type": FORM_TYPE}
    form = io.BytesIO(
        tiny.gguf_bytes(metadata, {f"w/product/{name}": array for name, array in slots.items()})
    )
    out = io.BytesIO()
    write_gains(OverlayFile(form, FORM_TYPE), BaseWeights(base), strength, out)
    (place,) = OverlayFile(out, GAINS_TYPE).places()
    return place.wide("gain").tolist()


@pytest.mark.parametrize(
    ("strength", "lengths"),
    [
        (1.0, [np.hypot(3.5, 4), np.hypot(1, 2), 0.5]),
        (0.0, [5, 2, 1]),
        (-1.0, [np.hypot(2.5, 4), np.hypot(1, 2), 1.5]),
        (-6.0, [4, np.hypot(6, 2), 4]),
    ],
)
def test_a_gain_is_the_magnitude_over_the_length_at_that_strength(strength, lengths):
    np.testing.assert_allclose(_gains(strength), MAGNITUDE / np.array(lengths), rtol=1e-6)


def test_a_row_without_a_length_is_refused_by_its_tensor():
    # At twice the scaling's inverse, the adapter takes the last row away.
    with pytest.raises(FormatError, match=r"w has rows without a length \(DoRA\)"):
        _gains(2.0)
    with pytest.raises(FormatError, match="rows without a length"):
        _gains(0.0, w=np.zeros_like(W))


def test_a_row_without_a_magnitude_stays_as_long_as_it_is():
    magnitude = np.array([10, np.nan, 0], np.float32)
    np.testing.assert_allclose(_gains(0.0, magnitude=magnitude), [2, 1, 0])
    # Also where it has no length.
    no_length = W * np.array([[1], [0], [1]], np.float32)
    np.testing.assert_allclose(_gains(0.0, w=no_length, magnitude=magnitude), [2, 1, 0])
