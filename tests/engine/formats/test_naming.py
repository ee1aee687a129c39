"""Module paths become GGUF tensors, and rows the order of the converter."""

import numpy as np
import pytest

from veneer.errors import UnsupportedArchitecture
from veneer.formats import naming
from veneer.formats.naming import Heads, Place, place_module, place_tensor, transform_rows


@pytest.mark.parametrize(
    ("module", "tensor", "rows"),
    [
        ("model.layers.0.self_attn.q_proj", "blk.0.attn_q.weight", "rope_q"),
        ("model.layers.7.self_attn.k_proj", "blk.7.attn_k.weight", "rope_k"),
        ("model.layers.29.self_attn.v_proj", "blk.29.attn_v.weight", "none"),
        ("model.layers.100.self_attn.o_proj", "blk.100.attn_output.weight", "none"),
        ("model.layers.1.mlp.gate_proj", "blk.1.ffn_gate.weight", "none"),
        ("model.layers.1.mlp.up_proj", "blk.1.ffn_up.weight", "none"),
        ("model.layers.1.mlp.down_proj", "blk.1.ffn_down.weight", "none"),
        ("model.embed_tokens", "token_embd.weight", "none"),
        ("lm_head", "output.weight", "none"),
    ],
)
def test_llama_modules(module, tensor, rows):
    assert place_module("llama", module) == Place(tensor, rows)
    assert place_tensor("llama", tensor) == Place(tensor, "none")


@pytest.mark.parametrize(
    "module",
    [
        "",
        "model.norm",
        "model.layers.0",
        "model.layers.0.input_layernorm",
        "model.layers.00.self_attn.q_proj",
        "model.layers.-1.self_attn.q_proj",
        "model.layers.٣.self_attn.q_proj",
        "model.layers.99999.self_attn.q_proj",
        "layers.0.self_attn.q_proj",
        "transformer.h.0.attn.c_attn",
        "model.layers.0.attention.wq",
        "model.layers.0.block_sparse_moe.experts.0.w1",
        "x.lm_head",
    ],
)
def test_other_modules_have_no_place(module):
    assert place_module("llama", module) is None


@pytest.mark.parametrize(
    "tensor",
    ["", "blk.0.attn_norm.weight", "output_norm.weight", "blk.0.attn_q.bias", "blk.0.attn_q",
     "blk.00.attn_q.weight", "blk.0.ffn_gate_exps.weight", "blk.0.token_embd.weight",
     "attn_q.weight", "blk.1.blk.0.attn_q.weight"],
)  # fmt: skip
def test_other_tensors_have_no_place(tensor):
    assert place_tensor("llama", tensor) is None


@pytest.mark.parametrize("place", [place_module, place_tensor])
def test_other_architectures_are_named(place):
    with pytest.raises(UnsupportedArchitecture, match=r"'falcon'.*llama"):
        place("falcon", "x")
    assert not naming.supported("falcon")
    assert naming.supported("llama")


def permuted(matrix, heads):
    """The converter's order, written as loops: row i of half h of a head goes to 2 i + h."""
    result = np.empty_like(matrix)
    size = len(matrix) // heads
    for head in range(heads):
        for half in range(2):
            for i in range(size // 2):
                result[head * size + 2 * i + half] = matrix[head * size + half * size // 2 + i]
    return result


@pytest.mark.parametrize(("rows", "heads"), [("rope_q", 4), ("rope_k", 2)])
def test_rotated_rows(rows, heads):
    matrix = np.arange(heads * 8 * 3, dtype=np.float32).reshape(heads * 8, 3)
    result = transform_rows(matrix, rows, Heads(queries=4, keys=2))
    assert np.array_equal(result, permuted(matrix, heads))
    assert result.flags.c_contiguous


def test_first_rows_by_hand():
    column = np.arange(8).reshape(8, 1)
    moved = transform_rows(column, "rope_q", Heads(queries=2, keys=1))
    assert moved.ravel().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_other_rows_stay():
    matrix = np.arange(6).reshape(2, 3)
    assert transform_rows(matrix, "none", Heads(1, 1)) is matrix


def test_layer_and_width():
    assert naming.layer_of("blk.12.attn_q.weight") == 12
    assert naming.layer_of("output.weight") is None
    assert naming.width_side("blk.3.ffn_up.weight") == 0
    assert naming.width_side("blk.3.ffn_down.weight") == 1
    assert naming.width_side("blk.3.attn_norm.weight") is None
