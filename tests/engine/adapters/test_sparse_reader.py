import json

import numpy as np
import pytest
from safetensors.numpy import save

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import open_contents, read_adapter
from veneer.errors import FormatError, UnsupportedAdapter

Q0 = "model.layers.0.self_attn.q_proj"
DIGEST = "ab" * 32


def sparse(indices=((0, 3), (2, 1), (2, 15)), values=(0.5, -1.0, 2.0), *, arrays=None, **changes):
    tensors = {
        f"{Q0}.indices": np.array(indices, np.int32),
        f"{Q0}.values": np.array(values, np.float16),
    } | (arrays or {})
    metadata = {
        "format": "veneer.sparse_delta",
        "version": "1",
        "shapes": json.dumps({Q0: [16, 16]}),
        "base_model": "org/Tiny-5K",
        "base_sha256": DIGEST,
    } | changes
    kept = {name: array for name, array in tensors.items() if array is not None}
    raw = save(kept, {k: v for k, v in metadata.items() if v is not None})
    return tiny.Files({"delta.safetensors": raw})


def refused(source, error=FormatError):
    with pytest.raises(error) as caught:
        read_adapter(source)
    return caught.value


def test_reads_what_the_document_describes():
    adapter = read_adapter(sparse())
    assert (adapter.kind, adapter.base_model) == ("sparse_delta", "org/Tiny-5K")
    assert adapter.base_digest == f"sha256:{DIGEST}"
    (target,) = adapter.targets
    assert (target.module, target.operation, target.count) == (Q0, "sparse", 3)
    assert (target.out_features, target.in_features, adapter.weights) == (16, 16, 3)
    with open_contents(sparse()) as contents:
        np.testing.assert_array_equal(contents.read(f"{Q0}.values"), [0.5, -1.0, 2.0])


def test_it_fits_and_is_beyond_the_stock_lane():
    report = check(read_adapter(sparse()), read_base(tiny.base_file()))
    assert report.ok
    assert [problem.code for problem in report.beyond_stock] == ["NEEDS_OVERLAY"]


def test_zeros_change_nothing():
    assert "changes nothing" in read_adapter(sparse(values=(0.0, 0.0, 0.0))).warnings[0]


@pytest.mark.parametrize(
    "indices",
    [
        ((0, 3), (2, 1), (2, 16)),
        ((0, 3), (2, 1), (16, 1)),
        ((-1, 3), (2, 1), (2, 15)),
        ((0, 3), (2, 15), (2, 1)),
        ((0, 3), (2, 1), (2, 1)),
        ((2, 1), (0, 3), (2, 15)),
    ],
)
def test_entries_outside_out_of_order_or_twice(indices):
    assert refused(sparse(indices)).rule == "INDEX"


@pytest.mark.parametrize(
    ("arrays", "rule"),
    [
        ({f"{Q0}.values": None}, "PAIR"),
        ({f"{Q0}.indices": None}, "PAIR"),
        ({f"{Q0}.other": np.ones(3, np.float32)}, "PAIR"),
        ({f"{Q0}.values": np.ones(2, np.float32)}, "SHAPE"),
        ({f"{Q0}.values": np.ones((3, 1), np.float32)}, "SHAPE"),
        ({f"{Q0}.indices": np.ones((3, 3), np.int32)}, "SHAPE"),
        ({f"{Q0}.indices": np.ones((3, 2), np.int64)}, "DTYPE"),
        ({f"{Q0}.values": np.ones(3, np.int32)}, "DTYPE"),
        ({f"{Q0}.values": np.array([1, np.nan, 1], np.float32)}, "NONFINITE"),
    ],
)
def test_tensors_that_are_not_as_described(arrays, rule):
    assert refused(sparse(arrays=arrays)).rule == rule


@pytest.mark.parametrize(
    "changes",
    [
        {"shapes": None},
        {"shapes": "[]"},
        {"shapes": json.dumps({Q0: [16]})},
        {"shapes": json.dumps({Q0: [16, 0]})},
        {"shapes": json.dumps({Q0: [16, 1 << 31]})},
        {"shapes": json.dumps({Q0: [16, True]})},
        {"base_sha256": "short"},
        {"alpha": "2"},
    ],
)
def test_metadata_that_is_wrong(changes):
    assert refused(sparse(**changes)).rule in ("CONFIG", "JSON")


@pytest.mark.parametrize("version", ["2", "", None])
def test_another_version(version):
    refused(sparse(version=version), UnsupportedAdapter)
