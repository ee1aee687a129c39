"""PEFT's kinds that are no product: kept with what they do."""

import json

import numpy as np
import pytest
from safetensors import numpy as safetensors

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.errors import FormatError, UnsupportedAdapter

V0, DOWN0 = "model.layers.0.self_attn.v_proj", "model.layers.0.mlp.down_proj"


def files(kind, arrays, **config):
    fields = {"peft_type": kind, "task_type": "CAUSAL_LM", "base_model_name_or_path": "org/Tiny-5K"}
    return tiny.Files(
        {
            "adapter_config.json": json.dumps(fields | config).encode(),
            "adapter_model.safetensors": safetensors.save(arrays),
        }
    )


def ia3(outputs=(8, 1), inputs=(1, 24), **config):
    arrays = {
        f"base_model.model.{V0}.ia3_l": np.full(outputs, 1.5, np.float32),
        f"base_model.model.{DOWN0}.ia3_l": np.full(inputs, 0.5, np.float32),
    }
    config = {
        "target_modules": ["v_proj", "down_proj"],
        "feedforward_modules": ["down_proj"],
    } | config
    return files("IA3", arrays, **config)


def prompt(kind="PROMPT_TUNING", tokens=3, width=16, **config):
    arrays = {"prompt_embeddings": np.ones((3, width), np.float32)}
    sizes = {"num_virtual_tokens": tokens, "token_dim": 16, "num_transformer_submodules": 1}
    return files(kind, arrays, **sizes | config)


def tokens(name="model.embed_tokens.trainable_tokens_delta", **config):
    arrays = {f"base_model.model.{name}": np.ones((2, 16), np.float32)}
    return files("TRAINABLE_TOKENS", arrays, **{"token_indices": [1, 5]} | config)


def test_retrained_tokens_are_rows_of_the_embedding():
    adapter = read_adapter(tokens())
    (target,) = adapter.targets
    assert (adapter.kind, target.operation, target.tokens) == ("tokens", "rows", (1, 5))
    assert (target.module, target.out_features, target.count) == ("model.embed_tokens", 16, 32)


def test_ia3_scales_outputs_and_the_inputs_of_the_feed_forward():
    adapter = read_adapter(ia3())
    assert (adapter.kind, adapter.base_model) == ("ia3", "org/Tiny-5K")
    found = {(t.module, t.operation, t.in_features, t.out_features) for t in adapter.targets}
    assert found == {(V0, "scale_outputs", 0, 8), (DOWN0, "scale_inputs", 24, 0)}


@pytest.mark.parametrize(
    ("kind", "known"), [("PROMPT_TUNING", "prompt"), ("PREFIX_TUNING", "prefix")]
)
def test_a_prompt_is_kept(kind, known):
    adapter = read_adapter(prompt(kind))
    (target,) = adapter.targets
    assert (adapter.kind, target.operation, target.in_features, target.out_features) == (
        known, known, 3, 16,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (ia3(), "down_proj scales its inputs (IA³), which needs the overlay lane."),
        (tokens(), "model.embed_tokens has retrained tokens, which needs the overlay lane."),
    ],
)
def test_what_waits_for_the_overlay_lane_says_so(source, reason):
    report = check(read_adapter(source), read_base(tiny.base_file()))
    assert report.ok
    assert any(reason in problem.message for problem in report.beyond_stock)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (prompt(), "prompt_embeddings is a trained prompt, which no lane executes yet."),
        (prompt("PREFIX_TUNING", width=32), "is a trained prefix, which no lane executes yet."),
    ],
)
def test_what_nothing_executes_says_so(source, reason):
    (problem,) = check(read_adapter(source), read_base(tiny.base_file())).problems
    assert problem.code == "NOT_EXECUTED"
    assert reason in problem.message


def test_scaled_inputs_need_a_gated_feed_forward():
    ungated = {f"blk.{layer}.ffn_gate.weight": None for layer in range(2)}
    report = check(
        read_adapter(ia3()),
        read_base(
            tiny.base_file(
                {"general.architecture": "arcee"}
                | {
                    key.replace("llama.", "arcee."): value
                    for key, value in tiny.base_metadata().items()
                    if key.startswith("llama.")
                },
                ungated,
            )
        ),
    )
    (problem,) = report.problems
    assert problem.code == "NOT_EXECUTED"
    assert "that are no gated outputs" in problem.message


@pytest.mark.parametrize(
    ("source", "code", "reason"),
    [
        (ia3(outputs=(9, 1)), "SHAPE", "v_proj is 0 x 9 in the adapter and 16 x 8 in this base"),
        (ia3(inputs=(1, 25)), "SHAPE", "down_proj is 25 x 0 in the adapter and 24 x 16"),
        (prompt(width=17), "SHAPE", "is 17 wide, and this base needs 16"),
        (prompt("PREFIX_TUNING"), "SHAPE", "is 16 wide, and this base needs 32"),
        (tokens(token_indices=[1, 12]), "VOCABULARY", "retrained token 12"),
        (
            files("IA3", {"base_model.model.model.x.ia3_l": np.ones((8, 1), np.float32)}),
            "UNKNOWN_MODULE",
            "model.x is not a weight that can be adapted",
        ),
    ],
)
def test_what_would_not_fit_says_that_instead(source, code, reason):
    report = check(read_adapter(source), read_base(tiny.base_file()))
    (found,) = [problem for problem in report.problems if problem.code != "OTHER_MODEL"]
    assert found.code == code
    assert reason in found.message


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (ia3(outputs=(1, 8)), "SHAPE"),
        (ia3(inputs=(24, 1)), "SHAPE"),
        (files("IA3", {}), "PAIR"),
        (files("IA3", {"base_model.model.x.lora_A.weight": np.ones((1, 2), np.float32)}), "NAME"),
        (files("IA3", {f"base_model.model.{V0}.ia3_l": np.ones((8, 1), np.int8)}), "DTYPE"),
        (prompt(tokens=4), "CONFIG"),
        (tokens(token_indices=[5]), "SHAPE"),
        (tokens(name="embed_tokens.weight"), "NAME"),
        (files("PROMPT_TUNING", {"x": np.ones((3, 16), np.float32)}), "NAME"),
        (prompt(num_transformer_submodules=2), "CONFIG"),
    ],
)
def test_what_config_and_weights_do_not_both_say(source, rule):
    with pytest.raises(FormatError) as caught:
        read_adapter(source)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (ia3(modules_to_save=["lm_head"]), "'modules_to_save', which this Veneer does not know"),
        (prompt(task_type="SEQ_CLS"), "was not made to generate text"),
        (files("OFT", {}), "of the kind 'OFT', which cannot be applied exactly"),
    ],
)
def test_what_is_refused_by_name(source, reason):
    with pytest.raises(UnsupportedAdapter, match=reason):
        read_adapter(source)
