"""Each kind of edit on a node of the real ggml, against the same in numpy's float64."""

import numpy as np
import pytest

from tests.native.ggml import Graph, edited, numbers, overlay_with, walk
from veneer._overlay import (
    DenseRows,
    Edit,
    LowRank,
    Plan,
    SparseRows,
    available_kernels,
    use_kernels,
)

SETS = available_kernels()


@pytest.fixture(params=SETS)
def kernels(request: pytest.FixtureRequest):
    use_kernels(request.param)
    yield
    use_kernels(SETS[0])


def _stored(array: np.ndarray, kind: str) -> np.ndarray:
    """The array in a type of factors; BF16 as the upper halves of float32."""
    if kind == "bf16":
        return (array.view(np.uint32) >> 16).astype(np.uint16)
    return array.astype(kind)


def _exact(array: np.ndarray) -> np.ndarray:
    """What the stored numbers mean, in float64."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def _product(graph: Graph, w: np.ndarray, x: np.ndarray) -> int:
    return graph.node("mul_mat", graph.tensor(w, "w"), graph.tensor(x), name="y")


def _near(result: np.ndarray, wanted: np.ndarray) -> None:
    assert np.abs(wanted).max() > 0.1
    np.testing.assert_allclose(result, wanted, rtol=2e-5, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", ["float32", "float16", "bf16"])
@pytest.mark.parametrize(
    ("n", "n_in", "n_out", "rank"),
    [
        (1, 8, 16, 4),
        (1, 37, 53, 5),
        (2, 64, 40, 1),
        (3, 33, 7, 8),
        (7, 576, 192, 16),
        (100, 48, 17, 9),
    ],
)
def test_a_low_rank_product_is_added(kernels, graph, normal, kind, n, n_in, n_out, rank):
    w, x = normal(n_out, n_in), normal(n, n_in)
    a, b = _stored(normal(rank, n_in), kind), _stored(normal(n_out, rank), kind)
    y = _product(graph, w, x)
    edit = Edit("mul_mat", "w", low_rank=[(LowRank(a, b), -0.75)])
    assert edited(graph, edit, tokens=n) == [1]
    x64 = x.astype(np.float64)
    wanted = x64 @ w.T.astype(np.float64) - 0.75 * (x64 @ _exact(a).T) @ _exact(b).T
    _near(numbers(y, n, n_out), wanted)


@pytest.mark.parametrize("options", [{"n_threads": 2}, {"n_threads": 2, "copies": True}])
def test_several_threads_and_copies_give_what_one_gives_in_place(graph, normal, options):
    y = _product(graph, normal(96, 128), normal(64, 128))
    edit = Edit("mul_mat", "w", low_rank=[(LowRank(normal(32, 128), normal(96, 32)), 1.0)])
    edited(graph, edit, tokens=64)
    alone = numbers(y, 64, 96)
    edited(graph, edit, tokens=64, **options)
    assert np.array_equal(numbers(y, 64, 96), alone)


def test_everything_on_one_product_in_its_order(kernels, graph, normal, rng):
    w, x = normal(20, 24), normal(5, 24)
    y = _product(graph, w, x)
    a, b, gain = normal(3, 24), normal(20, 3), normal(20)
    a2, b2 = normal(2, 24), normal(20, 2)
    sparse = np.where(rng.random((20, 24)) < 0.1, normal(20, 24), 0).astype(np.float32)
    rows, values = np.array([2, 11, 19], np.int32), normal(3, 24)
    scale, bias = normal(20), normal(20)
    edit = Edit(
        "mul_mat", "w",
        low_rank=[(LowRank(a, b), gain), (LowRank(a2, b2), 0.5)],
        sparse=[(_csr(sparse), 2.0)],
        replace=DenseRows(values, rows, 20), scale=scale, bias=bias,
    )  # fmt: skip
    edited(graph, edit, tokens=5)
    w = w.astype(np.float64)
    w[rows] = values
    merged = scale[:, None] * w + gain[:, None] * (b @ a) + 0.5 * b2 @ a2 + 2 * sparse
    _near(numbers(y, 5, 20), x @ merged.T + bias)


def _csr(dense: np.ndarray) -> SparseRows:
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int64)
    columns = np.nonzero(dense)[1].astype(np.int32)
    return SparseRows(indptr, columns, dense[dense != 0], dense.shape[1])


@pytest.mark.parametrize("kind", ["float32", "float16", "bf16"])
def test_a_head_replaced_as_a_whole_by_several_threads(kernels, graph, normal, kind):
    w, x, head = normal(3000, 64), normal(3, 64), _stored(normal(3000, 64), kind)
    y = _product(graph, w, x)
    edit = Edit("mul_mat", "w", replace=DenseRows(head, None, 3000))
    edited(graph, edit, tokens=3, n_threads=2)
    _near(numbers(y, 3, 3000), x.astype(np.float64) @ _exact(head).T)


@pytest.mark.parametrize("kind", ["float32", "float16", "bf16"])
def test_everything_on_a_lookup(kernels, graph, normal, rng, kind):
    table, ids = normal(30, 18), np.array([4, 29, 4, 0, 7], np.int32)
    y = graph.node("get_rows", graph.tensor(table, "w"), graph.tensor(ids))
    a, b = _stored(normal(3, 30), kind), _stored(normal(18, 3), kind)
    sparse = np.where(rng.random((30, 18)) < 0.2, normal(30, 18), 0).astype(np.float32)
    rows, values = np.array([4, 9], np.int32), _stored(normal(2, 18), kind)
    scale, bias, gain = normal(18), normal(18), normal(18)
    edit = Edit(
        "get_rows", "w",
        low_rank=[(LowRank(a, b), gain)], sparse=[(_csr(sparse), -1.0)],
        replace=DenseRows(values, rows, 30), scale=scale, bias=bias,
    )  # fmt: skip
    assert edited(graph, edit, tokens=5) == [1]
    table = table.astype(np.float64)
    table[rows] = _exact(values)
    new = table * scale + gain * (_exact(b) @ _exact(a)).T - sparse + bias
    _near(numbers(y, 5, 18), new[ids])


def test_a_tied_weight_has_two_places(graph, normal):
    table, ids, x = normal(9, 6), np.array([3, 8], np.int32), normal(2, 6)
    w = graph.tensor(table, "token_embd.weight")
    lookup = graph.node("get_rows", w, graph.tensor(ids))
    head = graph.node("mul_mat", w, graph.tensor(x))
    edited(graph, Edit("get_rows", "token_embd.weight", bias=np.ones(6, np.float32)), tokens=2)
    np.testing.assert_array_equal(numbers(lookup, 2, 6), table[ids] + 1)
    np.testing.assert_allclose(numbers(head, 2, 9), x @ table.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("role", "base"), [("mul", np.multiply), ("add", np.add)])
def test_a_norm_s_gain_and_bias(graph, normal, role, base):
    x, gain, ratio, bias = normal(4, 10), normal(10), normal(10), normal(10)
    y = graph.node(role, graph.tensor(x), graph.tensor(gain, "norm"))
    edited(graph, Edit(role, "norm", scale=ratio, bias=bias), tokens=4)
    np.testing.assert_allclose(numbers(y, 4, 10), base(x, gain) * ratio + bias, rtol=1e-6)


def test_a_node_by_its_own_name(graph, normal):
    x, direction = normal(4, 10), normal(10)
    y = graph.node("add", graph.tensor(x), graph.tensor(x), name="l_out-3")
    z = graph.node("relu", y, name="l_out-30")
    assert edited(graph, Edit("node", "l_out-3", bias=direction), tokens=4) == [1]
    np.testing.assert_array_equal(numbers(y, 4, 10), x + x + direction)
    np.testing.assert_array_equal(numbers(z, 4, 10), np.maximum(x + x, 0))


@pytest.mark.parametrize("broadcast", [True, False])
def test_a_stack_of_experts(kernels, graph, normal, rng, broadcast):
    experts, used, tokens, n_in, n_out, rank = 5, 2, 7, 12, 20, 3
    w, x = normal(experts, n_out, n_in), normal(tokens, 1 if broadcast else used, n_in)
    ids = np.stack([rng.permutation(experts)[:used] for _ in range(tokens)]).astype(np.int32)
    y = graph.node("mul_mat_id", graph.tensor(w, "w"), graph.tensor(x), graph.tensor(ids), name="y")
    a, b = normal(experts, rank, n_in), normal(experts, n_out, rank)
    edit = Edit("mul_mat", "w", low_rank=[(LowRank(a, b), 0.5)])
    assert edited(graph, edit, tokens=tokens) == [1]
    merged = w.astype(np.float64) + 0.5 * b @ a
    inputs = np.broadcast_to(x, (tokens, used, n_in))
    _near(numbers(y, tokens, used, n_out), np.einsum("tuoi,tui->tuo", merged[ids], inputs))


def test_a_shared_a_is_multiplied_for_each_new_input(graph, normal):
    w, x, later = normal(6, 8), normal(3, 8), normal(3, 8)
    a, first, second = normal(2, 8), normal(6, 2), normal(6, 2)
    xs = [graph.tensor(x), graph.tensor(later)]
    ws = [graph.tensor(w, "q"), graph.tensor(w, "k")]
    ys = [graph.node("mul_mat", ws[i], xs[j]) for j in (0, 1) for i in (0, 1)]
    edits = [
        Edit("mul_mat", name, low_rank=[(LowRank(a, b, share=1), 1.0)])
        for name, b in (("q", first), ("k", second))
    ]
    assert edited(graph, *edits, tokens=3) == [2, 2]
    wanted = [inputs @ (w + b @ a).T for inputs in (x, later) for b in (first, second)]
    for y, right in zip(ys, wanted, strict=True):
        _near(numbers(y, 3, 6), right)


def test_a_shared_a_is_multiplied_again_in_the_next_ubatch(graph, normal):
    """It has the same tensors, with other numbers in them."""
    w, x, later, a, b = normal(6, 8), normal(3, 8), normal(3, 8), normal(2, 8), normal(6, 2)
    inputs = graph.tensor(x)
    y = graph.node("mul_mat", graph.tensor(w, "q"), inputs)
    overlay = overlay_with(Plan([Edit("mul_mat", "q", low_rank=[(LowRank(a, b, share=9), 1.0)])]))
    overlay.begin(np.zeros(6, np.int32))
    for numbers_now in (x, later):
        graph.put(inputs, numbers_now)
        graph.compute()
        walk(overlay, graph.nodes())
        _near(numbers(y, 3, 6), numbers_now @ (w + b @ a).T)
    overlay.finish()


def test_factors_shared_by_threads_give_what_one_gives(kernels, graph, normal):
    """Enough bytes for threads to share them, and everything else of an edit around them."""
    w, x = normal(530, 300), normal(3, 300)
    y = _product(graph, w, x)
    edit = Edit(
        "mul_mat", "w",
        low_rank=[(LowRank(normal(33, 300), normal(530, 33)), normal(530))] * 2,
        sparse=[(_csr(np.eye(530, 300, dtype=np.float32)), 3.0)],
        replace=DenseRows(normal(2, 300), np.array([7, 529], np.int32), 530),
        scale=normal(530), bias=normal(530),
    )  # fmt: skip
    edited(graph, edit, tokens=3)
    alone = numbers(y, 3, 530)
    edited(graph, edit, tokens=3, n_threads=2)
    assert np.array_equal(numbers(y, 3, 530), alone)


def test_a_row_s_result_does_not_depend_on_what_else_is_in_the_batch(kernels, normal):
    w, x, a, b = normal(70, 90), normal(11, 90), normal(9, 90), normal(70, 9)
    edit = Edit("mul_mat", "w", low_rank=[(LowRank(a, b), 1.0)])
    results = []
    for rows in (slice(0, 11), slice(4, 5), slice(3, 6)):
        graph = Graph()
        # The base's own product does depend on it: from a weight of zeros only the edit is left.
        y = _product(graph, 0 * w, x[rows])
        edited(graph, edit, tokens=rows.stop - rows.start)
        results.append(numbers(y, rows.stop - rows.start, 70))
        graph.close()
    assert np.array_equal(results[1][0], results[0][4])
    assert np.array_equal(results[2], results[0][3:6])
