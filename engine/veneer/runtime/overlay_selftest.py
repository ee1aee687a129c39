"""Whether the native products are right on this machine: random factors, against numpy.

A compiler's mistake, or a machine that does not keep what its instructions promise, shows here and
not in an answer. Takes a few milliseconds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows, inputs, outputs and rank: one row and blocks of rows, whole vectors and their ends.
_SIZES = ((1, 64, 48, 16), (1, 37, 19, 3), (7, 45, 33, 5), (50, 24, 17, 4))
_TOLERANCE = 1e-4


def wrong_product() -> str | None:
    """What came out wrong, or None."""
    from veneer import _overlay

    rng = np.random.default_rng(2)
    for sizes in _SIZES:
        for kind in ("float32", "float16", "bfloat16"):
            n, n_in, n_out, rank = sizes
            x = rng.standard_normal((n, n_in), np.float32)
            a, exact_a = _numbers(rng, (rank, n_in), kind)
            b, exact_b = _numbers(rng, (n_out, rank), kind)
            wanted = (x @ exact_a.T) @ exact_b.T
            error = float(np.abs(_overlay.LowRank(a, b).product(x) - wanted).max())
            # Written so that a result that is no number is wrong, too.
            if not error <= _TOLERANCE * float(np.abs(wanted).max()):
                return (
                    f"{_overlay.kernels()}: {kind} factors of sizes {sizes} are off by {error:.2g}"
                )
    return None


def _numbers(
    rng: np.random.Generator, shape: tuple[int, int], kind: str
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Random numbers as the factors hold them, and what they mean."""
    numbers = rng.standard_normal(shape, np.float32)
    if kind != "bfloat16":
        stored = numbers.astype(kind)
        return stored, stored.astype(np.float64)
    upper = numbers.view(np.uint32) >> 16
    return upper.astype(np.uint16), (upper << 16).view(np.float32).astype(np.float64)
