"""The GGUF writer, read back by gguf-py and by our own reader."""

import io

import gguf
import numpy as np
import pytest

from veneer.formats.gguf import read_header
from veneer.formats.gguf_tensors import read_tensor
from veneer.formats.gguf_writer import NewTensor, write

METADATA = {
    "general.architecture": "llama",
    "general.name": "Ünï",
    "a.bool": True,
    "a.u32": 7,
    "a.f32": 0.5,
    "a.u64": np.uint64(1 << 40),
    "a.f64": np.float64(0.1),
    "a.strings": ["x", "", "é"],
    "a.bytes": [b"\xff\0"],
    "a.floats": np.array([1.5, -2.5], dtype=np.float32),
    "a.ints": np.array([1, -1], dtype=np.int32),
    "a.bools": np.array([True, False]),
}


def tensors():
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((3, 5)).astype(np.float32)
    half = rng.standard_normal(7).astype(np.float16)
    brain = np.array([[0x3F80, 0x4000]], dtype=np.uint16)
    return [
        NewTensor("wide", wide.shape, "F32", lambda: wide),
        NewTensor("half", half.shape, "F16", lambda: half),
        NewTensor("brain", brain.shape, "BF16", lambda: brain),
    ]


def written(metadata, new):
    out = io.BytesIO()
    write(out, metadata, new)
    return out.getvalue()


def test_gguf_py_reads_the_same(tmp_path):
    path = tmp_path / "out.gguf"
    path.write_bytes(written(METADATA, tensors()))
    reader = gguf.GGUFReader(path)
    for key in METADATA:
        if key != "a.bytes":
            value = reader.get_field(key).contents()
            wanted = METADATA[key]
            assert value == (wanted.tolist() if isinstance(wanted, np.ndarray) else wanted)
    wide, half, brain = reader.tensors
    assert np.array_equal(wide.data, tensors()[0].produce())
    assert wide.shape.tolist() == [5, 3]
    assert np.array_equal(half.data, tensors()[1].produce())
    assert brain.tensor_type == gguf.GGMLQuantizationType.BF16


def test_own_reader_reads_the_same():
    file = io.BytesIO(written(METADATA, tensors()))
    header = read_header(file)
    assert list(header.metadata) == list(METADATA)
    assert header.metadata["a.bytes"] == (b"\xff\0",)
    assert read_tensor(file, header, "brain").tolist() == [[1.0, 2.0]]
    assert np.array_equal(read_tensor(file, header, "wide"), tensors()[0].produce())


def test_bytes_depend_on_the_arguments_alone():
    assert written(METADATA, tensors()) == written(METADATA, tensors())


def test_without_tensors():
    assert read_header(io.BytesIO(written({"a": 1}, []))).metadata == {"a": 1}


def test_not_contiguous_arrays_are_written_in_order():
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    file = io.BytesIO(written({}, [NewTensor("t", (3, 2), "F32", lambda: matrix.T)]))
    assert np.array_equal(read_tensor(file, read_header(file), "t"), matrix.T)


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.zeros(2, np.float64)])
def test_announcement_must_be_kept(wrong):
    with pytest.raises(ValueError, match="announced F32"):
        written({}, [NewTensor("t", (2,), "F32", lambda: wrong)])


def test_a_type_that_is_not_announced_is_that_of_what_comes():
    values = [np.float32([[1, 2]]), np.float16([[3, 4]]), np.uint16([[0x3F80, 0x4000]])]
    tensors = [NewTensor(f"t{i}", (1, 2), None, lambda v=v: v) for i, v in enumerate(values)]
    file = io.BytesIO(written({"a": 1}, tensors))
    header = read_header(file)
    assert [tensor.type for tensor in header.tensors.values()] == ["F32", "F16", "BF16"]
    assert [read_tensor(file, header, name).tolist() for name in header.tensors] == [
        [[1.0, 2.0]], [[3.0, 4.0]], [[1.0, 2.0]],
    ]  # fmt: skip
    with pytest.raises(ValueError, match="announced None"):
        written({}, [NewTensor("t", (2,), None, lambda: np.zeros(2, np.complex64))])


def test_one_tensor_in_memory_at_a_time():
    alive, most = 0, 0

    class Tracked(np.ndarray):
        def __del__(self):
            nonlocal alive
            alive -= self.base is None

    def produce():
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        return np.ndarray.__new__(Tracked, (4,), dtype=np.float32)

    written({}, [NewTensor(f"t{i}", (4,), "F32", produce) for i in range(5)])
    assert most <= 2
