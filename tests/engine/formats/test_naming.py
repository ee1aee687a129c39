"""Module paths become GGUF tensors, and bases say where they keep them."""

import pytest

from veneer.errors import UnsupportedArchitecture
from veneer.formats import naming
from veneer.formats.architectures import ARCHITECTURES
from veneer.formats.naming import Place, Stored, place_module, place_tensor, stored


@pytest.mark.parametrize(
    ("module", "tensor", "rows"),
    [
        ("model.layers.0.self_attn.q_proj", "blk.0.attn_q.weight", "rope_q"),
        ("model.layers.7.self_attn.k_proj", "blk.7.attn_k.weight", "rope_k"),
        ("model.layers.29.self_attn.v_proj", "blk.29.attn_v.weight", "same"),
        ("model.layers.100.self_attn.o_proj", "blk.100.attn_output.weight", "same"),
        ("model.layers.1.mlp.gate_proj", "blk.1.ffn_gate.weight", "same"),
        ("model.layers.1.mlp.up_proj", "blk.1.ffn_up.weight", "same"),
        ("model.layers.1.mlp.down_proj", "blk.1.ffn_down.weight", "same"),
        ("model.layers.1.block_sparse_moe.gate", "blk.1.ffn_gate_inp.weight", "same"),
        ("model.embed_tokens", "token_embd.weight", "same"),
        ("lm_head", "output.weight", "same"),
    ],
)
def test_llama_modules(module, tensor, rows):
    assert place_module("llama", module) == Place((tensor,), rows)
    assert place_tensor("llama", tensor) == Place((tensor,), whole=True)


@pytest.mark.parametrize(
    ("architecture", "module", "place"),
    [
        ("qwen2", "model.layers.0.self_attn.q_proj", Place(("blk.0.attn_q.weight",))),
        (
            "gemma3",
            "model.language_model.layers.3.mlp.up_proj",
            Place(("blk.3.ffn_up.weight",)),
        ),
        (
            "llama",
            "model.layers.2.block_sparse_moe.experts.7.w1",
            Place(("blk.2.ffn_gate_exps.weight",), expert=7),
        ),
        (
            "qwen3moe",
            "model.layers.0.mlp.experts.12.down_proj",
            Place(("blk.0.ffn_down_exps.weight",), expert=12),
        ),
        (
            "phi3",
            "model.layers.4.self_attn.qkv_proj",
            Place(("blk.4.attn_q.weight", "blk.4.attn_k.weight", "blk.4.attn_v.weight")),
        ),
        (
            "glm4",
            "model.layers.4.mlp.gate_up_proj",
            Place(("blk.4.ffn_gate.weight", "blk.4.ffn_up.weight")),
        ),
        (
            "internlm2",
            "model.layers.0.attention.wqkv",
            Place(
                ("blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"),
                "grouped_rope",
            ),
        ),
        (
            "deepseek2",
            "model.layers.0.self_attn.kv_b_proj",
            Place(("blk.0.attn_kv_b.weight",), deaf=True),
        ),
        ("gptneox", "embed_out", Place(("output.weight",))),
    ],
)
def test_modules_of_other_architectures(architecture, module, place):
    assert place_module(architecture, module) == place


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
        "model.layers.0.block_sparse_moe.experts.w1",
        "model.layers.0.block_sparse_moe.experts.*.w1",
        "model.layers.0.block_sparse_moe.experts.0.experts.1.w1",
        "model.language_model.layers.0.self_attn.q_proj",
        "x.lm_head",
    ],
)
def test_other_modules_have_no_place(module):
    assert place_module("llama", module) is None


def test_a_model_that_is_converted_with_other_rows_under_the_same_name_has_no_place():
    assert place_module("glm4", "model.language_model.layers.0.self_attn.q_proj") is None


@pytest.mark.parametrize(
    "tensor",
    ["", "blk.0.attn_norm.weight", "output_norm.weight", "blk.0.attn_q.bias", "blk.0.attn_q",
     "blk.00.attn_q.weight", "blk.0.attn_qkv.weight", "blk.0.token_embd.weight",
     "attn_q.weight", "blk.1.blk.0.attn_q.weight"],
)  # fmt: skip
def test_other_tensors_have_no_place(tensor):
    assert place_tensor("llama", tensor) is None


def test_tensors_that_hold_several_blocks():
    packed = Place(("blk.1.attn_qkv.weight",), whole=True)
    assert place_tensor("phi3", "blk.1.attn_qkv.weight") == packed
    head = Place(("output.weight",), deaf=True, whole=True)
    assert place_tensor("deepseek2", "output.weight") == head


@pytest.mark.parametrize(
    ("architecture", "block", "tensors", "where"),
    [
        ("phi2", "attn_k", {"attn_q", "attn_k", "attn_v"}, Stored("attn_k")),
        ("phi2", "attn_k", {"attn_qkv"}, Stored("attn_qkv", 1, 3)),
        ("phi3", "ffn_gate", {"ffn_up"}, Stored("ffn_up", 0, 2)),
        ("phi3", "ffn_up", {"ffn_up"}, Stored("ffn_up", 1, 2)),
        ("phi3", "ffn_up", {"ffn_up", "ffn_gate"}, Stored("ffn_up")),
        ("starcoder2", "ffn_up", {"ffn_up"}, Stored("ffn_up")),
        ("llama", "ffn_gate", {"ffn_up"}, None),
        ("llama", "ffn_up_exps", {"ffn_gate_up_exps"}, Stored("ffn_gate_up_exps", 1, 2)),
        ("llama", "attn_q", set(), None),
    ],
)
def test_where_a_base_keeps_a_block(architecture, block, tensors, where):
    names = {f"blk.3.{tensor}.weight" for tensor in tensors}
    found = stored(architecture, f"blk.3.{block}.weight", names)
    if where is None:
        assert found is None
    else:
        assert found == Stored(f"blk.3.{where.tensor}.weight", where.block, where.of)


def test_where_a_base_keeps_what_is_outside_its_layers():
    assert stored("llama", "output.weight", {"output.weight"}) == Stored("output.weight")
    assert stored("llama", "output.weight", {"token_embd.weight"}) is None


@pytest.mark.parametrize("place", [place_module, place_tensor])
def test_other_architectures_are_named(place):
    with pytest.raises(UnsupportedArchitecture, match=r"'mamba'.*llama"):
        place("mamba", "x")
    assert not naming.supported("mamba")
    assert naming.supported("llama")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_module_of_every_entry_has_a_gguf_name(architecture):
    entry = ARCHITECTURES[architecture]
    paths = [f"{entry.layers}0.{path.replace('*', '0')}" for path in entry.inner]
    for module in (*paths, *entry.outer):
        place = place_module(architecture, module)
        assert place is not None
        for block in place.blocks:
            assert place_tensor(architecture, block) is not None


def test_layer_and_width():
    assert naming.layer_of("blk.12.attn_q.weight") == 12
    assert naming.layer_of("output.weight") is None
    assert naming.width_side("blk.3.ffn_up.weight") == 0
    assert naming.width_side("blk.3.ffn_down.weight") == 1
    assert naming.width_side("blk.3.attn_norm.weight") is None
