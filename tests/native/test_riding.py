"""Nodes that compute nothing, or a sum, edit the product before them in passing.

Each graph runs in ggml's own scheduler, on two threads. The first pass makes the graph known.
"""

import numpy as np
import pytest

from tests.native.ggml import Graph, numbers, overlay_with
from veneer._overlay import DenseRows, Edit, LowRank, Overlay, Plan, SparseRows

WIDTH, OUT = 24, 40
THREADS = 2


def _decode(overlay: Overlay, graph: Graph, tokens: int) -> list[bool]:
    overlay.begin(np.zeros(tokens, np.int32))
    wanted = graph.schedule(overlay, THREADS)
    overlay.finish()
    return wanted


def _everything(normal) -> tuple[np.ndarray, np.ndarray, Edit]:
    """An edit of all kinds: what the weight becomes beside w, the bias, and the edit."""
    (a, b), (c, d) = (normal(5, WIDTH), normal(OUT, 5)), (normal(3, WIDTH), normal(OUT, 3))
    gains, scale, bias = normal(OUT), normal(OUT), normal(OUT)
    values = normal(2)
    sparse = SparseRows(
        np.array([0, *[1] * (OUT - 1), 2]), np.array([4, 7], np.int32), values, WIDTH
    )
    rows = np.array([1, 30], np.int32)
    replaced = normal(2, WIDTH)

    def merged(w: np.ndarray) -> np.ndarray:
        w = w.copy()
        w[rows] = replaced
        w = w * scale[:, None] + 0.5 * (b @ a) + gains[:, None] * (d @ c)
        w[0, 4] += values[0]
        w[-1, 7] += values[1]
        return w

    low_rank = [(LowRank(a, b), 0.5), (LowRank(c, d), gains)]
    return merged, bias, Edit(
        "mul_mat", "w", low_rank=low_rank, sparse=[(sparse, 1.0)], scale=scale, bias=bias,
        replace=DenseRows(replaced, rows, OUT),
    )  # fmt: skip


def _near(result: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("n", [1, 3, 21])
def test_a_view_edits_the_product_before_it(graph, normal, n):
    w, x = normal(OUT, WIDTH), normal(n, WIDTH)
    y = graph.node("mul_mat", graph.tensor(w, "w"), graph.tensor(x))
    reader = graph.node("relu", graph.reshape_3d(y, n, 2, OUT // 2))
    merged, bias, edit = _everything(normal)
    overlay = overlay_with(Plan([edit]), n_threads=THREADS, rides=True)
    wanted = x @ merged(w).T + bias
    for passes in ([True, False, False], [False] * 3, [False] * 3):
        assert _decode(overlay, graph, n) == passes
        _near(numbers(reader, n, OUT), np.maximum(wanted, 0))


@pytest.mark.parametrize("n", [1, 3, 21])
@pytest.mark.parametrize("form", ["residual", "residual first", "bias"])
def test_a_sum_edits_its_term_and_adds_up(graph, normal, n, form):
    w, x = normal(OUT, WIDTH), normal(n, WIDTH)
    other = normal(1 if form == "bias" else n, OUT)
    y = graph.node("mul_mat", graph.tensor(w, "w"), graph.tensor(x))
    terms = [y, graph.tensor(other)]
    total = graph.node("add", *(terms[::-1] if form == "residual first" else terms))
    merged, bias, edit = _everything(normal)
    overlay = overlay_with(Plan([edit]), n_threads=THREADS, rides=True)
    for passes in ([True, False], [False, False]):
        assert _decode(overlay, graph, n) == passes
        _near(numbers(total, n, OUT), x @ merged(w).T + bias + other)


def test_riding_changes_no_bit_and_leaves_none_behind(graph, normal):
    x = graph.tensor(normal(3, WIDTH))
    y = graph.node("mul_mat", graph.tensor(normal(OUT, WIDTH), "w"), x)
    total = graph.node("add", y, graph.tensor(normal(3, OUT)))
    plan = Plan([_everything(normal)[2]])
    overlay = overlay_with(None, n_threads=THREADS, rides=True)
    _decode(overlay, graph, 3)
    base = numbers(total, 3, OUT)
    overlay.publish(plan)
    _decode(overlay, graph, 3)
    stopped = numbers(total, 3, OUT)
    overlay.publish(None)
    _decode(overlay, graph, 3)
    np.testing.assert_array_equal(numbers(total, 3, OUT), base)
    overlay.publish(plan)
    results = []
    for _ in range(2):
        _decode(overlay, graph, 3)
        results.append(numbers(total, 3, OUT))
    np.testing.assert_array_equal(results, [stopped, stopped])
    # Nothing of the overlay is left in the graph: it computes the base without one.
    graph.compute()
    np.testing.assert_array_equal(numbers(total, 3, OUT), base)


def test_products_of_one_input_ride_together_on_what_follows_the_last(graph, normal):
    w, x = normal(OUT, WIDTH), normal(3, WIDTH)
    inputs = graph.tensor(x)
    k = graph.node("mul_mat", graph.tensor(w, "k"), inputs)
    graph.reshape_3d(k, 3, 2, OUT // 2)
    v = graph.node("mul_mat", graph.tensor(w, "v"), inputs)
    graph.reshape_3d(v, 3, 2, OUT // 2)
    # One A for both, as where an adapter of one packed weight is cut.
    a, of_k, of_v = normal(4, WIDTH), normal(OUT, 4), normal(OUT, 4)
    edits = [
        Edit("mul_mat", name, low_rank=[(LowRank(a, b, share=7), 1.0)])
        for name, b in (("k", of_k), ("v", of_v))
    ]
    plan = Plan(edits)
    overlay = overlay_with(plan, n_threads=THREADS, rides=True)
    assert _decode(overlay, graph, 3) == [True, False, True, False]
    assert _decode(overlay, graph, 3) == [False] * 4
    _near(numbers(k, 3, OUT), x @ (w + of_k @ a).T)
    _near(numbers(v, 3, OUT), x @ (w + of_v @ a).T)
    assert overlay.hits(plan).tolist() == [1, 1]


@pytest.mark.parametrize("options", [{"rides": False}, {"rides": True, "copies": True}])
def test_nothing_rides_where_it_may_not(graph, normal, options):
    y = graph.node("mul_mat", graph.tensor(normal(8, 8), "w"), graph.tensor(normal(3, 8)))
    graph.reshape_3d(y, 3, 2, 4)
    edit = Edit("mul_mat", "w", bias=normal(8))
    overlay = overlay_with(Plan([edit]), n_threads=THREADS, **options)
    for _ in range(2):
        assert _decode(overlay, graph, 3) == [True, False]


@pytest.mark.parametrize("role", ["add", "node"])
def test_a_node_that_is_edited_itself_carries_nothing(graph, normal, role):
    w, x, other, more = normal(8, 8), normal(3, 8), normal(8), normal(8)
    y = graph.node("mul_mat", graph.tensor(w, "w"), graph.tensor(x))
    total = graph.node("add", y, graph.tensor(other, "b"), name="total")
    bias = normal(8)
    edits = [
        Edit("mul_mat", "w", bias=bias), Edit(role, "b" if role == "add" else "total", bias=more)
    ]  # fmt: skip
    overlay = overlay_with(Plan(edits), n_threads=THREADS, rides=True)
    for _ in range(2):
        assert _decode(overlay, graph, 3) == [True, True]
        _near(numbers(total, 3, 8), x @ w.T + bias + other + more)
