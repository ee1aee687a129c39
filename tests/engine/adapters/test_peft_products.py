"""PEFT's kinds that are low-rank products: each form is compared with its formula, in float64."""

import io
import json

import gguf
import numpy as np
import pytest
from safetensors import numpy as safetensors

from tests.engine.adapters import tiny
from tests.engine.adapters.test_peft_others import files
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, UnsupportedAdapter

V0, DOWN0 = "model.layers.0.self_attn.v_proj", "model.layers.0.mlp.down_proj"  # (8, 16), (16, 24)
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
V0_PREFIX = f"base_model.model.{V0}"


def sides(seed=3, **shapes):
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def named(prefix, made):
    return {f"{V0_PREFIX}.{prefix}{side}": matrix for side, matrix in made.items()}


def loha(rank=2, *, without=(), **config):
    made = sides(w1_a=(8, rank), w1_b=(rank, 16), w2_a=(8, rank), w2_b=(rank, 16))
    made = {side: matrix for side, matrix in made.items() if side not in without}
    return made, files("LOHA", named("hada_", made), **{"r": rank, "alpha": 3} | config)


def lokr(config=None, **shapes):
    made = sides(**shapes)
    return made, files("LOKR", named("lokr_", made), **{"r": 2, "alpha": 3} | (config or {}))


def vera(*, rank=3, config=None, more=None, without=()):
    made = sides(A=(rank, 24), B=(16, rank), b=(8,), d=(rank,), down_b=(16,), down_d=(rank,))
    down = f"base_model.model.{DOWN0}"
    arrays = {
        "base_model.vera_A": made["A"],
        "base_model.vera_B": made["B"],
        f"{V0_PREFIX}.vera_lambda_b": made["b"],
        f"{V0_PREFIX}.vera_lambda_d": made["d"],
        f"{down}.vera_lambda_b": made["down_b"],
        f"{down}.vera_lambda_d": made["down_d"],
    } | (more or {})
    kept = {name: array for name, array in arrays.items() if name not in without}
    return made, files(
        "VERA", kept, **{"r": rank, "save_projection": True, "bias": "none"} | (config or {})
    )


def adalora(*, rank=3, mask=(True, False, True, True), config=None, without=(), more=None):
    made = sides(A=(rank, 16), B=(8, rank), E=(rank, 1)) | (more or {})
    fields = {"init_r": 4, "lora_alpha": 10, "r": 8, "target_r": 3, "bias": "none"}
    fields["rank_pattern"] = mask and {f"{V0}.lora_E": list(mask)}
    kept = {side: matrix for side, matrix in made.items() if side not in without}
    return made, files("ADALORA", named("lora_", kept), **fields | (config or {}))


@pytest.fixture
def delta(tmp_path):
    """What the runtime form of a source adds to a weight, and the tensor's A."""

    def of(source, role="attn_v"):
        base, out = read_base(tiny.base_file()), io.BytesIO()
        adapter = read_adapter(source)
        assert check(adapter, base).ok
        write_runtime_form(adapter, source, base, out)
        path = tmp_path / "form.gguf"
        path.write_bytes(out.getvalue())
        form = {t.name: np.array(t.data, np.float64) for t in gguf.GGUFReader(path).tensors}
        a, b = (form[f"blk.0.{role}.weight.lora_{side}"] for side in "ab")
        return b @ a

    return of


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def wide(made):
    return {side: matrix.astype(np.float64) for side, matrix in made.items()}


def test_loha(delta):
    made, source = loha()
    (target,) = read_adapter(source).targets
    assert (read_adapter(source).kind, target.operation, target.rank) == ("loha", "low_rank", 4)
    w = wide(made)
    close(delta(source), (w["w1_a"] @ w["w1_b"]) * (w["w2_a"] @ w["w2_b"]) * 3 / 2)


@pytest.mark.parametrize(
    ("shapes", "rank"),
    [
        ({"w1": (2, 4), "w2": (4, 4)}, 8),
        ({"w1": (4, 2), "w2": (2, 8)}, 4),
        ({"w1": (2, 4), "w2_a": (4, 2), "w2_b": (2, 4)}, 4),
        ({"w1_a": (4, 2), "w1_b": (2, 4), "w2": (2, 4)}, 4),
        ({"w1_a": (4, 2), "w1_b": (2, 4), "w2_a": (2, 2), "w2_b": (2, 4)}, 4),
    ],
)
def test_lokr(shapes, rank, delta):
    made, source = lokr(**shapes)
    (target,) = read_adapter(source).targets
    assert (read_adapter(source).kind, target.rank) == ("lokr", rank)
    w = wide(made)
    one, two = (w[n] if n in w else w[f"{n}_a"] @ w[f"{n}_b"] for n in ("w1", "w2"))
    close(delta(source), np.kron(one, two) * 3 / 2)


def test_vera_cuts_its_projections_to_each_module(delta):
    made, source = vera()
    w = wide(made)
    close(delta(source), (w["b"][:, None] * w["B"][:8]) @ (w["d"][:, None] * w["A"][:, :16]))
    close(
        delta(source, "ffn_down"),
        (w["down_b"][:, None] * w["B"]) @ (w["down_d"][:, None] * w["A"]),
    )
    adapter = read_adapter(source)
    assert (adapter.kind, adapter.weights) == ("vera", 8 + 3 + 16 + 3)


def test_vera_needs_projections_that_are_wide_enough():
    narrow = vera(more={"base_model.vera_A": np.ones((3, 15), np.float32)})[1]
    report = check(read_adapter(narrow), read_base(tiny.base_file()))
    assert {problem.code for problem in report.problems} == {"SHAPE"}


def test_adalora_divides_by_the_rank_it_began_with(delta):
    made, source = adalora()
    w = wide(made)
    assert read_adapter(source).ranks == (3,)
    close(delta(source), w["B"] @ (w["E"] * w["A"]) * 10 / (4 + 1e-5))


def test_adalora_before_any_rank_was_cut(delta):
    made, source = adalora(rank=4, mask=None, config={"lora_alpha": 0})
    w = wide(made)
    close(delta(source), w["B"] @ (w["E"] * w["A"]) * 4 / (4 + 1e-5))


def cut_to_nothing(module):
    """The tensors of a module of which AdaLoRA left no rank, and its mask."""
    shapes = {"A": (0, 16), "B": (8, 0), "E": (0, 1)}
    empty = {f"lora_{side}": np.zeros(shape, np.float32) for side, shape in shapes.items()}
    tensors = {f"base_model.model.{module}.{side}": t for side, t in empty.items()}
    return tensors, {f"{module}.lora_E": [False] * 4}


def test_a_module_that_adalora_cut_to_nothing_changes_nothing(delta):
    made, source = adalora()
    config, weights = json.loads(source[CONFIG]), safetensors.load(source[WEIGHTS])
    tensors, mask = cut_to_nothing(V0.replace("layers.0", "layers.1"))
    config["rank_pattern"] |= mask
    source[CONFIG] = json.dumps(config).encode()
    source[WEIGHTS] = safetensors.save(weights | tensors)
    assert [target.module for target in read_adapter(source).targets] == [V0]
    w = wide(made)
    close(delta(source), w["B"] @ (w["E"] * w["A"]) * 10 / (4 + 1e-5))


def test_adalora_that_was_cut_to_nothing_everywhere_is_refused():
    tensors, mask = cut_to_nothing(V0)
    _, source = adalora(config={"rank_pattern": mask})
    source[WEIGHTS] = safetensors.save(tensors)
    with pytest.raises(FormatError, match="cut to the rank 0 everywhere"):
        read_adapter(source)


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (loha(r=5), "CONFIG"),
        (loha(alpha="much"), "CONFIG"),
        (loha(without=("w2_b",)), "PAIR"),
        (lokr(w1=(2, 4)), "PAIR"),
        (lokr(w1=(2, 4), w1_a=(2, 2), w1_b=(2, 4), w2=(4, 4)), "PAIR"),
        (lokr(w1=(2, 4), w2_a=(4, 2)), "PAIR"),
        (lokr(w1=(2, 4), w2_a=(4, 2), w2_b=(3, 4)), "SHAPE"),
        (lokr({"r": 3}, w1=(2, 4), w2_a=(4, 2), w2_b=(2, 4)), "CONFIG"),
        (lokr(w1=(2, 4, 1), w2=(4, 4)), "SHAPE"),
        (lokr(t2=(2, 4)), "NAME"),
        (lokr(), "PAIR"),
        (vera(without=(f"{V0_PREFIX}.vera_lambda_d",)), "PAIR"),
        (vera(without=("base_model.vera_B",)), "PAIR"),
        (vera(config={"save_projection": False}), "PAIR"),
        (vera(config={"r": 4}), "CONFIG"),
        (vera(more={f"{V0_PREFIX}.vera_lambda_b": np.ones(17, np.float32)}), "SHAPE"),
        (vera(more={f"{V0_PREFIX}.vera_lambda_d": np.ones(4, np.float32)}), "SHAPE"),
        (vera(more={"base_model.model.x": np.ones(4, np.float32)}), "NAME"),
        (adalora(without=("E",)), "PAIR"),
        (adalora(more={"E": np.ones((4, 1), np.float32)}), "SHAPE"),
        (adalora(mask=(True, False, True, False)), "CONFIG"),
        (adalora(mask=(True, True, True)), "CONFIG"),
        (adalora(mask=(1, 0, 1, 1)), "CONFIG"),
        (adalora(mask=None), "CONFIG"),
    ],
)
def test_what_config_and_weights_do_not_both_say(made, rule):
    with pytest.raises(FormatError) as caught:
        read_adapter(made[1])
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (loha(rank_pattern={"v_proj": 2}), "'rank_pattern', which this Veneer does not know"),
        (
            vera(without=("base_model.vera_A", "base_model.vera_B")),
            "save it again with save_projection=True",
        ),
        (vera(config={"modules_to_save": ["lm_head"]}), "'modules_to_save'"),
        (adalora(config={"use_dora": True}), "'use_dora'"),
        (adalora(config={"bias": "all"}), "'bias'"),
        (lokr(w1=(80, 80), w2=(80, 80)), "a product of rank 6400"),
    ],
)
def test_what_is_refused_by_name(made, reason):
    with pytest.raises(UnsupportedAdapter, match=reason):
        read_adapter(made[1])
