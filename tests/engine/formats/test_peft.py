"""PEFT's config and tensor names: what is executed, and what is refused with its reason."""

import io
import json
import math

import pytest

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats.peft import Strength, is_targeted, read_config, strengths
from veneer.formats.peft_keys import BesideKey, FactorKeys, sort_keys

Q0 = "model.layers.0.self_attn.q_proj"
K0 = "model.layers.0.self_attn.k_proj"

# As PEFT 0.21 saves it, with every field that it knows.
FULL = {
    "task_type": "CAUSAL_LM",
    "peft_type": "LORA",
    "auto_mapping": None,
    "peft_version": "0.21.2",
    "base_model_name_or_path": "org/model",
    "revision": "main",
    "inference_mode": True,
    "r": 8,
    "target_modules": ["q_proj", "k_proj"],
    "exclude_modules": None,
    "lora_alpha": 16,
    "lora_dropout": 0.05,
    "fan_in_fan_out": False,
    "bias": "none",
    "use_rslora": False,
    "modules_to_save": None,
    "init_lora_weights": True,
    "layers_to_transform": None,
    "layers_pattern": None,
    "rank_pattern": {},
    "alpha_pattern": {},
    "megatron_config": None,
    "megatron_core": "megatron.core",
    "trainable_token_indices": None,
    "loftq_config": {},
    "eva_config": None,
    "corda_config": None,
    "lora_ga_config": None,
    "use_dora": False,
    "velora_config": None,
    "alora_invocation_tokens": None,
    "use_qalora": False,
    "qalora_group_size": 16,
    "monteclora_config": None,
    "layer_replication": None,
    "lora_bias": False,
    "target_parameters": None,
    "use_bdlora": None,
    "arrow_config": None,
    "kasa_config": None,
    "ensure_weight_tying": False,
}


def read(raw):
    return read_config(io.BytesIO(raw if isinstance(raw, bytes) else json.dumps(raw).encode()))


def config(**fields):
    return read(FULL | fields)


def test_reads_a_full_config():
    read_back = config()
    assert (read_back.r, read_back.lora_alpha, read_back.use_rslora) == (8, 16.0, False)
    assert (read_back.base_model, read_back.revision) == ("org/model", "main")
    assert read_back.target_modules == ("q_proj", "k_proj")


def test_reads_a_small_config():
    small = read({"peft_type": "LORA", "r": 4, "lora_alpha": 2.5})
    assert (small.r, small.lora_alpha, small.base_model) == (4, 2.5, None)
    assert small.target_modules is None


def test_plain_and_rank_stabilised_scaling():
    assert strengths(config(), (Q0,)) == {Q0: Strength(8, 2.0)}
    assert strengths(config(use_rslora=True), (Q0,)) == {Q0: Strength(8, 16 / math.sqrt(8))}
    assert strengths(config(lora_alpha=2.5), (Q0,)) == {Q0: Strength(8, 2.5 / 8)}


def test_first_matching_pattern_wins_for_each_of_rank_and_alpha():
    patterned = config(
        rank_pattern={"k_proj": 4, r".*_proj": 32, Q0: 64},
        alpha_pattern={r"layers\.0\..*": 3, "k_proj": 5},
    )
    assert strengths(patterned, (Q0, K0)) == {Q0: Strength(32, 3 / 32), K0: Strength(4, 3 / 4)}


def test_patterns_combine_with_rslora():
    patterned = config(use_rslora=True, rank_pattern={"q_proj": 16}, alpha_pattern={"q_proj": 2})
    assert strengths(patterned, (Q0, K0))[Q0] == Strength(16, 2 / 4)


@pytest.mark.parametrize("init", [True, False, "gaussian", "orthogonal", "eva"])
def test_starts_that_leave_the_base_alone(init):
    assert config(init_lora_weights=init).r == 8


def test_both_orders_of_the_base_matrix_are_the_same_adapter():
    assert strengths(config(fan_in_fan_out=True), (Q0,)) == strengths(config(), (Q0,))


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("init_lora_weights", "pissa", "init_lora_weights"),
        ("init_lora_weights", "pissa_niter_16", "init_lora_weights"),
        ("init_lora_weights", "olora", "init_lora_weights"),
        ("init_lora_weights", "corda", "init_lora_weights"),
        ("init_lora_weights", "loftq", "init_lora_weights"),
        ("init_lora_weights", "lora_ga", "init_lora_weights"),
        ("init_lora_weights", "mica", "init_lora_weights"),
        ("layer_replication", [[0, 4], [2, 6]], "repeats layers"),
        ("invocation_string", "<x>", "aLoRA"),
        ("megatron_config", {"a": 1}, "Megatron"),
        ("use_qalora", True, "QALoRA"),
        ("use_bdlora", {"nblocks": 2}, "block-diagonal"),
        ("velora_config", {"num_groups": 2}, "VeLoRA"),
        ("monteclora_config", {"num_samples": 2}, "MonteCLoRA"),
        ("arrow_config", {"top_k": 1}, "Arrow"),
        ("kasa_config", {"beta": 1}, "KaSA"),
        ("ensure_weight_tying", True, "ties"),
        ("task_type", "SEQ_CLS", "generate text"),
        ("some_future_field", True, "some_future_field"),
        ("some_future_field", {"a": 0}, "some_future_field"),
    ],
)
def test_fields_that_are_not_executed_are_refused(field, value, reason):
    with pytest.raises(UnsupportedAdapter, match=reason):
        config(**{field: value})


@pytest.mark.parametrize("value", [None, False, [], {}, ""])
def test_unknown_fields_may_be_off(value):
    assert config(some_future_field=value).r == 8


@pytest.mark.parametrize("kind", ["IA3", "ADALORA", "LOHA", "PROMPT_TUNING"])
def test_other_kinds_are_refused(kind):
    with pytest.raises(UnsupportedAdapter, match=kind):
        config(peft_type=kind)


def test_mlx_is_named():
    with pytest.raises(UnsupportedAdapter, match="MLX"):
        read({"lora_parameters": {"rank": 8}, "num_layers": 4})


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "JSON"),
        (b"[]", "JSON"),
        (b'{"r": 1, "r": 2}', "JSON"),
        (b'{"r": NaN}', "JSON"),
        (b'{"revision": "\\udc00"}', "JSON"),
        (b" " * ((1 << 20) + 1), "SIZE"),
        (FULL | {"peft_type": None}, "CONFIG"),
        (FULL | {"r": None}, "CONFIG"),
        (FULL | {"r": 0}, "CONFIG"),
        (FULL | {"r": 8.0}, "CONFIG"),
        (FULL | {"r": True}, "CONFIG"),
        (FULL | {"r": 10**9}, "CONFIG"),
        (FULL | {"lora_alpha": None}, "CONFIG"),
        (FULL | {"lora_alpha": "16"}, "CONFIG"),
        (FULL | {"lora_alpha": 1e30}, "CONFIG"),
        (FULL | {"lora_alpha": True}, "CONFIG"),
        (json.dumps(FULL).replace("0.05", "1e999").encode(), None),
        (json.dumps(FULL).replace('"lora_alpha": 16', '"lora_alpha": 1e999').encode(), "CONFIG"),
        (FULL | {"use_rslora": "yes"}, "CONFIG"),
        (FULL | {"rank_pattern": [1]}, "CONFIG"),
        (FULL | {"rank_pattern": {"q": 0}}, "CONFIG"),
        (FULL | {"alpha_pattern": {"q": "1"}}, "CONFIG"),
        (FULL | {"revision": 1}, "CONFIG"),
        (FULL | {"target_modules": [1]}, "CONFIG"),
        (FULL | {"target_modules": 1}, "CONFIG"),
        (FULL | {"bias": "some"}, "CONFIG"),
        (FULL | {"use_dora": 1}, "CONFIG"),
        (FULL | {"modules_to_save": [1]}, "CONFIG"),
        (FULL | {"trainable_token_indices": [-1]}, "CONFIG"),
        (FULL | {"trainable_token_indices": {"lm_head": "1"}}, "CONFIG"),
        (FULL | {"alora_invocation_tokens": [True]}, "CONFIG"),
    ],
)
def test_broken_configs(raw, rule):
    if rule is None:
        assert read(raw).r == 8
        return
    with pytest.raises(FormatError) as caught:
        read(raw)
    assert caught.value.rule == rule
    assert len(str(caught.value)) < 300


def test_too_many_patterns_are_refused_before_they_are_compiled():
    many = config(rank_pattern={f"a{i}.*": 1 for i in range(300)})
    with pytest.raises(UnsupportedAdapter, match="too many"):
        strengths(many, (Q0,))


def test_too_much_matching_is_refused():
    slow = config(rank_pattern={f"(a{{60}}){{30}}{i}": 1 for i in range(10)})
    with pytest.raises(UnsupportedAdapter, match="too many"):
        strengths(slow, tuple(f"m{i}" for i in range(1000)))


def test_targets():
    assert is_targeted(config(), Q0)
    assert is_targeted(config(), "q_proj")
    assert not is_targeted(config(), "model.layers.0.self_attn.v_proj")
    assert not is_targeted(config(), "model.layers.0.self_attn.xq_proj")
    assert is_targeted(config(target_modules=".*"), "anything")


def key(module, rest):
    return f"base_model.model.{module}.{rest}"


@pytest.mark.parametrize("name", ["", ".default", ".my-name"])
def test_pairs_layers(name):
    a, b = key(Q0, f"lora_A{name}.weight"), key(Q0, f"lora_B{name}.weight")
    assert sort_keys([b, a]).pairs == (FactorKeys(Q0, a, b, embedding=False),)


@pytest.mark.parametrize("name", ["", ".default"])
def test_pairs_embeddings(name):
    module = "model.embed_tokens"
    a, b = key(module, f"lora_embedding_A{name}"), key(module, f"lora_embedding_B{name}")
    assert sort_keys([a, b]).pairs == (FactorKeys(module, a, b, embedding=True),)


def test_pairs_are_ordered_by_module():
    names = [key(m, f"lora_{s}.weight") for m in (Q0, K0) for s in "AB"]
    assert [keys.module for keys in sort_keys(names).pairs] == [K0, Q0]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ([], "PAIR"),
        ([key(Q0, "lora_A.weight")], "PAIR"),
        ([key(Q0, "lora_B.weight")], "PAIR"),
        ([key(Q0, "lora_A.weight"), key(Q0, "lora_embedding_B")], "PAIR"),
        ([key(Q0, "lora_A.weight"), key(Q0, "lora_A.default.weight")], "NAME"),
        ([f"{Q0}.lora_A.weight"], "NAME"),
        ([f"transformer.{Q0}.lora_A.weight"], "NAME"),
    ],
)
def test_broken_names(names, rule):
    with pytest.raises(FormatError) as caught:
        sort_keys(names)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("module", "rest", "operation"),
    [
        (Q0, "lora_magnitude_vector", "magnitude"),
        (Q0, "lora_magnitude_vector.default.weight", "magnitude"),
        (Q0, "lora_B.bias", "add_bias"),
        (Q0, "lora_B.default.bias", "add_bias"),
        (Q0, "bias", "bias"),
        (Q0, "base_layer.bias", "bias"),
        ("lm_head", "weight", "replace"),
        ("lm_head", "modules_to_save.weight", "replace"),
        ("lm_head", "modules_to_save.default.weight", "replace"),
        ("model.layers.0.input_layernorm", "weight", "replace"),
        ("model.embed_tokens", "token_adapter.trainable_tokens_delta", "rows"),
        ("lm_head", "token_adapter.trainable_tokens_delta.default", "rows"),
    ],
)
def test_what_is_trained_beside(module, rest, operation):
    pair = [key(K0, "lora_A.weight"), key(K0, "lora_B.weight")]
    (beside,) = sort_keys([*pair, key(module, rest)]).beside
    assert beside == BesideKey(module, operation, key(module, rest))


def test_one_tensor_for_each_thing_trained_beside():
    names = [key(K0, rest) for rest in ("lora_A.weight", "lora_B.weight", "bias")]
    with pytest.raises(FormatError, match="two tensors bias"):
        sort_keys([*names, key(K0, "base_layer.bias")])


def test_a_model_is_no_adapter():
    with pytest.raises(FormatError, match="merged into one already"):
        sort_keys([key(Q0, "weight"), key(K0, "weight")])


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (key(Q0, "base_layer.weight"), "and of a kind that PEFT does not save"),
        (key("lm_head", "original_module.weight"), "copy of a module"),
        (key(Q0, "lora_E"), "unknown"),
        (key(Q0, "lora_A"), "unknown"),
        (key(Q0, "lora_embedding_A.weight"), "unknown"),
        (key(Q0, "ia3_l"), "unknown"),
    ],
)
def test_foreign_tensors_are_named(name, what):
    pair = [key(K0, "lora_A.weight"), key(K0, "lora_B.weight")]
    with pytest.raises(UnsupportedAdapter, match=what) as caught:
        sort_keys([*pair, name])
    assert name in str(caught.value)
