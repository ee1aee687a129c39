"""What Hypothesis does to a tiny model: a few edits that leave most of it as it was.

Keys and tensors are taken from all models, so that one gets what belongs to another.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.models import NAMES, TYPE_IDS, Model, Tensor, bpe, model

ALL = [model(name) for name in NAMES]
ARCHITECTURES = sorted({one.architecture for one in ALL})
TENSORS = sorted(
    {name for one in ALL for name in one.tensors}
    | {
        "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
        "blk.0.attn_q.bias", "blk.0.attn_output.bias", "blk.0.ffn_gate.bias",
        "blk.0.attn_q_norm.weight", "blk.0.attn_rot_embd", "blk.0.rope_freqs.weight",
        "blk.1.ffn_gate_up_exps.weight", "blk.0.attn_q.scale", "blk.0.attn_q.weight.scale",
        "blk.0.attn_sinks.weight", "blk.0.exp_probs_b.bias", "token_types.weight",
        "cls.weight", "output.bias", "blk.2.attn_norm.weight", "blk.0.attn_v.lora_a",
    }
)  # fmt: skip
SUFFIXES = sorted(
    {
        key.removeprefix(f"{one.architecture}.")
        for one in ALL
        for key in one.metadata
        if key.startswith(f"{one.architecture}.")
    }
    | {
        "attention.causal", "attention.max_alibi_bias", "attention.clamp_kqv", "pooling_type",
        "attention.sliding_window_pattern", "attention.shared_kv_layers", "attention.scale",
        "attention.group_norm_epsilon", "attention.group_norm_groups", "attention.sinks",
        "attention.temperature_length", "attention.temperature_scale", "attention.output_scale",
        "attn_logit_softcapping", "final_logit_softcapping", "decoder_start_token_id",
        "decoder_block_count", "dense_2_feat_in", "embedding_length_out", "embedding_scale",
        "expert_gating_func", "expert_group_count", "expert_group_used_count",
        "expert_weights_norm", "expert_weights_scale", "interleave_moe_layer_step",
        "leading_dense_block_count", "logit_scale", "moe_every_n_layers", "nextn_predict_layers",
        "residual_scale", "rope.dimension_sections", "rope.scaling.alpha",
        "rope.scaling.attn_factor",
        "rope.scaling.factor", "rope.scaling.finetuned", "rope.scaling.original_context_length",
        "rope.scaling.type", "rope.scaling.yarn_ext_factor", "rope.scaling.yarn_log_multiplier",
        "rope.scale_linear", "ssm.conv_kernel", "ssm.inner_size", "ssm.state_size",
        "ssm.group_count", "swin_norm", "tensor_data_layout", "use_parallel_residual",
        "wkv.head_size",
    }
)  # fmt: skip
TOKENIZER = (
    "model", "pre", "tokens", "scores", "token_type", "merges", "bos_token_id", "eos_token_id",
    "eot_token_id", "eom_token_id", "unknown_token_id", "padding_token_id", "mask_token_id",
    "seperator_token_id", "add_bos_token", "add_eos_token", "add_space_prefix", "add_sep_token",
    "remove_extra_whitespaces", "precompiled_charsmap", "token_type_count", "fim_pre_token_id",
    "prefix_token_id", "eog_token_ids", "suppress_tokens",
)  # fmt: skip
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 96, 128, 255, 256, 320, 321, 4096, 65536,
           (1 << 31) - 1, (1 << 32) - 1)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-38, 1e38, -1e38, 0.5, 1e4, float("nan"), float("inf"))
WORDS = ("", "none", "linear", "yarn", "longrope", "su", "llama", "gpt2", "bert", "t5", "rwkv",
         "no_vocab", "default", "llama-bpe", "qwen2", "deepseek-llm", "x" * 300)  # fmt: skip


def values() -> st.SearchStrategy[Any]:
    """Any value that GGUF can hold, mostly of the usual types."""
    numbers = st.sampled_from(NUMBERS)
    return st.one_of(
        numbers,
        st.sampled_from(FLOATS).map(float),
        st.sampled_from(WORDS),
        st.booleans(),
        numbers.map(np.uint64),
        numbers.map(lambda n: np.int32(n - 2 if n < 1 << 31 else -1)),
        st.lists(numbers, max_size=4).map(lambda some: np.array(some, np.uint32)),
        st.lists(st.sampled_from(FLOATS), max_size=4).map(lambda some: np.array(some, np.float32)),
        st.lists(st.booleans(), max_size=4).map(lambda some: np.array(some, np.bool_)),
        st.lists(st.sampled_from(WORDS), max_size=3),
    )


@st.composite
def models(draw: Any) -> Model:
    """A tiny model after one to four edits."""
    made = model(draw(st.sampled_from(NAMES)))
    if draw(st.integers(0, 3)) == 0:
        made = bpe(made)
    for _ in range(draw(st.integers(1, 4))):
        made = draw(st.sampled_from(EDITS))(draw, made)
    return made


def _key(draw: Any, made: Model) -> Model:
    """Set, replace or scale a value."""
    keys = [key for key in made.metadata if not key.startswith("tokenizer.ggml.to")]
    fresh = st.one_of(
        st.sampled_from(SUFFIXES).map(lambda s: f"{made.architecture}.{s}"),
        st.sampled_from(TOKENIZER[5:]).map(lambda s: f"tokenizer.ggml.{s}"),
    )
    key = draw(st.one_of(st.sampled_from(keys), fresh)) if keys else draw(fresh)
    old = made.metadata.get(key)
    value = draw(values())
    if type(old) is int and draw(st.booleans()):
        value = draw(st.sampled_from([n for n in NUMBERS if n != old]))
    elif isinstance(old, float) and draw(st.booleans()):
        value = draw(st.sampled_from(FLOATS))
    return made.with_metadata(**{key: value})


def _no_key(draw: Any, made: Model) -> Model:
    gone = draw(st.sampled_from(sorted(made.metadata)))
    return replace(made, metadata={k: v for k, v in made.metadata.items() if k != gone})


def _array(draw: Any, made: Model) -> Model:
    """Make a list of the tokenizer shorter, longer, or put an odd entry into it."""
    listed = sorted(k for k, v in made.metadata.items() if isinstance(v, list | np.ndarray))
    if not listed:
        return made
    key = draw(st.sampled_from(listed))
    old = made.metadata[key]
    if isinstance(old, np.ndarray):
        new = old.copy()
        if new.size:
            odd = draw(st.sampled_from((-1, 0, 1, 2, 3, 4, 5, 6, 7, 100)))
            new[draw(st.integers(0, new.size - 1))] = abs(odd) if new.dtype.kind in "ub" else odd
        return made.with_metadata(**{key: new[: draw(st.sampled_from((new.size, 0, 1, 5)))]})
    words = list(old)
    if words:
        odd = draw(st.sampled_from(("", " ", "a b c", "\x00", "▁", "<|x|>", "z" * 2000, "ÿ")))
        words[draw(st.integers(0, len(words) - 1))] = odd
    return made.with_metadata(**{key: words[: draw(st.sampled_from((len(words), 0, 1, 5)))]})


def _architecture(draw: Any, made: Model) -> Model:
    """Call it another architecture, its keys with it or not."""
    old, new = made.architecture, draw(st.sampled_from(ARCHITECTURES))
    metadata = made.metadata
    if draw(st.booleans()):
        metadata = {
            f"{new}{k.removeprefix(old)}" if k.startswith(f"{old}.") else k: v
            for k, v in metadata.items()
        }
    return replace(made, metadata=metadata | {"general.architecture": new})


def _shape(draw: Any, made: Model) -> Model:
    if not made.tensors:
        return made
    name = draw(st.sampled_from(sorted(made.tensors)))
    old = made.tensors[name]
    shape = list(old.shape)
    match draw(st.sampled_from(("side", "swap", "more", "less"))):
        case "side":
            at = draw(st.integers(0, len(shape) - 1))
            sizes = (1, 2, 16, 31, 32, 64, 65, 96, 128, 192, shape[at] * 2, shape[at] // 2 or 1)
            shape[at] = draw(st.sampled_from(sizes))
        case "swap":
            shape.reverse()
        case "more" if len(shape) < 4:
            shape.append(draw(st.sampled_from((1, 2, 4))))
        case _:
            shape = shape[:-1] or [1]
    return made.with_tensors(made.tensors | {name: replace(old, shape=tuple(shape))})


def _type(draw: Any, made: Model) -> Model:
    """Store a tensor as another type; one without whole blocks gets a width that has them."""
    if not made.tensors:
        return made
    name = draw(st.sampled_from(sorted(made.tensors)))
    changed = Tensor(made.tensors[name].shape, draw(st.sampled_from(sorted(TYPE_IDS))))
    return made.with_tensors(made.tensors | {name: changed})


def _tensor(draw: Any, made: Model) -> Model:
    """Take a tensor away, give it another name, or add one of another model."""
    names = sorted(made.tensors) or ["none"]
    name = draw(st.sampled_from(names))
    tensors = dict(made.tensors)
    match draw(st.sampled_from(("remove", "rename", "add"))):
        case "remove":
            tensors.pop(name, None)
        case "rename":
            tensors[draw(st.sampled_from(TENSORS))] = tensors.pop(name, Tensor((1,)))
        case _:
            other = draw(st.sampled_from(ALL))
            added = draw(st.sampled_from(TENSORS))
            sizes = (1, 2, 4, 8, 16, 32, 64, 96, 128)
            shape = tuple(draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=3)))
            tensors[added] = other.tensors.get(added) or Tensor(shape)
    return made.with_tensors(tensors)


def _layers(draw: Any, made: Model) -> Model:
    """Say another number of layers, heads or width than the tensors have."""
    suffix = draw(
        st.sampled_from(
            ("block_count", "attention.head_count", "attention.head_count_kv", "embedding_length")
        )
    )
    value = draw(st.sampled_from((0, 1, 2, 3, 4, 5, 8, 16, 32, 63, 64, 65, 128, 256)))
    return made.with_metadata(**{f"{made.architecture}.{suffix}": value})


EDITS = (_key, _key, _key, _no_key, _array, _architecture, _shape, _shape, _type, _tensor, _tensor,
         _layers)  # fmt: skip
