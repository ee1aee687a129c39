"""Files that ended llama.cpp's process when they were loaded or run, and are refused before."""

import io
from dataclasses import replace

import pytest

from tests.fuzz.models import Tensor, model, pack
from veneer.adapters.base import read_base
from veneer.errors import FormatError


def refused(made):
    with pytest.raises(FormatError) as caught:
        read_base(io.BytesIO(pack(made)))
    return caught.value


@pytest.mark.parametrize(
    ("name", "tensor", "kind"),
    [
        ("qwen2", "blk.0.attn_k.weight", "I8"),
        ("qwen2", "blk.0.attn_q.bias", "F64"),
        ("gpt2", "blk.0.attn_output.bias", "F16"),
        ("bloom", "blk.1.attn_norm.bias", "Q4_0"),
        ("olmo2", "blk.1.post_attention_norm.weight", "F16"),
        ("arcee", "blk.0.attn_norm.weight", "BF16"),
        ("gemma3", "blk.0.attn_k_norm.weight", "I32"),
    ],
)
def test_types_that_nothing_computes_with(name, tensor, kind):
    made = model(name)
    changed = Tensor(made.tensors[tensor].shape, kind)
    error = refused(made.with_tensors(made.tensors | {tensor: changed}))
    assert error.rule == "DTYPE"
    assert str(error).startswith(f"{tensor} is stored as {kind}")


@pytest.mark.parametrize(
    ("name", "changes", "rule"),
    [
        ("qwen2moe", {"nextn_predict_layers": 5}, "VALUE"),
        ("qwen3", {"nextn_predict_layers": 2}, "VALUE"),
        ("deepseek2", {"attention.head_count_kv": 2}, "VALUE"),
        ("cohere2", {"attention.head_count": 2}, "SHAPE"),
        ("cohere2", {"attention.head_count": 32}, "SHAPE"),
        ("gptneox", {"rope.dimension_count": 33}, "VALUE"),
        ("gptneox", {"rope.dimension_count": 5}, "VALUE"),
        ("stablelm", {"rope.dimension_count": 0}, "VALUE"),
        ("starcoder2", {"rope.dimension_count": 8}, "VALUE"),
    ],
)
def test_sizes_that_do_not_fit_each_other(name, changes, rule):
    made = model(name)
    keys = {f"{made.architecture}.{suffix}": value for suffix, value in changes.items()}
    assert refused(made.with_metadata(**keys)).rule == rule


@pytest.mark.parametrize(
    "key", ["deepseek2.attention.key_length", "deepseek2.rope.dimension_count"]
)
def test_sizes_that_are_not_told(key):
    made = model("deepseek2")
    metadata = {name: value for name, value in made.metadata.items() if name != key}
    assert refused(replace(made, metadata=metadata)).rule == "KEY"


@pytest.mark.parametrize(
    ("name", "tensor"),
    [("phi3", "blk.1.attn_qkv.weight"), ("qwen3", "blk.0.attn_v.weight"),
     ("gemma", "blk.1.attn_output.weight")],
)  # fmt: skip
def test_projections_that_are_nowhere(name, tensor):
    made = model(name)
    tensors = {kept: value for kept, value in made.tensors.items() if kept != tensor}
    assert refused(made.with_tensors(tensors)).rule == "NAME"


def test_a_tokenizer_of_another_kind_of_model():
    made = model("cohere2").with_metadata(**{"tokenizer.ggml.model": "bert"})
    assert refused(made).rule == "VALUE"
