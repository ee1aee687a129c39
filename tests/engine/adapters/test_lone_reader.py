"""One safetensors file without a config: how strong it is, and whose modules it names."""

import io
import json

import msgspec
import numpy as np
import pytest
from safetensors.numpy import save

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.reading import open_contents, read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, UnsupportedAdapter

Q0 = "model.layers.0.self_attn.q_proj"
MADE = tiny.factors(rank={m: 2 + i % 3 for i, m in enumerate(tiny.MODULES)})


def kohya(made=MADE, *, prefix="lora_te_", alpha=3.0, more=None, without=()):
    arrays = {}
    for module, (a, b) in made.items():
        name = f"{prefix}{module.replace('.', '_')}" if prefix.endswith("_") else prefix + module
        arrays[f"{name}.lora_down.weight"], arrays[f"{name}.lora_up.weight"] = a, b
        arrays[f"{name}.alpha"] = np.array(alpha, np.float16)
    arrays = {name: array for name, array in arrays.items() if not name.endswith(without)}
    return tiny.Files({"lora.safetensors": save(arrays | (more or {}))})


def diffusers(made, *, prefix="text_encoder", config=None, more=None):
    arrays = {}
    for module, (a, b) in made.items():
        arrays[f"{prefix}.{module}.lora_A.weight"] = a
        arrays[f"{prefix}.{module}.lora_B.weight"] = b
    fields = {"peft_type": "LORA", "r": 4, "lora_alpha": 8} | (config or {})
    table = {f"{prefix}.{name}": value for name, value in fields.items()}
    metadata = {"format": "pt", "lora_adapter_metadata": json.dumps(table)}
    return tiny.Files({"x.safetensors": save(arrays | (more or {}), metadata=metadata)})


def form(source):
    base, out = read_base(tiny.base_file()), io.BytesIO()
    write_runtime_form(read_adapter(source), source, base, out)
    return out.getvalue()


def refused(source, error=FormatError):
    with pytest.raises(error) as caught:
        read_adapter(source)
    return caught.value


@pytest.mark.parametrize("prefix", ["lora_te_", "lycoris_", "lora_", "text_encoder.", ""])
def test_each_alpha_over_its_rank(prefix):
    # With PEFT this is a pattern: the ranks differ, and alpha is one for all.
    ranks = {f"{m}": b.shape[1] for m, (_, b) in MADE.items()}
    same = tiny.peft_files(MADE, r=2, lora_alpha=3.0, rank_pattern=ranks)
    assert form(kohya(prefix=prefix)) == form(same)


def test_what_is_told_of_it():
    adapter = read_adapter(kohya(tiny.factors({Q0: (16, 16)}, rank=4)))
    assert (adapter.kind, adapter.source_format, adapter.ranks) == ("lora", "lone", (4,))
    (target,) = adapter.targets
    assert (target.module, target.scaling, target.count) == (Q0, 0.75, 4 * 32)
    assert msgspec.json.decode(msgspec.json.encode(adapter), type=type(adapter)) == adapter


def test_without_a_strength_it_is_refused():
    caught = refused(kohya(without=("q_proj.alpha",)))
    assert caught.rule == "CONFIG"
    assert "no alpha among them" in str(caught)
    peft = tiny.peft_files(MADE)["adapter_model.safetensors"]
    assert refused(tiny.Files({"a.safetensors": peft})).rule == "CONFIG"


@pytest.mark.parametrize("alpha", [0.0, float("nan"), float("inf")])
def test_an_alpha_that_is_no_strength(alpha):
    assert refused(kohya(alpha=alpha)).rule == "CONFIG"


def test_an_alpha_of_two_numbers():
    more = {"lora_te_model_layers_0_self_attn_q_proj.alpha": np.ones(2, np.float32)}
    assert refused(kohya(more=more)).rule == "SHAPE"


@pytest.mark.parametrize("side", ["q_proj.lora_up.weight", "q_proj.lora_down.weight"])
def test_half_a_pair(side):
    assert refused(kohya(without=(side,))).rule == "PAIR"


def test_the_same_module_under_two_names():
    a, b = MADE[Q0]
    name = f"lora_te_{Q0}"
    more = {f"{name}.lora_A.weight": a, f"{name}.lora_B.weight": b}
    assert refused(kohya(more=more)).rule == "NAME"
    twice = {"lora_te_model_layers_0_self_attn_q_proj.lora_A.weight": a}
    assert refused(kohya(more=twice)).rule == "NAME"


@pytest.mark.parametrize(
    "extra",
    [
        "lora_te_model_layers_0_self_attn_q_proj.dora_scale",
        "lora_te_model_layers_0_self_attn_q_proj.lora_mid.weight",
        "lora_te_model_norm.diff",
    ],
)
def test_what_is_more_than_a_lora_is_not_dropped(extra):
    said = refused(kohya(more={extra: np.ones(4, np.float32)}), UnsupportedAdapter)
    assert extra in str(said)


def test_image_models_are_named():
    unet = {"down_blocks.0.attentions.0.proj_in": MADE[Q0]}
    said = refused(kohya(unet, prefix="lora_unet_"), UnsupportedAdapter)
    assert "lora_unet_down_blocks_0_attentions_0_proj_in" in str(said)
    said = refused(diffusers({"blocks.0.attn.to_q": MADE[Q0]}, config={"r": 2}), UnsupportedAdapter)
    assert "image models cannot be applied" in str(said)


def test_several_models_in_one_file():
    a, b = MADE[Q0]
    other = "lora_te2_model_layers_0_self_attn_k_proj"
    more = {
        f"{other}.lora_down.weight": a,
        f"{other}.lora_up.weight": b,
        f"{other}.alpha": np.ones(1, "f4"),
    }
    assert "several models" in str(refused(kohya(more=more), UnsupportedAdapter))


def test_whole_weights_are_a_model():
    model = {"model.layers.0.self_attn.q_proj.weight": np.ones((2, 2), np.float32)}
    said = refused(tiny.Files({"model.safetensors": save(model)}))
    assert said.rule == "PAIR"
    assert "a model or a part of one" in str(said)
    empty = tiny.Files({"x.safetensors": save({})})
    assert "no weights" in str(refused(empty))


def test_diffusers_keeps_the_config_of_peft():
    made = tiny.factors(rank=4)
    config = {"use_rslora": True, "alpha_pattern": {"q_proj": 3}}
    lone, folder = diffusers(made, config=config), tiny.peft_files(made, **config)
    assert form(lone) == form(folder)
    with open_contents(lone) as contents:
        assert contents.kind == "lora"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"config": {"r": 5}}, FormatError),
        ({"config": {"init_lora_weights": "pissa"}}, UnsupportedAdapter),
        ({"more": {"transformer.x.lora_A.weight": np.ones((4, 4), "f4")}}, FormatError),
    ],
)
def test_diffusers_traps(change, error):
    refused(diffusers(tiny.factors(rank=4), **change), error)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ({"unet.r": 4, "text_encoder.r": 4}, UnsupportedAdapter),
        ({"text_encoder.r": 4, "r": 4}, FormatError),
        ({}, FormatError),
        ([], FormatError),
    ],
)
def test_diffusers_config_of_no_one_model(table, error):
    raw = save(
        {"a.lora_A.weight": np.ones((2, 2), np.float32)},
        {"lora_adapter_metadata": json.dumps(table)},
    )
    refused(tiny.Files({"x.safetensors": raw}), error)
