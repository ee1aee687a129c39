"""Adapters are read whole, or refused with the rule they break."""

import math

import msgspec
import numpy as np
import pytest

from tests.engine.adapters import tiny
from tests.engine.adapters.tiny import Files
from veneer.adapters.model import Adapter
from veneer.adapters.reading import read_adapter
from veneer.errors import FormatError, PickleRefused, UnsupportedAdapter

Q0, K0 = "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj"
T0 = "blk.0.attn_q.weight"


def refusal(source):
    with pytest.raises(FormatError) as caught:
        read_adapter(source)
    return caught.value.rule


def one(a_shape=(4, 16), b_shape=(16, 4), dtype=np.float32):
    return np.ones(a_shape, dtype), np.ones(b_shape, dtype)


def test_reads_peft():
    adapter = read_adapter(tiny.peft_files(tiny.factors(), revision="main"))
    assert (adapter.kind, adapter.source_format, adapter.architecture) == ("lora", "peft", None)
    assert (adapter.base_model, adapter.base_revision) == ("org/Tiny-5K", "main")
    assert (adapter.dtype, adapter.ranks, adapter.warnings) == ("F32", (4,), ())
    assert adapter.weights == sum(4 * (out + inner) for out, inner in tiny.MODULES.values())
    assert [target.module for target in adapter.targets] == sorted(tiny.MODULES)
    for target in adapter.targets:
        assert (target.out_features, target.in_features) == tiny.MODULES[target.module]
        assert target.scaling == 2.0
        assert not target.embedding


def test_is_stored_as_json():
    adapter = read_adapter(tiny.peft_files(tiny.factors()))
    assert msgspec.json.decode(msgspec.json.encode(adapter), type=Adapter) == adapter


def test_reads_patterns_and_rslora():
    ranks = dict.fromkeys(tiny.MODULES, 4) | {Q0: 2, K0: 3}
    files = tiny.peft_files(
        tiny.factors(rank=ranks),
        use_rslora=True,
        rank_pattern={Q0: 2, r"layers\.0\.self_attn\.k_proj": 3},
        alpha_pattern={"k_proj": 5},
    )
    scalings = {target.module: target.scaling for target in read_adapter(files).targets}
    assert scalings[Q0] == 8 / math.sqrt(2)
    assert scalings[K0] == 5 / math.sqrt(3)
    assert scalings["model.layers.1.self_attn.k_proj"] == 5 / 2
    assert scalings["model.layers.1.mlp.up_proj"] == 4.0


def test_reads_an_embedding():
    arrays = {
        "base_model.model.model.embed_tokens.lora_embedding_A": np.ones((4, 12), np.float32),
        "base_model.model.model.embed_tokens.lora_embedding_B": np.ones((16, 4), np.float32),
    }
    (target,) = read_adapter(tiny.peft_files({}, arrays)).targets
    assert target.embedding
    assert (target.in_features, target.out_features, target.rank) == (12, 16, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_float_types(dtype):
    adapter = read_adapter(tiny.peft_files(tiny.factors(dtype=dtype)))
    assert adapter.dtype == {"float16": "F16", "float64": "F64"}[np.dtype(dtype).name]


def test_mixed_float_types():
    made = tiny.factors() | tiny.factors({Q0: tiny.MODULES[Q0]}, dtype=np.float16)
    assert read_adapter(tiny.peft_files(made)).dtype == "mixed"


def test_rank_above_the_smaller_side_is_an_adapter():
    made = tiny.factors({K0: (8, 16)}, rank=12)
    assert read_adapter(tiny.peft_files(made, r=12)).ranks == (12,)


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ([], FormatError),
        (["readme.md"], FormatError),
        (["adapter_config.json"], FormatError),
        (["adapter_model.safetensors"], FormatError),
        (["a.gguf", "b.gguf"], FormatError),
        (["a.safetensors", "b.safetensors"], FormatError),
        (["adapter_model.bin"], PickleRefused),
        (["adapter_config.json", "adapter_model.bin"], PickleRefused),
        (["lora.pt"], PickleRefused),
        (["lora.PTH"], PickleRefused),
        (["lora.ckpt"], PickleRefused),
        (["adapters.safetensors"], FormatError),
        (["adapter_config.json", "adapter_model-00001-of-2.safetensors"], UnsupportedAdapter),
    ],
)
def test_names_decide(names, error):
    with pytest.raises(error):
        read_adapter(Files(dict.fromkeys(names, b"")))


def test_a_pickle_is_told_how_to_convert():
    with pytest.raises(PickleRefused, match="safe_serialization=True"):
        read_adapter(Files({"adapter_model.bin": b""}))


def test_training_leftovers_do_not_matter():
    files = tiny.peft_files(tiny.factors())
    assert read_adapter(Files(files | {"training_args.bin": b"", "optimizer.pt": b""}))


@pytest.mark.parametrize(
    ("pair", "rule"),
    [
        (one((4, 16), (16, 3)), "SHAPE"),
        (one((4, 16), (16,)), "SHAPE"),
        (one((4, 16, 1, 1), (16, 4, 1, 1)), "SHAPE"),
        (one((17, 16), (16, 17)), "SHAPE"),
        (one((2, 16), (16, 2)), "CONFIG"),
        (one(dtype=np.int8), "DTYPE"),
    ],
)
def test_bad_factors(pair, rule):
    assert refusal(tiny.peft_files({Q0: pair})) == rule


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_every_weight_is_finite(value, side):
    made = tiny.factors()
    made[K0][side][-1, -1] = value
    with pytest.raises(FormatError, match=r"k_proj\.lora_") as caught:
        read_adapter(tiny.peft_files(made))
    assert caught.value.rule == "NONFINITE"


def test_doubles_beyond_float32_are_not_finite():
    made = {Q0: one(dtype=np.float64)}
    made[Q0][1][0, 0] = 1e300
    assert refusal(tiny.peft_files(made)) == "NONFINITE"


def test_stack_of_experts_is_unsupported():
    with pytest.raises(UnsupportedAdapter, match="experts"):
        read_adapter(tiny.peft_files({Q0: one((2, 4, 16), (2, 16, 4))}))


def test_a_tensor_of_another_kind_is_refused():
    more = {f"base_model.model.{Q0}.lora_rotation": np.ones(16, np.float32)}
    with pytest.raises(UnsupportedAdapter, match="unknown"):
        read_adapter(tiny.peft_files(tiny.factors(), more))


def test_weights_that_the_config_does_not_list():
    assert refusal(tiny.peft_files(tiny.factors(), target_modules=["q_proj"])) == "CONFIG"


def test_targets_without_weights_are_a_warning():
    names = [module.rpartition(".")[2] for module in tiny.MODULES]
    adapter = read_adapter(tiny.peft_files(tiny.factors(), target_modules=[*names, "lm_head"]))
    (warning,) = adapter.warnings
    assert "lm_head" in warning


def test_zero_factors_are_a_warning():
    made = tiny.factors()
    for module in (Q0, K0):
        made[module][1][:] = 0
    (warning,) = read_adapter(tiny.peft_files(made)).warnings
    assert warning.startswith("2 of 14 parts")


@pytest.mark.parametrize("side", [0, 1])
def test_an_idle_adapter_is_a_warning(side):
    made = tiny.factors()
    for pair in made.values():
        pair[side][:] = 0
    (warning,) = read_adapter(tiny.peft_files(made)).warnings
    assert "changes nothing" in warning


def test_an_alpha_of_zero_changes_nothing():
    (warning,) = read_adapter(tiny.peft_files(tiny.factors(), lora_alpha=0)).warnings
    assert "changes nothing" in warning


def test_reads_gguf():
    adapter = read_adapter(tiny.lora_file({T0: one(), "blk.0.attn_k.weight": one((2, 16), (8, 2))}))
    assert (adapter.source_format, adapter.architecture, adapter.dtype) == ("gguf", "llama", "F32")
    assert {t.module: (t.rank, t.scaling) for t in adapter.targets} == {
        "blk.0.attn_k.weight": (2, 4.0),
        T0: (4, 2.0),
    }


def test_gguf_without_alpha_scaling():
    (target,) = read_adapter(tiny.lora_file({T0: one()}, adapter__lora__alpha=0.0)).targets
    assert target.scaling == 1.0


def test_gguf_token_embedding_is_flipped():
    pair = one((12, 4), (16, 4))
    (target,) = read_adapter(tiny.lora_file({"token_embd.weight": pair})).targets
    assert target.embedding
    assert (target.rank, target.in_features, target.out_features) == (4, 12, 16)


@pytest.mark.parametrize("dtype", [np.float16, np.uint16])
def test_gguf_float_types(dtype):
    pair = one(dtype=dtype)
    assert read_adapter(tiny.lora_file({T0: pair})).dtype in ("F16", "BF16")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"general__type": "model"}, "VALUE"),
        ({"general__type": None}, "VALUE"),
        ({"general__architecture": None}, "KEY"),
        ({"adapter__lora__alpha": None}, "KEY"),
        ({"adapter__lora__alpha": 8}, "KEY"),
        ({"adapter__lora__alpha": np.float64(8)}, "KEY"),
        ({"adapter__lora__alpha": float("nan")}, "VALUE"),
        ({"adapter__lora__alpha": 1e30}, "VALUE"),
        ({"general__base_model__0__name": 1}, "KEY"),
    ],
)
def test_gguf_metadata_rules(changes, rule):
    assert refusal(tiny.lora_file({T0: one()}, **changes)) == rule


@pytest.mark.parametrize(
    "changes",
    [
        {"adapter__type": None},
        {"adapter__type": "control_vector"},
        {"adapter__lora__new": True},
    ],
)
def test_gguf_kinds_that_are_not_executed(changes):
    with pytest.raises(UnsupportedAdapter):
        read_adapter(tiny.lora_file({T0: one()}, **changes))


def test_gguf_without_tensors():
    assert refusal(tiny.lora_file({})) == "PAIR"


@pytest.mark.parametrize(
    ("pair", "rule"),
    [
        (one((4, 16), (16, 3)), "SHAPE"),
        (one((17, 16), (16, 17)), "SHAPE"),
        (one((16,), (16, 1)), "SHAPE"),
        (one((4, 16), (16, 4)), None),
    ],
)
def test_gguf_factors(pair, rule):
    if rule is None:
        assert read_adapter(tiny.lora_file({T0: pair}))
    else:
        assert refusal(tiny.lora_file({T0: pair})) == rule


def gguf_of(arrays):
    return Files({"lora.gguf": tiny.gguf_bytes(tiny.lora_metadata(), arrays)})


@pytest.mark.parametrize("side", "ab")
def test_gguf_half_pairs(side):
    assert refusal(gguf_of({f"{T0}.lora_{side}": np.ones((4, 4), np.float32)})) == "PAIR"


@pytest.mark.parametrize(
    "name", ["blk.0.attn_norm.weight", T0, ".lora_a", f"{T0}.lora_a.lora_a", f"{T0}.lora_c"]
)
def test_gguf_other_tensors(name):
    a, b = one()
    arrays = {f"{T0}.lora_a": a, f"{T0}.lora_b": b, name: np.ones((4, 16), np.float32)}
    with pytest.raises(UnsupportedAdapter):
        read_adapter(gguf_of(arrays))


def test_gguf_quantized_factors():
    from tests.engine.formats import craft

    pairs = [
        craft.string("general.architecture", "llama"),
        craft.string("general.type", "adapter"),
        craft.string("adapter.type", "lora"),
        craft.f32("adapter.lora.alpha", 8),
    ]
    tensors = [
        craft.tensor(f"{T0}.lora_a", (32, 1), type_id=8),
        craft.tensor(f"{T0}.lora_b", (1, 16), offset=64),
    ]
    raw = craft.gguf(pairs, tensors, bytes(128))
    assert refusal(Files({"lora.gguf": raw})) == "DTYPE"


def test_gguf_nonfinite():
    a, b = one()
    b[0, 0] = np.nan
    assert refusal(tiny.lora_file({T0: (a, b)})) == "NONFINITE"


def test_source_is_opened_by_name_only():
    class Recording(Files):
        def __init__(self, *args):
            super().__init__(*args)
            self.opened = []

        def open(self, name):
            self.opened.append(name)
            return super().open(name)

    source = Recording(tiny.peft_files(tiny.factors()))
    read_adapter(source)
    assert source.opened == ["adapter_config.json", "adapter_model.safetensors"]


UNSLOTH_LANGUAGE_ONLY = (
    r"(?:.*?(?:language|text).*?(?:self_attn|attention|attn|mlp|feed_forward|ffn|dense)"
    r".*?(?:k_proj|v_proj|q_proj|o_proj|gate_proj|up_proj|down_proj).*?)|"
    r"(?:\bmodel\.layers\.[\d]{1,}\.(?:self_attn|attention|attn|mlp|feed_forward|ffn|dense)"
    r"\.(?:(?:k_proj|v_proj|q_proj|o_proj|gate_proj|up_proj|down_proj)))"
)
"""What Unsloth writes as target_modules when only a model's language layers are trained."""


def test_reads_what_unsloth_exports():
    files = tiny.peft_files(
        tiny.factors(),
        auto_mapping={
            "base_model_class": "LlamaForCausalLM",
            "parent_library": "transformers.models.llama.modeling_llama",
            "unsloth_fixed": True,
        },
        base_model_name_or_path="unsloth/tiny-5k-bnb-4bit",
        target_modules=UNSLOTH_LANGUAGE_ONLY,
        lora_dropout=0,
        use_rslora=True,
    )
    adapter = read_adapter(files)
    assert (adapter.base_model, adapter.warnings) == ("unsloth/tiny-5k-bnb-4bit", ())
    assert [target.module for target in adapter.targets] == sorted(tiny.MODULES)
    assert {target.scaling for target in adapter.targets} == {8 / math.sqrt(4)}
