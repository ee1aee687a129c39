"""Mutations that keep most of a valid file, so that they reach the rules behind the first ones."""

import struct

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

COMMON = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)

_EDGES = (0, 1, 2, 31, 32, 63, 64, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63)


@st.composite
def mutations(draw, valid: bytes):
    """One to three edits: overwrite a number, flip a byte, cut, insert, or repeat a part."""
    raw = bytearray(valid)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(raw)))
        match draw(st.sampled_from(["u64", "u32", "byte", "cut", "insert", "repeat"])):
            case "u64":
                raw[at : at + 8] = struct.pack("<Q", draw(st.sampled_from(_EDGES)))
            case "u32":
                raw[at : at + 4] = struct.pack("<Q", draw(st.sampled_from(_EDGES)))[:4]
            case "byte":
                raw[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "cut":
                del raw[at : at + draw(st.integers(1, 40))]
            case "insert":
                raw[at:at] = draw(st.binary(min_size=1, max_size=12))
            case "repeat":
                raw[at:at] = raw[at : at + draw(st.integers(1, 40))]
    return bytes(raw)
