"""The safetensors reader: what it reads, and every rule by which it refuses."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import numpy as reference

from tests.engine.formats import craft
from tests.engine.formats.mutate import COMMON, mutations
from veneer.errors import FormatError
from veneer.formats.safetensors import read_header, read_tensor

ENTRY = craft.entry(0, 4, [1])


def refusal(raw):
    with pytest.raises(FormatError) as caught:
        read_header(io.BytesIO(raw))
    return caught.value.rule


def test_reads_a_valid_file():
    file = io.BytesIO(craft.valid_safetensors())
    header = read_header(file)
    assert header.metadata == {"format": "pt"}
    assert list(header.tensors) == ["a", "b"]
    assert read_tensor(file, header, "a").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read_tensor(file, header, "b").tolist() == [1, 2, 3, 4]


def test_reads_what_the_package_writes():
    rng = np.random.default_rng(2)
    arrays = {
        "x": rng.standard_normal((4, 3)).astype(np.float32),
        "y": rng.standard_normal((2, 2, 2)).astype(np.float16),
        "z": rng.standard_normal(5),
    }
    file = io.BytesIO(reference.save(arrays, {"format": "pt"}))
    header = read_header(file)
    for name, array in arrays.items():
        assert np.array_equal(read_tensor(file, header, name), array.astype(np.float32))


def test_reads_bf16_exactly():
    raw = craft.safetensors({"w": craft.entry(0, 4, [2], "BF16")}, struct.pack("<2H", 0x3F80, 1))
    file = io.BytesIO(raw)
    assert read_tensor(file, read_header(file), "w").tolist() == [1.0, 2.0**-133]


def test_a_double_that_does_not_fit_becomes_infinite():
    raw = craft.safetensors({"w": craft.entry(0, 8, [1], "F64")}, struct.pack("<d", 1e300))
    file = io.BytesIO(raw)
    assert np.isinf(read_tensor(file, read_header(file), "w")).all()


def test_read_tensor_refusals():
    raw = craft.safetensors({"w": craft.entry(0, 4, [4], "I8")}, bytes(4))
    file = io.BytesIO(raw)
    header = read_header(file)
    for name, rule in (("w", "DTYPE"), ("none", "NAME")):
        with pytest.raises(FormatError) as caught:
            read_tensor(file, header, name)
        assert caught.value.rule == rule


def test_scalars_and_empty_files_are_read():
    assert read_header(io.BytesIO(craft.safetensors({"w": craft.entry(0, 4, [])}, bytes(4))))
    assert not read_header(io.BytesIO(craft.safetensors({"__metadata__": {}}))).tensors


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "SIZE"),
        (bytes(9), "SIZE"),
        (craft.safetensors({}, length=(16 << 20) + 1), "SIZE"),
        (craft.safetensors({}, length=1 << 63), "SIZE"),
        (craft.safetensors({"w": ENTRY}, length=1000), "TRUNCATED"),
        (craft.safetensors(b"[1, 2, 3]"), "MAGIC"),
        (craft.safetensors(b' {"a": 1}'), "MAGIC"),
        (craft.safetensors(b'{"a": }'), "JSON"),
        (craft.safetensors(b'{"a": NaN}'), "JSON"),
        (craft.safetensors(b'{"a": 1, "a": 1}'), "JSON"),
        (craft.safetensors(b'{"a": {"b": 1, "b": 2}}'), "JSON"),
        (craft.safetensors(b'{"\xff": 1}'), "JSON"),
        (craft.safetensors('{"a": 1}'.encode("utf-16-le")), "JSON"),
        (craft.safetensors(b'{"a": "\\ud800"}'), "JSON"),
        (craft.safetensors(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "JSON"),
        (craft.safetensors(b'{"a": ' + b"1" * 5000 + b"}"), "JSON"),
        (craft.safetensors({"__metadata__": 1}), "JSON"),
        (craft.safetensors({"__metadata__": {"a": 1}}), "JSON"),
        (craft.safetensors({"w": 1}), "JSON"),
        (craft.safetensors({"w": {"dtype": "F32", "shape": [1]}}), "JSON"),
        (craft.safetensors({"w": ENTRY | {"more": 1}}, bytes(4)), "JSON"),
        (craft.safetensors({"": ENTRY}, bytes(4)), "NAME"),
        (craft.safetensors({"a\u202eb": ENTRY}, bytes(4)), "NAME"),
        (craft.safetensors({"a" * 513: ENTRY}, bytes(4)), "NAME"),
        (craft.safetensors({"w": ENTRY | {"dtype": "F4"}}, bytes(4)), "DTYPE"),
        (craft.safetensors({"w": ENTRY | {"dtype": 1}}, bytes(4)), "DTYPE"),
        (craft.safetensors({"w": ENTRY | {"shape": 1}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"shape": [1.0]}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"shape": [True]}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"shape": [-1]}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"shape": [1] * 9}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": craft.entry(0, 0, [0, 8])}), "SHAPE"),
        (craft.safetensors({"w": craft.entry(0, 4, [1 << 62])}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"data_offsets": [0, 4, 8]}}, bytes(4)), "SHAPE"),
        (craft.safetensors({"w": ENTRY | {"data_offsets": [4]}}, bytes(4)), "LAYOUT"),
        (craft.safetensors({"w": craft.entry(0, 8, [1])}, bytes(8)), "LAYOUT"),
        (craft.safetensors({"w": craft.entry(8, 4, [1])}, bytes(8)), "LAYOUT"),
        (craft.safetensors({"w": craft.entry(4, 8, [1])}, bytes(8)), "LAYOUT"),
        (craft.safetensors({"v": ENTRY, "w": ENTRY}, bytes(4)), "LAYOUT"),
        (craft.safetensors({"v": ENTRY, "w": craft.entry(8, 12, [1])}, bytes(12)), "LAYOUT"),
        (craft.safetensors({"w": ENTRY}, bytes(5)), "LAYOUT"),
        (craft.safetensors({"w": ENTRY}, bytes(3)), "TRUNCATED"),
        (craft.safetensors({}, b"PK"), "LAYOUT"),
    ],
)
def test_refusals(raw, rule):
    assert refusal(raw) == rule


def test_too_many_tensors():
    table = {f"w{i}": craft.entry(4 * i, 4 * i + 4, [1]) for i in range(65_537)}
    assert refusal(craft.safetensors(table, bytes(4 * 65_537))) == "COUNT"


def test_an_empty_tensor_is_explained():
    with pytest.raises(FormatError, match="gathered"):
        read_header(io.BytesIO(craft.safetensors({"w": craft.entry(0, 0, [0])})))


@COMMON
@given(st.binary(max_size=300))
def test_only_format_errors_escape_for_any_bytes(raw):
    with pytest.raises(FormatError):
        read_header(io.BytesIO(raw))


@COMMON
@given(mutations(craft.valid_safetensors()))
def test_only_format_errors_escape_for_mutations(raw):
    file = io.BytesIO(raw)
    try:
        header = read_header(file)
    except FormatError:
        return
    # What we accept, the reference implementation accepts too, and reads the same.
    loaded = reference.load(raw)
    assert set(loaded) == set(header.tensors)
    for name, tensor in header.tensors.items():
        if tensor.dtype in ("F32", "F16"):
            with np.errstate(invalid="ignore"):
                wanted = loaded[name].astype(np.float32)
            assert np.array_equal(read_tensor(file, header, name), wanted, equal_nan=True)
