"""What an mlx-lm config and its tensor names mean."""

import io
import json

import pytest

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import mlx


def read(parameters=None, **fields):
    table = {"lora_parameters": {"rank": 8, "scale": 20.0} if parameters is None else parameters}
    return mlx.read_config(io.BytesIO(json.dumps(table | fields).encode()))


def test_scale_is_the_whole_factor():
    found = read(model="mlx-community/SmolLM2", iters=600, learning_rate=1e-5, lr_schedule={"a": 1})
    assert found == mlx.MlxConfig(8, 20.0, "mlx-community/SmolLM2")


def test_an_early_alpha_multiplies_over_the_rank():
    assert read({"rank": 8, "alpha": 16, "scale": 10.0}).scaling == 20.0


@pytest.mark.parametrize("kind", ["dora", "full"])
def test_other_kinds_are_refused(kind):
    with pytest.raises(UnsupportedAdapter, match=kind):
        read(fine_tune_type=kind)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(UnsupportedAdapter, match="warp"):
        read({"rank": 8, "scale": 1.0, "warp": 2})


@pytest.mark.parametrize(
    "parameters",
    [
        [],
        {},
        {"rank": 8},
        {"scale": 1.0},
        {"rank": 0, "scale": 1.0},
        {"rank": 8, "scale": "2"},
        {"rank": 8, "scale": 1e7},
        {"rank": 8, "scale": 1.0, "alpha": None},
    ],
)
def test_a_strength_that_is_not_one(parameters):
    with pytest.raises(FormatError) as caught:
        read(parameters)
    assert caught.value.rule == "CONFIG"


def test_names_are_paired():
    (first, second) = mlx.pair_keys(
        ["m.q_proj.lora_b", "m.q_proj.lora_a", "m.embed_tokens.lora_a", "m.embed_tokens.lora_b"]
    )
    assert first == mlx.MlxKeys("m.embed_tokens", "m.embed_tokens.lora_a", "m.embed_tokens.lora_b")
    assert first.embedding
    assert not second.embedding


@pytest.mark.parametrize("name", ["m.q_proj.m", "m.q_proj.weight", "lora_a", "m.q_proj.lora_c"])
def test_a_tensor_of_another_kind_is_named(name):
    with pytest.raises(UnsupportedAdapter, match=name):
        mlx.pair_keys(["m.q_proj.lora_a", "m.q_proj.lora_b", name])


@pytest.mark.parametrize("names", [[], ["m.q_proj.lora_a"], ["m.q_proj.lora_b"]])
def test_half_a_pair(names):
    with pytest.raises(FormatError) as caught:
        mlx.pair_keys(names)
    assert caught.value.rule == "PAIR"
