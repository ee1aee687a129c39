"""The check of the native products at start-up."""

import numpy as np
import pytest

from veneer import _overlay
from veneer.runtime.overlay_selftest import wrong_product


@pytest.mark.parametrize("name", _overlay.available_kernels())
def test_every_set_of_kernels_computes_what_numpy_computes(name: str):
    _overlay.use_kernels(name)
    assert wrong_product() is None
    _overlay.use_kernels(_overlay.available_kernels()[0])


@pytest.mark.parametrize("broken", [np.nan, 0.01])
def test_a_product_that_is_wrong_in_one_number_is_told_of(
    monkeypatch: pytest.MonkeyPatch, broken: float
):
    right = _overlay.LowRank

    class OneOff:
        def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
            self._right = right(a, b)

        def product(self, x: np.ndarray) -> np.ndarray:
            y = self._right.product(x)
            y[-1, -1] += broken
            return y

    monkeypatch.setattr(_overlay, "LowRank", OneOff)
    reason = wrong_product()
    assert reason is not None
    assert f"{_overlay.kernels()}: float32 factors of sizes (1, 64, 48, 16) are off by" in reason
