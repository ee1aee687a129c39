"""Several targets on one tensor, or one on several, change the weights as each was trained to."""

import io
import itertools

import gguf
import numpy as np
import pytest

from tests.engine.adapters import packed, tiny
from tests.engine.adapters.packed import base_of
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError

LAYER = "model.layers.0"
QKV, GATE_UP = f"{LAYER}.self_attn.qkv_proj", f"{LAYER}.mlp.gate_up_proj"
Q, K, V = (f"{LAYER}.self_attn.{name}_proj" for name in "qkv")
SEPARATE = {Q: (16, 16), K: (8, 16), V: (8, 16)}
APART = base_of("phi3", packed.ATTN_APART, packed.FFN_APART)
TOGETHER = base_of("phi3", packed.ATTN_TOGETHER, packed.FFN_TOGETHER)
SEPARATE_ON_PACKED = base_of("phi2", packed.ATTN_TOGETHER)


def expert(number, side):
    return f"{LAYER}.mlp.experts.{number}.{side}_proj"


def form(source, base):
    out = io.BytesIO()
    write_runtime_form(read_adapter(source), source, base, out)
    return out.getvalue()


@pytest.fixture
def factors_of(tmp_path):
    """{tensor: (A, B)} of a source's form for a base, through gguf-py."""

    def read(source, base):
        path = tmp_path / "form.gguf"
        path.write_bytes(form(source, base))
        tensors = {t.name: np.array(t.data) for t in gguf.GGUFReader(path).tensors}
        names = {name.rpartition(".lora_")[0] for name in tensors}
        assert len(tensors) == 2 * len(names)
        return {name: (tensors[f"{name}.lora_a"], tensors[f"{name}.lora_b"]) for name in names}

    return read


def change(pair, scaling=1.0):
    """What a pair adds to its weight, (out, in), from the definition in double precision."""
    a, b = pair
    return scaling * (b.astype(np.float64) @ a.astype(np.float64))


def same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def turned(matrix, heads):
    """The rows of each head as llama.cpp rotates them, as loops."""
    result = np.empty_like(matrix)
    size = len(matrix) // heads
    for head, half, i in itertools.product(range(heads), range(2), range(size // 2)):
        result[head * size + 2 * i + half] = matrix[head * size + half * size // 2 + i]
    return result


def ungrouped(matrix):
    """Queries, keys and values of two groups (2 queries, key, value) of 4 rows each, as loops."""
    queries, keys, values = [], [], []
    for group in (matrix[:16], matrix[16:]):
        queries += [*group[0:8]]
        keys += [*group[8:12]]
        values += [*group[12:16]]
    return tuple(np.stack(rows) for rows in (queries, keys, values))


def test_separate_projections_on_a_packed_tensor_by_hand(factors_of):
    made = {
        Q: (np.full((1, 16), 5, np.float32), np.full((16, 1), 1, np.float32)),
        V: (np.full((2, 16), 7, np.float32), np.full((8, 2), 3, np.float32)),
    }
    files = tiny.peft_files(made, r=1, lora_alpha=2, rank_pattern={"v_proj": 2})
    a, b = factors_of(files, SEPARATE_ON_PACKED)["blk.0.attn_qkv.weight"]
    assert a.tolist() == [[5.0] * 16, [7.0] * 16, [7.0] * 16]
    # Rows of queries with their scaling of 2, of keys that have no adapter, of values with 1.
    assert b.tolist() == [[2.0, 0, 0]] * 16 + [[0.0, 0, 0]] * 8 + [[0, 3.0, 3.0]] * 8


def test_separate_projections_of_different_ranks_and_scalings(factors_of):
    made = tiny.factors(SEPARATE, rank={Q: 2, K: 3, V: 1})
    patterns = {"rank_pattern": {"k_proj": 3, "v_proj": 1}, "alpha_pattern": {"v_proj": -5}}
    files = tiny.peft_files(made, r=2, lora_alpha=6, **patterns)
    scalings = {Q: 3.0, K: 2.0, V: -5.0}
    a, b = factors_of(files, SEPARATE_ON_PACKED)["blk.0.attn_qkv.weight"]
    assert (a.shape, b.shape) == ((6, 16), (32, 6))
    same(b @ a, np.concatenate([change(made[name], scalings[name]) for name in (Q, K, V)]))


@pytest.mark.parametrize("missing", [Q, K, V])
def test_a_missing_projection_changes_none_of_its_rows(factors_of, missing):
    made = tiny.factors({name: shape for name, shape in SEPARATE.items() if name != missing})
    a, b = factors_of(tiny.peft_files(made), SEPARATE_ON_PACKED)["blk.0.attn_qkv.weight"]
    rows = {Q: slice(0, 16), K: slice(16, 24), V: slice(24, 32)}
    assert not b[rows[missing]].any()
    for name, pair in made.items():
        same((b @ a)[rows[name]], change(pair, 2.0))


@pytest.mark.parametrize(("only", "first"), [(Q, 0), (K, 16), (V, 24)])
def test_one_projection_alone_changes_its_rows(factors_of, only, first):
    made = tiny.factors({only: SEPARATE[only]})
    a, b = factors_of(tiny.peft_files(made), SEPARATE_ON_PACKED)["blk.0.attn_qkv.weight"]
    wanted = np.zeros((32, 16))
    wanted[first : first + SEPARATE[only][0]] = change(made[only], 2.0)
    same(b @ a, wanted)


def test_a_packed_projection_on_split_tensors_shares_its_a(factors_of):
    made = tiny.factors({QKV: (32, 16), GATE_UP: (48, 16)})
    found = factors_of(tiny.peft_files(made), APART)
    rows = {
        "attn_q": (QKV, 0, 16),
        "attn_k": (QKV, 16, 24),
        "attn_v": (QKV, 24, 32),
        "ffn_gate": (GATE_UP, 0, 24),
        "ffn_up": (GATE_UP, 24, 48),
    }
    assert len(found) == len(rows)
    for role, (module, first, end) in rows.items():
        a, b = found[f"blk.0.{role}.weight"]
        assert np.array_equal(a, made[module][0])
        assert np.array_equal(b, 2 * made[module][1][first:end])


def test_a_packed_projection_on_a_packed_tensor_is_whole(factors_of):
    made = tiny.factors({QKV: (32, 16), GATE_UP: (48, 16)})
    found = factors_of(tiny.peft_files(made), TOGETHER)
    assert len(found) == 2
    for role, module in {"attn_qkv": QKV, "ffn_up": GATE_UP}.items():
        a, b = found[f"blk.0.{role}.weight"]
        assert np.array_equal(a, made[module][0])
        assert np.array_equal(b, 2 * made[module][1])


def test_groups_of_heads_come_apart_on_a_packed_tensor(factors_of):
    module = "transformer.h.0.self_attention.query_key_value"
    made = tiny.factors({module: (32, 16)})
    found = factors_of(tiny.peft_files(made), base_of("falcon", packed.ATTN_TOGETHER))
    a, b = found["blk.0.attn_qkv.weight"]
    same(b @ a, np.concatenate(ungrouped(change(made[module], 2.0))))


def test_groups_of_rotated_heads_come_apart_on_split_tensors(factors_of):
    module = f"{LAYER}.attention.wqkv"
    made = tiny.factors({module: (32, 16)})
    found = factors_of(tiny.peft_files(made), base_of("internlm2", packed.ATTN_APART))
    queries, keys, values = ungrouped(change(made[module], 2.0))
    wanted = {"attn_q": turned(queries, 4), "attn_k": turned(keys, 2), "attn_v": values}
    assert len(found) == 3
    for role, rows in wanted.items():
        a, b = found[f"blk.0.{role}.weight"]
        same(b @ a, rows)


def test_experts_with_missing_and_smaller_ones_by_hand(factors_of):
    made = {
        expert(0, "up"): (np.full((1, 16), 5, np.float32), np.full((24, 1), 1, np.float32)),
        expert(2, "up"): (np.full((2, 16), 7, np.float32), np.full((24, 2), 3, np.float32)),
    }
    files = tiny.peft_files(made, r=1, lora_alpha=2, rank_pattern={"experts.2.up_proj": 2})
    found = factors_of(files, base_of("qwen3moe", packed.EXPERTS_APART))
    assert list(found) == ["blk.0.ffn_up_exps.weight"]
    a, b = found["blk.0.ffn_up_exps.weight"]
    none_a, none_b = [[0.0] * 16] * 2, [[0.0] * 2] * 24
    assert a.tolist() == [[[5.0] * 16, [0.0] * 16], none_a, [[7.0] * 16] * 2, none_a]
    assert b.tolist() == [[[2.0, 0.0]] * 24, none_b, [[3.0] * 2] * 24, none_b]


def test_experts_in_any_order_keep_their_own_change(factors_of):
    sides = {"gate": (24, 16), "up": (24, 16), "down": (16, 24)}
    made = tiny.factors({expert(n, side): sides[side] for n in (3, 0, 1) for side in sides})
    found = factors_of(tiny.peft_files(made), base_of("qwen3moe", packed.EXPERTS_APART))
    assert len(found) == 3
    for side, shape in sides.items():
        a, b = found[f"blk.0.ffn_{side}_exps.weight"]
        for number in range(packed.EXPERTS):
            pair = made.get(expert(number, side))
            wanted = np.zeros(shape) if pair is None else change(pair, 2.0)
            same(b[number] @ a[number], wanted)


def test_one_expert_alone(factors_of):
    made = tiny.factors({expert(1, "down"): (16, 24)})
    found = factors_of(tiny.peft_files(made), base_of("qwen3moe", packed.EXPERTS_APART))
    a, b = found["blk.0.ffn_down_exps.weight"]
    assert (a.shape, b.shape) == ((4, 4, 24), (4, 16, 4))
    same(b[1] @ a[1], change(made[expert(1, "down")], 2.0))
    assert not a[[0, 2, 3]].any()
    assert not b[[0, 2, 3]].any()


def test_gate_and_up_of_experts_in_one_stack(factors_of):
    names = (expert(0, "gate"), expert(0, "up"), expert(1, "up"), expert(3, "gate"))
    ranks = dict(zip(names, (2, 3, 1, 4), strict=True))
    made = tiny.factors(dict.fromkeys(names, (24, 16)), rank=ranks)
    patterns = {name.removeprefix(f"{LAYER}.mlp."): rank for name, rank in ranks.items()}
    files = tiny.peft_files(made, lora_alpha=8, rank_pattern=patterns)
    found = factors_of(files, base_of("qwen3moe", packed.EXPERTS_TOGETHER))
    a, b = found["blk.0.ffn_gate_up_exps.weight"]
    assert (a.shape, b.shape) == ((4, 5, 16), (4, 48, 5))
    for number in range(packed.EXPERTS):
        for side, rows in {"gate": slice(0, 24), "up": slice(24, 48)}.items():
            name = expert(number, side)
            wanted = change(made[name], 8 / ranks[name]) if name in made else np.zeros((24, 16))
            same((b[number] @ a[number])[rows], wanted)


@pytest.mark.parametrize(
    ("base", "shapes", "bad"),
    [
        (SEPARATE_ON_PACKED, {Q: (16, 16), V: (8, 16)}, V),
        (
            base_of("qwen3moe", packed.EXPERTS_APART),
            {expert(0, "up"): (24, 16), expert(3, "up"): (24, 16)},
            expert(3, "up"),
        ),
    ],
)
def test_overflow_in_one_of_several_is_refused_by_its_name(base, shapes, bad):
    made = tiny.factors(shapes)
    made[bad] = (made[bad][0], np.full_like(made[bad][1], 1e36))
    with pytest.raises(FormatError) as caught:
        form(tiny.peft_files(made, lora_alpha=1e5), base)
    assert caught.value.rule == "NONFINITE"
    assert str(caught.value).startswith(f"{bad} overflows")


def test_a_stack_of_experts_in_gguf_form_is_scaled_whole(factors_of):
    rng = np.random.default_rng(5)
    a = rng.standard_normal((packed.EXPERTS, 4, 16)).astype(np.float32)
    b = rng.standard_normal((packed.EXPERTS, 24, 4)).astype(np.float32)
    source = tiny.lora_file(
        {"blk.0.ffn_up_exps.weight": (a, b)}, **{"general.architecture": "qwen3moe"}
    )
    (target,) = read_adapter(source).targets
    assert (target.experts, target.rank, target.count) == (4, 4, 4 * 4 * (16 + 24))
    found_a, found_b = factors_of(source, base_of("qwen3moe", packed.EXPERTS_APART))[
        "blk.0.ffn_up_exps.weight"
    ]
    np.testing.assert_array_equal(found_a, a)
    np.testing.assert_array_equal(found_b, b * np.float32(8 / 4))


@pytest.mark.parametrize(("experts_of_a", "experts_of_b"), [(4, 3), (3, 4)])
def test_factors_for_different_numbers_of_experts(experts_of_a, experts_of_b):
    pair = (np.ones((experts_of_a, 4, 16), np.float32), np.ones((experts_of_b, 24, 4), np.float32))
    with pytest.raises(FormatError, match="different numbers of experts") as caught:
        read_adapter(tiny.lora_file({"blk.0.ffn_up_exps.weight": pair}))
    assert caught.value.rule == "SHAPE"
