"""Each target's rows have one place in a base, in one piece or several, or a reason why not."""

import msgspec
import pytest

from tests.engine.adapters import packed
from tests.engine.adapters.packed import adapter, base_of, target
from veneer.adapters.compat import placements
from veneer.adapters.extent import Piece
from veneer.adapters.placement import place_all

LAYER = "model.layers.0"
QKV, GATE_UP = f"{LAYER}.self_attn.qkv_proj", f"{LAYER}.mlp.gate_up_proj"
Q, K, V = (f"{LAYER}.self_attn.{name}_proj" for name in "qkv")

APART = base_of("phi3", packed.ATTN_APART, packed.FFN_APART)
TOGETHER = base_of("phi3", packed.ATTN_TOGETHER, packed.FFN_TOGETHER)


def expert(number, side="up", rank=4):
    inner, out = (packed.INNER, 16) if side == "down" else (16, packed.INNER)
    return target(f"{LAYER}.mlp.experts.{number}.{side}_proj", inner, out, rank)


def pieces(base, *targets, **options):
    """The pieces of each module, all of which must have their place."""
    made = adapter(*targets, **options)
    placed, problems = place_all(made, base)
    assert problems == []
    return {item.target.module: item.pieces for item in placed}


def refused(base, *targets, **options):
    """The problem of the last of these targets; all others have their place."""
    placed, problems = place_all(adapter(*targets, **options), base)
    (problem,) = problems
    assert len(placed) == len(targets) - 1
    assert problem.tensor == targets[-1].module
    return problem


def beyond(base, *targets, **options):
    """Why the stock lane cannot do each of these targets, all of which have their place."""
    placed, problems = place_all(adapter(*targets, **options), base)
    assert problems == []
    return [item.beyond_stock for item in placed]


def test_a_packed_projection_is_cut_where_the_base_keeps_its_blocks_apart():
    assert pieces(APART, target(QKV, 16, 32))[QKV] == (
        Piece("blk.0.attn_q.weight", start=0, first=0, size=16),
        Piece("blk.0.attn_k.weight", start=0, first=16, size=8),
        Piece("blk.0.attn_v.weight", start=0, first=24, size=8),
    )


def test_a_packed_gate_is_cut_where_the_base_keeps_it_apart():
    assert pieces(APART, target(GATE_UP, 16, 48))[GATE_UP] == (
        Piece("blk.0.ffn_gate.weight", start=0, first=0, size=24),
        Piece("blk.0.ffn_up.weight", start=0, first=24, size=24),
    )


def test_what_both_sides_keep_together_is_one_piece():
    found = pieces(TOGETHER, target(QKV, 16, 32), target(GATE_UP, 16, 48))
    assert found == {
        QKV: (Piece("blk.0.attn_qkv.weight", start=0, first=0, size=32),),
        GATE_UP: (Piece("blk.0.ffn_up.weight", start=0, first=0, size=48),),
    }


def test_separate_projections_have_their_rows_of_a_packed_tensor():
    base = base_of("phi2", packed.ATTN_TOGETHER)
    assert pieces(base, target(Q, 16, 16), target(K, 16, 8), target(V, 16, 8)) == {
        Q: (Piece("blk.0.attn_qkv.weight", start=0, first=0, size=16),),
        K: (Piece("blk.0.attn_qkv.weight", start=16, first=0, size=8),),
        V: (Piece("blk.0.attn_qkv.weight", start=24, first=0, size=8),),
    }


def test_placements_are_in_the_order_of_tensors_and_of_rows_in_them():
    base = base_of("phi2", packed.ATTN_TOGETHER)
    tokens = "model.embed_tokens"
    embedding = target(tokens, 12, 16, embedding=True)
    made = adapter(embedding, target(V, 16, 8), target(K, 16, 8), target(Q, 16, 16))
    assert [item.target.module for item in placements(made, base)] == [Q, K, V, tokens]


def test_experts_have_their_matrix_of_the_stack():
    base = base_of("qwen3moe", packed.EXPERTS_APART)
    three, first = expert(3, "down"), expert(0, "gate")
    assert pieces(base, three, first) == {
        three.module: (Piece("blk.0.ffn_down_exps.weight", 0, 0, 16, expert=3),),
        first.module: (Piece("blk.0.ffn_gate_exps.weight", 0, 0, 24, expert=0),),
    }


def test_gate_and_up_of_an_expert_in_one_stack():
    base = base_of("qwen3moe", packed.EXPERTS_TOGETHER)
    gate, up = expert(2, "gate"), expert(2, "up")
    assert pieces(base, gate, up) == {
        gate.module: (Piece("blk.0.ffn_gate_up_exps.weight", 0, 0, 24, expert=2),),
        up.module: (Piece("blk.0.ffn_gate_up_exps.weight", 24, 0, 24, expert=2),),
    }


@pytest.mark.parametrize(
    ("roles", "number", "code"),
    [
        (packed.EXPERTS_APART, packed.EXPERTS, "SHAPE"),
        ({"ffn_up_exps": (16, packed.INNER)}, 0, "SHAPE"),
        ({"ffn_up": (16, packed.INNER)}, 0, "MISSING_TENSOR"),
    ],
)
def test_an_expert_that_the_base_does_not_have(roles, number, code):
    assert refused(base_of("qwen3moe", roles), expert(number)).code == code


def test_one_matrix_does_not_fit_a_stack_of_experts():
    base = base_of("qwen3moe", packed.EXPERTS_APART)
    stack = target("blk.0.ffn_up_exps.weight", 16, packed.INNER)
    problem = refused(base, stack, source_format="gguf", architecture="qwen3moe")
    assert problem.code == "SHAPE"
    assert problem.message == (
        "blk.0.ffn_up_exps.weight is one matrix here and a stack of experts there"
    )


@pytest.mark.parametrize("experts", [1, 3, 5])
def test_a_stack_of_another_number_of_experts(experts):
    base = base_of("qwen3moe", packed.EXPERTS_APART)
    made = target("blk.0.ffn_up_exps.weight", 16, packed.INNER)
    stack = msgspec.structs.replace(made, experts=experts)
    assert refused(base, stack, source_format="gguf", architecture="qwen3moe").code == "SHAPE"


def test_the_same_expert_twice():
    base = base_of("qwen3moe", packed.EXPERTS_APART)
    problem = refused(base, expert(1), expert(2), expert(1, rank=2))
    assert problem.code == "DUPLICATE"
    assert problem.message == (
        f"{expert(1).module} is a second adapter for blk.0.ffn_up_exps.weight"
    )


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("part", "rows"), [("attn_q", 16), ("attn_k", 8), ("attn_v", 8)])
def test_a_part_of_what_another_target_has_whole(part, rows, turned):
    pair = [
        target("blk.0.attn_qkv.weight", 16, 32),
        target(f"blk.0.{part}.weight", 16, rows),
    ]
    if turned:
        pair.reverse()
    problem = refused(TOGETHER, *pair, source_format="gguf", architecture="phi3")
    assert problem.code == "DUPLICATE"
    assert "second adapter for blk.0.attn_qkv.weight" in problem.message


def test_two_paths_to_one_weight():
    base = base_of("gemma3", packed.ATTN_APART)
    other = target("model.language_model.layers.0.self_attn.q_proj", 16, 16)
    assert refused(base, target(Q, 16, 16), other).code == "DUPLICATE"


@pytest.mark.parametrize(
    ("path", "role", "shape"),
    [
        ("q_proj", "attn_q", (16, 16)),
        ("kv_a_proj_with_mqa", "attn_kv_a_mqa", (16, 8)),
        ("kv_b_proj", "attn_kv_b", (8, 32)),
    ],
)
def test_weights_that_llama_cpp_multiplies_without_adapters(path, role, shape):
    base = base_of("deepseek2", {role: shape, "attn_output": (16, 16)})
    heard = target(f"{LAYER}.self_attn.o_proj", 16, 16)
    assert beyond(base, heard, target(f"{LAYER}.self_attn.{path}", *shape)) == [
        "",
        "is a weight that llama.cpp uses without its adapters",
    ]


@pytest.mark.parametrize(
    ("name", "shape"), [("blk.0.attn_kv_b.weight", (8, 32)), ("output.weight", (16, 12))]
)
def test_they_are_known_by_their_gguf_name_too(name, shape):
    base = base_of("deepseek2", {"attn_kv_b": (8, 32)})
    made = target(name, *shape)
    (why,) = beyond(base, made, source_format="gguf", architecture="deepseek2")
    assert why == "is a weight that llama.cpp uses without its adapters"


def test_layers_with_different_heads_refuse_what_depends_on_heads():
    rotated = base_of("llama", packed.ATTN_APART, heads_differ=True)
    assert refused(rotated, target(V, 16, 8), target(Q, 16, 16)).code == "SHAPE"
    assert refused(rotated, target(V, 16, 8), target(K, 16, 8)).code == "SHAPE"
    together = base_of("phi2", packed.ATTN_TOGETHER, heads_differ=True)
    assert refused(together, target(K, 16, 8)).code == "SHAPE"


def test_layers_with_different_heads_take_what_does_not():
    base = base_of("phi3", packed.ATTN_APART, packed.FFN_TOGETHER, heads_differ=True)
    found = pieces(base, target(QKV, 16, 32), target(GATE_UP, 16, 48))
    assert [len(found[module]) for module in (QKV, GATE_UP)] == [3, 1]


def test_a_block_that_the_base_lacks_is_named():
    base = base_of("phi3", {"attn_q": (16, 16), "attn_k": (16, 8)})
    problem = refused(base, target(QKV, 16, 32))
    assert problem.code == "MISSING_TENSOR"
    assert problem.message == f"This base has no blk.0.attn_v.weight for {QKV}"


def test_a_packed_gguf_target_has_no_place_where_the_base_is_split():
    made = target("blk.0.attn_qkv.weight", 16, 32)
    problem = refused(APART, made, source_format="gguf", architecture="phi3")
    assert problem.code == "MISSING_TENSOR"


@pytest.mark.parametrize(
    ("base", "made", "message"),
    [
        (APART, (16, 40), "is 16 x 40 in the adapter and 16 x 32 in this base"),
        (TOGETHER, (16, 24), "is 16 x 24 in the adapter and 16 x 32 in this base"),
        (TOGETHER, (24, 32), "is 24 x 32 in the adapter and 16 x 32 in this base"),
    ],
)
def test_other_rows_or_columns_than_the_blocks_have(base, made, message):
    problem = refused(base, target(QKV, *made))
    assert (problem.code, problem.message) == ("SHAPE", f"{QKV} {message}")


def test_blocks_of_different_widths_are_not_one_module():
    base = base_of("phi3", packed.ATTN_APART | {"attn_k": (12, 8)})
    assert refused(base, target(QKV, 16, 32)).code == "SHAPE"


def test_rows_that_the_heads_do_not_divide():
    base = base_of("phi2", {"attn_qkv": (16, 33)})
    assert refused(base, target(Q, 16, 16)).code == "SHAPE"


@pytest.mark.parametrize(("tensor", "rows"), [("ffn_up", 48), ("attn_qkv", 32)])
def test_a_packed_tensor_is_whole_to_an_adapter_in_gguf_form(tensor, rows):
    name = f"blk.0.{tensor}.weight"
    made = target(name, 16, rows)
    found = pieces(TOGETHER, made, source_format="gguf", architecture="phi3")
    assert found == {name: (Piece(name, start=0, first=0, size=rows),)}
