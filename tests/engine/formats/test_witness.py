"""A file with copies of the base's weights is rewritten with samples of them."""

import io

import numpy as np
import pytest
from safetensors import numpy as safetensors

from veneer.errors import FormatError
from veneer.formats.safetensors import read_header
from veneer.formats.witness import rewritten, sampled, witnesses

COPY = "base_model.model.model.embed_tokens.base_layer.weight"
SAMPLE = "veneer.witness.model.embed_tokens"
A = "base_model.model.model.embed_tokens.lora_embedding_A"


def lean(data: bytes) -> bytes | None:
    file = io.BytesIO(data)
    found = rewritten(file, read_header(file))
    if found is None:
        return None
    size, chunks = found
    made = b"".join(chunks)
    assert len(made) == size
    return made


def table(rows: int) -> np.ndarray:
    return np.arange(rows * 3, dtype=np.float16).reshape(rows, 3)


def test_rows_are_spread_evenly_and_few_are_all_kept():
    assert sampled(5) == (0, 1, 2, 3, 4)
    assert sampled(256) == tuple(range(0, 256, 2))
    assert len(sampled(151_936)) == 128
    assert sampled(151_936)[-1] == 127 * 1187


def test_every_other_tensor_stays_as_it_is():
    whole = {COPY: table(1280), A: np.ones((4, 1280), np.float32), "z": np.zeros(7, np.int32)}
    made = lean(safetensors.save(whole, {"format": "pt"}))
    assert made is not None
    again = safetensors.load(made)
    assert again.keys() == {SAMPLE, A, "z"}
    for name in (A, "z"):
        assert again[name].dtype == whole[name].dtype
        assert np.array_equal(again[name], whole[name])
    assert np.array_equal(again[SAMPLE], table(1280)[::10])
    header = read_header(io.BytesIO(made))
    assert dict(header.metadata) == {"format": "pt", SAMPLE: "1280"}
    assert witnesses(header) == {"model.embed_tokens": 1280}


def test_a_rewritten_file_is_left_alone_and_always_the_same():
    data = safetensors.save({COPY: table(300), A: np.ones((4, 300), np.float32)})
    made = lean(data)
    assert made is not None
    assert lean(made) is None
    assert lean(data) == made


@pytest.mark.parametrize(
    "name",
    [A, "base_model.model.model.layers.0.mlp.up_proj.base_layer.weight", "embed_tokens.weight"],
)
def test_what_is_no_copy_of_an_embedding_is_no_witness(name: str):
    assert lean(safetensors.save({name: table(300)})) is None


@pytest.mark.parametrize(
    ("tensors", "metadata", "rule"),
    [
        ({COPY: np.ones(3, np.float32)}, {}, "SHAPE"),
        ({COPY: table(9), SAMPLE: table(9)}, {SAMPLE: "9"}, "NAME"),
    ],
)
def test_a_strange_copy_is_refused(tensors, metadata, rule):
    with pytest.raises(FormatError) as caught:
        lean(safetensors.save(tensors, metadata))
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("sample", "told", "rule"),
    [
        (table(9), None, "NAME"),
        (table(9), "0", "NAME"),
        (table(9), "nine", "NAME"),
        (table(9), "10", "SHAPE"),
        (np.ones(9, np.float32), "9", "SHAPE"),
    ],
)
def test_a_sample_must_say_of_what(sample, told, rule):
    data = safetensors.save({SAMPLE: sample}, {} if told is None else {SAMPLE: told})
    with pytest.raises(FormatError) as caught:
        witnesses(read_header(io.BytesIO(data)))
    assert caught.value.rule == rule
