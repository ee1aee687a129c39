"""LoRA on the parameters that hold all experts: PEFT's layout, by hand."""

import io

import gguf
import numpy as np
import pytest

from tests.engine.adapters import packed, tiny
from tests.engine.adapters.packed import EXPERTS, INNER, base_of
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, UnsupportedAdapter

HOLDER = "model.layers.0.mlp.experts"
INTO, OUT_OF = "mlp.experts.gate_up_proj", "mlp.experts.down_proj"
APART = base_of("qwen3moe", packed.EXPERTS_APART)
TOGETHER = base_of(
    "qwen3moe", packed.EXPERTS_TOGETHER, {"ffn_down_exps": packed.EXPERTS_APART["ffn_down_exps"]}
)
WIDTH, RANK = 16, 3


def factors(inside, out, rank=RANK, experts=EXPERTS, seed=5):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((experts * rank, inside)), rng.standard_normal((out, rank * experts))
    return a.astype(np.float32), b.astype(np.float32)


def files(made, *parameters, **config):
    fields = {"r": RANK, "target_modules": [], "target_parameters": [*parameters]}
    return tiny.peft_files(made, **fields | config)


def both(**config):
    """As PEFT nests them: the first in the model is the inner one."""
    into, out_of = factors(WIDTH, 2 * INNER), factors(INNER, WIDTH, seed=6)
    made = {f"{HOLDER}.base_layer": into, HOLDER: out_of}
    return into, out_of, files(made, INTO, OUT_OF, **config)


def change(pair, expert, scaling, rank=RANK, experts=EXPERTS):
    """ΔW of one expert, entry by entry from the definition of PEFT's two layouts."""
    a, b = (matrix.astype(np.float64) for matrix in pair)
    total = np.zeros((len(b), a.shape[1]))
    for k in range(rank):
        total += np.outer(b[:, k * experts + expert], a[expert * rank + k])
    return scaling * total


def deltas(source, base, tmp_path):
    """{tensor: what the runtime form adds to it}, (experts, out, in)."""
    out = io.BytesIO()
    write_runtime_form(read_adapter(source), source, base, out)
    (tmp_path / "form.gguf").write_bytes(out.getvalue())
    form = {
        t.name: np.array(t.data, np.float64)
        for t in gguf.GGUFReader(tmp_path / "form.gguf").tensors
    }
    names = {name.rpartition(".lora_")[0] for name in form}
    return {name.split(".")[2]: form[f"{name}.lora_b"] @ form[f"{name}.lora_a"] for name in names}


def test_each_expert_gets_its_own_change(tmp_path):
    into, out_of, source = both()
    found = deltas(source, APART, tmp_path)
    assert found.keys() == {"ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"}
    for expert in range(EXPERTS):
        gate_up = change(into, expert, 8 / RANK)
        np.testing.assert_allclose(found["ffn_gate_exps"][expert], gate_up[:INNER], atol=1e-5)
        np.testing.assert_allclose(found["ffn_up_exps"][expert], gate_up[INNER:], atol=1e-5)
        down = change(out_of, expert, 8 / RANK)
        np.testing.assert_allclose(found["ffn_down_exps"][expert], down, atol=1e-5)


def test_where_gate_and_up_are_one_tensor(tmp_path):
    into, _, source = both()
    found = deltas(source, TOGETHER, tmp_path)
    assert found.keys() == {"ffn_gate_up_exps", "ffn_down_exps"}
    for expert in range(EXPERTS):
        wanted = change(into, expert, 8 / RANK)
        np.testing.assert_allclose(found["ffn_gate_up_exps"][expert], wanted, atol=1e-5)


def test_patterns_mean_parameters_too(tmp_path):
    pair = factors(INNER, WIDTH, rank=5)
    config = {"rank_pattern": {"experts.down_proj": 5}, "alpha_pattern": {"down_proj": 2}}
    source = files({HOLDER: pair}, OUT_OF, **config)
    found = deltas(source, APART, tmp_path)
    for expert in range(EXPERTS):
        wanted = change(pair, expert, 2 / 5, rank=5)
        np.testing.assert_allclose(found["ffn_down_exps"][expert], wanted, atol=1e-5)


def test_the_ranks_of_all_experts_may_be_more_than_a_matrix_has_sides():
    source = files({HOLDER: factors(INNER, WIDTH, rank=8)}, OUT_OF, r=8)
    assert max(INNER, WIDTH) < 8 * EXPERTS
    assert check(read_adapter(source), APART).ok


def test_what_is_told():
    adapter = read_adapter(both()[2])
    told = [(t.module, t.rank, t.in_features, t.out_features, t.experts) for t in adapter.targets]
    assert told == [
        (f"{HOLDER}.gate_up_proj", RANK, WIDTH, 2 * INNER, EXPERTS),
        (f"{HOLDER}.down_proj", RANK, INNER, WIDTH, EXPERTS),
    ]
    assert adapter.weights == RANK * EXPERTS * (3 * INNER + 2 * WIDTH)
    assert adapter.warnings == ()


def test_another_number_of_experts_is_refused():
    source = files({HOLDER: factors(INNER, WIDTH, experts=2)}, OUT_OF)
    (problem,) = check(read_adapter(source), APART).problems
    assert problem.code == "SHAPE"


def test_the_sides_of_older_peft_are_refused():
    """It took a parameter (experts, out, in) for (experts, in, out), and trained other factors."""
    made = {f"{HOLDER}.base_layer": factors(2 * INNER, WIDTH), HOLDER: factors(WIDTH, INNER)}
    report = check(read_adapter(files(made, INTO, OUT_OF)), APART)
    assert {problem.code for problem in report.problems} == {"SHAPE"}


def test_an_expert_and_all_experts_are_two_adapters_of_one_weight():
    one = {f"{HOLDER}.1.down_proj": tiny.factors({"x": (WIDTH, INNER)}, rank=RANK)["x"]}
    made = {HOLDER: factors(INNER, WIDTH)} | one
    source = files(made, OUT_OF, target_modules=["down_proj"])
    codes = [problem.code for problem in check(read_adapter(source), APART).problems]
    assert codes == ["DUPLICATE"]


@pytest.mark.parametrize(
    ("made", "parameters", "error", "reason"),
    [
        ({HOLDER: factors(INNER, WIDTH)}, ["experts.w1"], UnsupportedAdapter, "names 0"),
        ({HOLDER: factors(INNER, WIDTH)}, [INTO, OUT_OF], UnsupportedAdapter, "names 2"),
        (
            {HOLDER: factors(WIDTH, WIDTH), f"{HOLDER}.base_layer": factors(WIDTH, WIDTH)},
            [INTO, OUT_OF],
            FormatError,
            "do not tell which",
        ),
        ({HOLDER: factors(INNER, WIDTH, rank=2)}, [OUT_OF], FormatError, "8 ranks for all"),
    ],
)
def test_what_is_not_clear_is_refused(made, parameters, error, reason):
    with pytest.raises(error, match=reason):
        read_adapter(files(made, *parameters))
