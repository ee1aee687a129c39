import hashlib
import io

import pytest

from veneer.errors import Cancelled
from veneer.identity import (
    Digest,
    canonical_json,
    composition_id,
    execution_id,
    sha256_file,
    sha256_table,
    short,
)
from veneer.tasks import CancelToken


def test_a_file_s_digest_is_sha256_of_its_bytes():
    data = b"veneer" * 500_000
    seen: list[tuple[int, int]] = []
    digest = sha256_file(io.BytesIO(data), len(data), lambda d, t: seen.append((d, t)))
    assert digest == "sha256:" + hashlib.sha256(data).hexdigest()
    assert seen[-1] == (len(data), len(data))


def test_hashing_stops_when_asked_to():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        sha256_file(io.BytesIO(b"x"), 1, cancel=cancel)


def test_canonical_json_is_rfc_8785():
    # The example of RFC 8785, section 3.2.2, in part.
    value = {"peach": "This sorting order", "péché": 1e21, "pêche": [333333333.33333329, 4.50]}
    expected = '{"peach":"This sorting order","péché":1e+21,"pêche":[333333333.3333333,4.5]}'
    assert canonical_json(value) == expected.encode()


def test_whole_floats_and_integers_are_the_same_number():
    assert composition_id({"scale": 1}) == composition_id({"scale": 1.0})
    assert composition_id({"scale": 1.0}) != composition_id({"scale": 1.01})


def test_a_table_s_digest_does_not_depend_on_its_order():
    a, b = Digest("sha256:aa"), Digest("sha256:bb")
    assert sha256_table({"x": a, "y": b}) == sha256_table({"y": b, "x": a})
    assert sha256_table({"x": a, "y": b}) != sha256_table({"x": b, "y": a})


@pytest.mark.parametrize(
    "other",
    [
        (Digest("sha256:c2"), "build", "stock", {"n_ctx": 1}),
        (Digest("sha256:c1"), "build 2", "stock", {"n_ctx": 1}),
        (Digest("sha256:c1"), "build", "overlay", {"n_ctx": 1}),
        (Digest("sha256:c1"), "build", "stock", {"n_ctx": 2}),
    ],
)
def test_anything_that_could_change_a_bit_changes_the_execution_id(other: tuple):
    assert execution_id(Digest("sha256:c1"), "build", "stock", {"n_ctx": 1}) != execution_id(*other)


def test_short_ids_are_the_first_hex_digits():
    assert short(Digest("sha256:0123456789abcdef")) == "01234567"
