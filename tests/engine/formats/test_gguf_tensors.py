"""Rows of a tensor, whatever its type."""

import io

import gguf
import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.errors import FormatError
from veneer.formats.gguf import read_header
from veneer.formats.gguf_tensors import read_rows

ROWS, COLUMNS = 5, 64
Q8_0 = gguf.GGMLQuantizationType.Q8_0


def _plain() -> np.ndarray:
    return np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) - 100


def _file(tmp_path, values: np.ndarray, kind: gguf.GGMLQuantizationType | None) -> io.BytesIO:
    """A file of two tensors, of which the one that is read is the second."""
    path = tmp_path / "rows.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tensor("before", np.ones(7, np.float32))
    writer.add_tensor("w", values, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return io.BytesIO(path.read_bytes())


def _quantized() -> tuple[np.ndarray, np.ndarray]:
    """Blocks of Q8_0 by hand, half a number and 32 bytes each, and what they mean."""
    rng = np.random.default_rng(4)
    scales = np.array([0.5, 0.25], np.float16)
    bytes_ = rng.integers(-127, 128, (ROWS, 2, 32), np.int8)
    blocks = np.empty((ROWS, 2, 34), np.uint8)
    blocks[..., :2] = scales.view(np.uint8).reshape(2, 2)
    blocks[..., 2:] = bytes_.view(np.uint8)
    meant = bytes_ * scales.astype(np.float32)[:, None]
    return blocks.reshape(ROWS, -1), meant.reshape(ROWS, COLUMNS)


@pytest.mark.parametrize(("start", "count"), [(0, 5), (2, 1), (3, 2), (4, 0)])
@pytest.mark.parametrize("kind", ["f32", "f16", "quantized"])
def test_rows_are_those_that_were_asked_for(tmp_path, kind, start, count):
    raw, wanted = _quantized() if kind == "quantized" else (_plain(), _plain())
    stored = raw.astype(np.float16) if kind == "f16" else raw
    file = _file(tmp_path, stored, Q8_0 if kind == "quantized" else None)
    rows = read_rows(file, read_header(file), "w", start, count)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, wanted[start : start + count])


def test_a_vector_is_one_row(tmp_path):
    file = _file(tmp_path, _plain()[1], None)
    np.testing.assert_array_equal(read_rows(file, read_header(file), "w", 0, 1), _plain()[1:2])


def test_a_file_that_ends_in_a_row_is_refused_by_the_tensor_s_name():
    file = io.BytesIO(tiny.gguf_bytes(tiny.base_metadata(), {"w": _plain()}))
    header = read_header(file)
    file.truncate(len(file.getvalue()) - 8)
    assert read_rows(file, header, "w", 0, 4).shape == (4, COLUMNS)
    with pytest.raises(FormatError, match="ends in the middle of w"):
        read_rows(file, header, "w", 4, 1)
