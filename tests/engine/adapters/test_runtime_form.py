"""The file that llama.cpp gets says exactly what the adapter says."""

import io
import json
import math
import struct
import tracemalloc

import gguf
import msgspec
import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, Incompatible
from veneer.formats.gguf_writer import NewTensor, write

Q0, K0 = "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj"
HEADS = {"q_proj": tiny.HEADS, "k_proj": tiny.HEADS_KV}


@pytest.fixture(scope="module")
def base():
    return read_base(tiny.base_file())


def form(source, base):
    out = io.BytesIO()
    write_runtime_form(read_adapter(source), source, base, out)
    return out.getvalue()


@pytest.fixture
def read_form(tmp_path, base):
    """The metadata and tensors of a source's form, through gguf-py."""

    def read(source):
        path = tmp_path / "form.gguf"
        path.write_bytes(form(source, base))
        reader = gguf.GGUFReader(path)
        fields = {
            name: field.contents()
            for name, field in reader.fields.items()
            if not name.startswith("GGUF.")
        }
        assert all(t.tensor_type == gguf.GGMLQuantizationType.F32 for t in reader.tensors)
        return fields, {tensor.name: np.array(tensor.data) for tensor in reader.tensors}

    return read


def permuted(matrix, heads):
    """The converter's row order, as loops."""
    result = np.empty_like(matrix)
    size = len(matrix) // heads
    for head in range(heads):
        for half in range(2):
            for i in range(size // 2):
                result[head * size + 2 * i + half] = matrix[head * size + half * size // 2 + i]
    return result


def expected_delta(module, a, b, scaling):
    """The change of the GGUF weight, computed from the definition in double precision."""
    delta = scaling * (b.astype(np.float64) @ a.astype(np.float64))
    heads = HEADS.get(module.rpartition(".")[2])
    return permuted(delta, heads) if heads else delta


def assert_same_function(made, scalings, tensors):
    assert len(tensors) == 2 * len(made)
    for module, (a, b) in made.items():
        name = tiny.gguf_name(module)
        found = tensors[f"{name}.lora_b"].astype(np.float64) @ tensors[f"{name}.lora_a"]
        wanted = expected_delta(module, a, b, scalings[module])
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_metadata(read_form):
    fields, _ = read_form(tiny.peft_files(tiny.factors()))
    assert fields == {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 0.0,
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_every_target_keeps_its_function(read_form, dtype):
    made = tiny.factors(dtype=dtype)
    _, tensors = read_form(tiny.peft_files(made))
    assert_same_function(made, dict.fromkeys(made, 2.0), tensors)


def test_ranks_alphas_and_rslora_are_folded(read_form):
    ranks = dict.fromkeys(tiny.MODULES, 4) | {Q0: 2, K0: 3}
    made = tiny.factors(rank=ranks)
    files = tiny.peft_files(
        made, use_rslora=True, rank_pattern={Q0: 2, K0: 3}, alpha_pattern={"down_proj": -1}
    )
    scalings = {module: 8 / math.sqrt(ranks[module]) for module in made}
    scalings |= {module: -1 / 2 for module in made if module.endswith("down_proj")}
    _, tensors = read_form(files)
    assert_same_function(made, scalings, tensors)


def test_the_fold_by_hand(read_form):
    a = np.arange(16, dtype=np.float32).reshape(1, 16)
    b = np.arange(16, dtype=np.float32).reshape(16, 1)
    _, tensors = read_form(tiny.peft_files({Q0: (a, b)}, r=1, lora_alpha=0.5))
    # Four heads of four rows: within each, rows 0 1 2 3 become 0 2 1 3; then all are halved.
    halved = [0, 1, 0.5, 1.5, 2, 3, 2.5, 3.5, 4, 5, 4.5, 5.5, 6, 7, 6.5, 7.5]
    assert tensors["blk.0.attn_q.weight.lora_b"].ravel().tolist() == halved
    assert tensors["blk.0.attn_q.weight.lora_a"].ravel().tolist() == list(range(16))


def test_embedding_and_head(read_form):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((4, 12)), rng.standard_normal((16, 4))
    prefix = "base_model.model.model.embed_tokens.lora_embedding_"
    more = {f"{prefix}A": a.astype(np.float32), f"{prefix}B": b.astype(np.float32)}
    head = {"lm_head": (np.ones((4, 16), np.float32), np.ones((12, 4), np.float32))}
    _, tensors = read_form(tiny.peft_files(head, more))
    flipped, right = (tensors[f"token_embd.weight.lora_{side}"] for side in "ab")
    # llama.cpp computes B · A[token], so that A has a row for each token.
    np.testing.assert_allclose(right @ flipped[7], 2.0 * b @ a[:, 7], rtol=1e-5)
    assert tensors["output.weight.lora_b"].tolist() == [[2.0] * 4] * 12


def test_gguf_adapters_take_the_same_form(base):
    made = tiny.factors()
    already = {}
    for module, (a, b) in made.items():
        heads = HEADS.get(module.rpartition(".")[2])
        already[tiny.gguf_name(module)] = (a, permuted(b, heads) if heads else b)
    assert form(tiny.lora_file(already), base) == form(tiny.peft_files(made), base)


def test_gguf_alpha_zero_is_the_factors_as_they_are(read_form):
    pair = np.full((4, 16), 3, np.float16), np.full((16, 4), 5, np.float16)
    source = tiny.lora_file({"blk.0.attn_q.weight": pair}, adapter__lora__alpha=0.0)
    _, tensors = read_form(source)
    assert tensors["blk.0.attn_q.weight.lora_b"].tolist() == [[5.0] * 4] * 16


def test_gguf_embedding_takes_the_same_form(read_form):
    rng = np.random.default_rng(4)
    flipped = rng.standard_normal((12, 4)).astype(np.float32)
    b = rng.standard_normal((16, 4)).astype(np.float32)
    _, tensors = read_form(tiny.lora_file({"token_embd.weight": (flipped, b)}))
    assert np.array_equal(tensors["token_embd.weight.lora_a"], flipped)
    assert np.array_equal(tensors["token_embd.weight.lora_b"], 2 * b)


def test_a_form_is_an_adapter_and_its_own_form(base):
    once = form(tiny.peft_files(tiny.factors()), base)
    source = tiny.Files({"form.gguf": once})
    assert check(read_adapter(source), base).ok
    assert form(source, base) == once


def backwards(raw):
    """The same safetensors file with its tensors, and their descriptions, in reverse order."""
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    turned, parts, at = {}, [], 0
    for name, entry in sorted(header.items(), key=lambda item: -item[1]["data_offsets"][0]):
        start, stop = entry["data_offsets"]
        turned[name] = entry | {"data_offsets": [at, at + stop - start]}
        parts.append(data[start:stop])
        at += stop - start
    text = json.dumps(turned).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def test_bytes_are_deterministic_whatever_the_order_of_the_file(base):
    files = tiny.peft_files(tiny.factors())
    weights = files["adapter_model.safetensors"]
    turned = tiny.Files(files | {"adapter_model.safetensors": backwards(weights)})
    assert turned["adapter_model.safetensors"] != weights
    assert form(turned, base) == form(files, base)


def test_an_incompatible_adapter_is_not_written(base):
    source = tiny.peft_files(tiny.factors({Q0: (16, 32)}))
    with pytest.raises(Incompatible, match="32 x 16"):
        form(source, base)


def test_another_file_than_the_one_that_was_read(base):
    adapter = read_adapter(tiny.peft_files(tiny.factors()))
    smaller = tiny.peft_files(tiny.factors(rank=2), r=2)
    for other in (smaller, tiny.peft_files(tiny.factors({Q0: (16, 16)}))):
        with pytest.raises(FormatError) as caught:
            write_runtime_form(adapter, other, base, io.BytesIO())
        assert caught.value.rule == "SHAPE"


def test_overflow_in_the_fold_is_refused(base):
    made = {Q0: (np.ones((4, 16), np.float32), np.full((16, 4), 1e36, np.float32))}
    with pytest.raises(FormatError, match="overflows") as caught:
        form(tiny.peft_files(made, lora_alpha=1e5), base)
    assert caught.value.rule == "NONFINITE"


def big_pair():
    """A base and a GGUF adapter with large factors, of which nothing is in memory yet."""
    width, rank, names = 2048, 256, [f"blk.{i}.attn_q.weight" for i in range(4)]
    shapes = [(f"{name}.lora_a", (rank, width)) for name in names]
    shapes += [(f"{name}.lora_b", (width, rank)) for name in names]
    new = [NewTensor(n, s, "F32", lambda s=s: np.ones(s, np.float32)) for n, s in shapes]
    tensors = dict.fromkeys(names, (width, width))
    small = read_base(tiny.base_file())
    return msgspec.structs.replace(small, n_layers=4, tensors=tensors), new


class OnDisk:
    def __init__(self, path):
        self.path = path

    def names(self):
        return (self.path.name,)

    def open(self, name):
        return self.path.with_name(name).open("rb")


def test_memory_is_at_most_two_copies_of_the_largest_factor(tmp_path):
    base, new = big_pair()
    with (tmp_path / "in.gguf").open("wb") as file:
        write(file, tiny.lora_metadata(), new)
    source = OnDisk(tmp_path / "in.gguf")
    adapter = read_adapter(source)
    assert check(adapter, base).ok
    with (tmp_path / "out.gguf").open("wb") as out:
        tracemalloc.start()
        write_runtime_form(adapter, source, base, out)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2 * 2048 * 256 * 4 + (1 << 20)
