"""What PEFT trains beside a LoRA is kept as its own operation, and refused where it cannot run."""

import io

import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check, placements
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, Incompatible

Q0, K0 = "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj"
QK = {Q0: (16, 16), K0: (8, 16)}
TOKENS = "base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta"


def vectors(rest, lengths, value=1.0):
    return {f"base_model.model.{m}.{rest}": np.full(n, value, np.float32) for m, n in lengths}


def files(more, **config):
    return tiny.peft_files(tiny.factors(QK), more, **config)


DORA = files(vectors("lora_magnitude_vector", [(Q0, 16), (K0, 8)]), use_dora=True)
LORA_BIAS = files(vectors("lora_B.bias", [(Q0, 16)]), lora_bias=True)
BIASES = files(vectors("base_layer.bias", [(Q0, 16)]), bias="lora_only")
SAVED = files(
    {
        "base_model.model.lm_head.weight": np.ones((12, 16), np.float32),
        "base_model.model.model.norm.weight": np.ones(16, np.float32),
    },
    modules_to_save=["lm_head", "norm"],
)
RETRAINED = files({TOKENS: np.ones((2, 16), np.float32)}, trainable_token_indices=[5, 1])
BY_NAME = files(
    {TOKENS: np.ones((2, 16), np.float32)}, trainable_token_indices={"embed_tokens": [5, 1]}
)


def beside(source):
    return [
        (t.module, t.operation, t.in_features, t.out_features, t.scaling, t.tokens)
        for t in read_adapter(source).targets
        if t.operation != "low_rank"
    ]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        (DORA, [(K0, "magnitude", 0, 8, 1.0, ()), (Q0, "magnitude", 0, 16, 1.0, ())]),
        (LORA_BIAS, [(Q0, "add_bias", 0, 16, 2.0, ())]),
        (BIASES, [(Q0, "bias", 0, 16, 1.0, ())]),
        (
            SAVED,
            [("lm_head", "replace", 16, 12, 1.0, ()), ("model.norm", "replace", 0, 16, 1.0, ())],
        ),
        (RETRAINED, [("model.embed_tokens", "rows", 0, 16, 1.0, (5, 1))]),
        (BY_NAME, [("model.embed_tokens", "rows", 0, 16, 1.0, (5, 1))]),
    ],
)
def test_is_kept_with_its_operation(source, kept):
    assert beside(source) == kept


def test_a_name_to_save_is_the_end_of_a_name():
    """PEFT saves every module whose name ends so, and all that is in it."""
    norms = {
        f"base_model.model.model.layers.0.{name}_layernorm.weight": np.ones(16, np.float32)
        for name in ("input", "post_attention")
    }
    kept = beside(files(norms, modules_to_save=["norm"]))
    assert [(module, operation) for module, operation, *_ in kept] == [
        ("model.layers.0.input_layernorm", "replace"),
        ("model.layers.0.post_attention_layernorm", "replace"),
    ]


def test_retrained_tokens_of_both_ends_of_a_tied_base_have_one_place_each():
    head = TOKENS.replace("model.embed_tokens", "lm_head")
    rows = {TOKENS: np.ones((2, 16), np.float32), head: np.ones((2, 16), np.float32)}
    both = files(rows, trainable_token_indices={"embed_tokens": [5, 1], "lm_head": [5, 1]})
    tied = read_base(tiny.base_file(tied=True))
    assert check(read_adapter(both), tied).problems == ()
    placed = [p for p in placements(read_adapter(both), tied) if p.target.operation == "rows"]
    assert sorted((p.target.module, p.role) for p in placed) == [
        ("lm_head", "product"),
        ("model.embed_tokens", "embed"),
    ]
    alone = [p.role for p in placements(read_adapter(RETRAINED), tied) if p.target.tokens]
    assert sorted(alone) == ["embed", "product"]


def test_kinds():
    alora = files({}, alora_invocation_tokens=[3, 4])
    kinds = [read_adapter(source).kind for source in (DORA, alora, LORA_BIAS)]
    assert kinds == ["dora", "alora", "lora"]
    assert read_adapter(alora).invocation_tokens == (3, 4)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (DORA, "k_proj has a DoRA magnitude, which needs the overlay lane."),
        (LORA_BIAS, "q_proj has a trained bias beside its LoRA, which needs the overlay lane."),
        (SAVED, "lm_head is replaced whole, which needs the overlay lane."),
        (RETRAINED, "embed_tokens has retrained tokens, which needs the overlay lane."),
    ],
)
def test_fits_and_is_kept_from_the_stock_lane_in_words(source, reason):
    base = read_base(tiny.base_file())
    adapter = read_adapter(source)
    report = check(adapter, base)
    assert report.ok
    assert {problem.code for problem in report.beyond_stock} == {"NEEDS_OVERLAY"}
    assert reason in report.beyond_stock[0].message
    out = io.BytesIO()
    with pytest.raises(Incompatible, match="overlay lane"):
        write_runtime_form(adapter, source, base, out)
    assert out.getvalue() == b""


def test_a_bias_fits_where_the_base_has_one():
    adapter = read_adapter(BIASES)
    (problem,) = check(adapter, read_base(tiny.base_file())).problems
    assert problem.code == "MISSING_TENSOR"
    assert problem.message.endswith("q_proj has a bias, and in this base it has none.")
    biased = read_base(tiny.base_file(shapes={"blk.0.attn_q.bias": (16,)}))
    (waits,) = check(adapter, biased).beyond_stock
    assert "has a trained bias in place of the base's, which needs" in waits.message


def test_an_activated_lora_is_refused():
    source = files({}, alora_invocation_tokens=[3])
    (problem,) = check(read_adapter(source), read_base(tiny.base_file())).problems
    assert problem.code == "NOT_EXECUTED"
    assert "from its invocation tokens on and not before" in problem.message


def test_a_token_beyond_the_vocabulary():
    source = files({TOKENS: np.ones((1, 16), np.float32)}, trainable_token_indices=[12])
    (problem,) = check(read_adapter(source), read_base(tiny.base_file())).problems
    assert problem.code == "VOCABULARY"
    assert problem.message.endswith("retrained token 12, and this base has only 12.")


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (files(vectors("lora_magnitude_vector", [(Q0, 16), (K0, 8)])), "CONFIG"),
        (files(vectors("lora_B.bias", [(Q0, 16)])), "CONFIG"),
        (files(vectors("bias", [(Q0, 16)])), "CONFIG"),
        (files({f"base_model.model.{Q0}.weight": np.ones((16, 16), np.float32)}), "CONFIG"),
        (files({TOKENS: np.ones((2, 16), np.float32)}), "CONFIG"),
        (files({TOKENS: np.ones((2, 16), np.float32)}, trainable_token_indices=[1]), "CONFIG"),
        (files({TOKENS: np.ones(2, np.float32)}, trainable_token_indices=[1, 2]), "SHAPE"),
        (files(vectors("lora_magnitude_vector", [(Q0, 16)]), use_dora=True), "PAIR"),
        (files(vectors("lora_magnitude_vector", [(Q0, 9), (K0, 8)]), use_dora=True), "SHAPE"),
        (files(vectors("lora_B.bias", [("x", 16)]), lora_bias=True), "SHAPE"),
        (files(vectors("bias", [(Q0, 16)], np.nan), bias="all"), "NONFINITE"),
        (files({f"base_model.model.{Q0}.bias": np.ones(16, np.int8)}, bias="all"), "DTYPE"),
        (files({}, use_dora=True), "PAIR"),
        (files({}, lora_bias=True), "PAIR"),
        (files({}, modules_to_save=["lm_head"]), "PAIR"),
        (files({}, trainable_token_indices=[1]), "PAIR"),
    ],
)
def test_what_config_and_weights_do_not_both_say(source, rule):
    with pytest.raises(FormatError) as caught:
        read_adapter(source)
    assert caught.value.rule == rule


def test_a_zero_bias_changes_nothing():
    source = files(vectors("lora_B.bias", [(Q0, 16)], 0.0), lora_bias=True)
    assert read_adapter(source).warnings == (
        "1 of 3 parts of this adapter are zero and change nothing.",
    )
