"""Files that ended llama.cpp's process when they were loaded or run, and are refused before."""

import io

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
        ("cohere2", {"attention.head_count": 2}, "SHAPE"),
        ("cohere2", {"attention.head_count": 32}, "SHAPE"),
        ("gptneox", {"rope.dimension_count": 33}, "VALUE"),
        ("gptneox", {"rope.dimension_count": 5}, "VALUE"),
        ("stablelm", {"rope.dimension_count": 0}, "VALUE"),
    ],
)
def test_sizes_that_do_not_fit_each_other(name, changes, rule):
    made = model(name)
    keys = {f"{made.architecture}.{suffix}": value for suffix, value in changes.items()}
    assert refused(made.with_metadata(**keys)).rule == rule
