"""Numbers in the smallest type that holds them."""

import numpy as np
import pytest

from veneer.formats.floats import narrowest

F16_LARGEST, F16_SMALLEST = 65504.0, 2.0**-24


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0.0, -0.0, 1.5, F16_LARGEST, F16_SMALLEST, -np.inf], np.float16),
        # 2^-25 and 65536 are beyond F16 and have few digits; 1 + 2^-10 has too many for BF16.
        ([2.0**-25, 1.0], np.uint16),
        ([65536.0, -3.0], np.uint16),
        ([1 + 2.0**-10, 2.0**-25], np.float32),
        ([1 + 2.0**-11], np.float32),
        ([0.1], np.float32),
    ],
)
def test_the_smallest_type_that_holds_every_number(values, dtype):
    array = np.array(values, np.float32)
    stored = narrowest(array)
    assert stored.dtype == dtype
    wide = stored.astype(np.uint32) << 16 if dtype == np.uint16 else stored.astype(np.float32)
    np.testing.assert_array_equal(wide.view(np.uint32), array.view(np.uint32))


def test_shape_and_order_stay_also_of_a_transposed_array():
    array = np.array([[65536.0, 1.0, 2.0], [3.0, 4.0, 5.0]], np.float32).T
    bits = narrowest(array)
    assert bits.tolist() == [[0x4780, 0x4040], [0x3F80, 0x4080], [0x4000, 0x40A0]]
