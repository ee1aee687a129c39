"""An mlx-lm adapter is the PEFT adapter of the same factors, stored the other way round."""

import io

import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, UnsupportedAdapter

Q0 = "model.layers.0.self_attn.q_proj"


def form(files, base):
    out = io.BytesIO()
    write_runtime_form(read_adapter(files), files, base, out)
    return out.getvalue()


def test_runs_as_the_same_factors_from_peft_do():
    # Scale 2 is PEFT's alpha 8 over rank 4.
    base, made = read_base(tiny.base_file()), tiny.factors()
    assert form(tiny.mlx_files(made), base) == form(tiny.peft_files(made, lora_alpha=8), base)


def test_is_described():
    adapter = read_adapter(tiny.mlx_files(tiny.factors()))
    assert (adapter.kind, adapter.source_format, adapter.base_model) == (
        "lora",
        "mlx",
        "org/Tiny-5K",
    )
    assert check(adapter, read_base(tiny.base_file())).fit == "named"
    (q0,) = [target for target in adapter.targets if target.module == Q0]
    assert (q0.rank, q0.in_features, q0.out_features, q0.scaling) == (4, 16, 16, 2.0)


def test_an_embedding_is_looked_up():
    more = {
        "model.embed_tokens.lora_a": np.ones((12, 4), np.float32),
        "model.embed_tokens.lora_b": np.ones((4, 16), np.float32),
    }
    (target,) = read_adapter(tiny.mlx_files({}, more=more)).targets
    assert (target.embedding, target.in_features, target.out_features) == (True, 12, 16)


def test_a_rank_that_the_config_denies():
    with pytest.raises(FormatError) as caught:
        read_adapter(tiny.mlx_files(tiny.factors(), parameters={"rank": 8}))
    assert caught.value.rule == "CONFIG"


def test_experts_are_refused():
    more = {
        "model.layers.0.mlp.switch_mlp.up_proj.lora_a": np.ones((2, 4, 16), np.float32),
        "model.layers.0.mlp.switch_mlp.up_proj.lora_b": np.ones((2, 24, 4), np.float32),
    }
    with pytest.raises(UnsupportedAdapter, match="experts"):
        read_adapter(tiny.mlx_files({}, more=more))


def test_a_number_that_is_none_is_refused():
    made = tiny.factors()
    made[Q0][1][3, 2] = np.nan
    with pytest.raises(FormatError) as caught:
        read_adapter(tiny.mlx_files(made))
    assert caught.value.rule == "NONFINITE"
