"""Rows of one batch under plans of their own."""

import numpy as np
import pytest

from tests.native.ggml import Graph, numbers, overlay_with, walk
from veneer._overlay import Edit, LowRank, OverlayError, Plan


class _Model:
    """Embedding, a layer, the choice of outputs, a head: what llama.cpp makes of a ubatch."""

    def __init__(self, graph: Graph, normal, ids: list[int], picked: list[int]) -> None:
        self.graph, self.n, self.picked = graph, len(ids), picked
        self.table, self.w = normal(16, 8), normal(8, 8)
        tokens = graph.tensor(np.array(ids, np.int32), "inp_tokens")
        x = graph.node("get_rows", graph.tensor(self.table, "token_embd.weight"), tokens)
        self.y = graph.node("mul_mat", graph.tensor(self.w, "w"), x)
        out = graph.tensor(np.array(picked, np.int32))
        self.z = graph.node("get_rows", self.y, out)
        self.head = graph.node("mul_mat", graph.tensor(self.w, "head"), self.z)
        graph.compute()
        self.base_y, self.x = numbers(self.y, self.n, 8), self.table[ids]
        self.base_head = numbers(self.head, len(picked), 8)
        self.base_z = numbers(self.z, len(picked), 8)


def _low_rank(normal) -> tuple[np.ndarray, LowRank]:
    a, b = normal(2, 8), normal(8, 2)
    return b @ a, LowRank(a, b)


def _on(name: str, low: LowRank) -> Edit:
    return Edit("mul_mat", name, low_rank=[(low, 1.0)])


def _near(result: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)


def test_each_row_has_its_own_plan_before_and_after_outputs_are_picked(graph, normal):
    model = _Model(graph, normal, [3, 9, 3, 1, 7], picked=[1, 4])
    (first, f), (second, s) = _low_rank(normal), _low_rank(normal)
    plans = [Plan([_on("w", f), _on("head", f)]), None, Plan([_on("w", s), _on("head", s)])]
    overlay = overlay_with(None)
    overlay.begin(np.array([3, 9, 3, 1, 7], np.int32), plans, np.array([0, 2, 1, 0, 2], np.int32))
    walk(overlay, graph.nodes())
    overlay.finish()
    deltas = [first, second, 0 * first, first, second]
    wanted = model.base_y + np.stack([d @ x for d, x in zip(deltas, model.x, strict=True)])
    _near(numbers(model.y, 5, 8), wanted)
    # The head of row 1 and row 4: both under the second plan.
    _near(numbers(model.head, 2, 8), model.base_head + model.base_z @ second.T)
    assert overlay.hits(plans[0]).tolist() == [1, 0]
    assert overlay.hits(plans[2]).tolist() == [1, 1]


def test_a_batch_in_ubatches_keeps_each_token_s_plan(normal):
    tokens, rows = np.array([5, 6, 7, 8, 9], np.int32), np.array([0, 0, 1, 1, 0], np.int32)
    (first, f), (second, s) = _low_rank(normal), _low_rank(normal)
    overlay = overlay_with(None)
    overlay.begin(tokens, [Plan([_on("w", f)]), Plan([_on("w", s)])], rows)
    for part in (slice(0, 2), slice(2, 4), slice(4, 5)):
        graph = Graph()
        model = _Model(graph, normal, tokens[part].tolist(), picked=[0])
        walk(overlay, graph.nodes())
        deltas = [(first, second)[p] for p in rows[part]]
        moved = np.stack([d @ x for d, x in zip(deltas, model.x, strict=True)])
        _near(numbers(model.y, model.n, 8), model.base_y + moved)
        graph.close()
    overlay.finish()


def test_rows_in_another_order_than_the_batch_s_are_an_error(graph, normal):
    _Model(graph, normal, [3, 9], picked=[0, 1])
    _, low = _low_rank(normal)
    overlay = overlay_with(None)
    overlay.begin(
        np.array([9, 3], np.int32), [Plan([_on("w", low)]), None], np.array([0, 1], np.int32)
    )
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError, match="did not keep the order of the batch"):
        overlay.finish()


def test_outputs_picked_in_another_order_are_an_error(graph, normal):
    _Model(graph, normal, [3, 9, 4], picked=[2, 0])
    _, low = _low_rank(normal)
    overlay = overlay_with(None)
    plans, rows = [Plan([_on("head", low)]), None], np.array([0, 1, 0], np.int32)
    overlay.begin(np.array([3, 9, 4], np.int32), plans, rows)
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError, match="picked outputs in another order"):
        overlay.finish()


def test_rows_that_nothing_tells_apart_are_an_error(graph, normal):
    low = LowRank(normal(2, 8), normal(8, 2))
    graph.node("mul_mat", graph.tensor(normal(8, 8), "w"), graph.tensor(normal(3, 8)), name="out")
    graph.compute()
    overlay = overlay_with(None)
    rows = np.array([0, 1, 0], np.int32)
    overlay.begin(np.zeros(3, np.int32), [Plan([_on("w", low)]), None], rows)
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError, match="out: nothing says which rows of the batch these are"):
        overlay.finish()


def test_tokens_that_never_came_by_are_an_error(graph, normal):
    _Model(graph, normal, [3, 9], picked=[0, 1])
    _, low = _low_rank(normal)
    overlay = overlay_with(None)
    plans, rows = [Plan([_on("w", low)]), None], np.array([0, 1, 1], np.int32)
    overlay.begin(np.array([3, 9, 4], np.int32), plans, rows)
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError, match="did not decode every token"):
        overlay.finish()


def test_experts_of_each_row_s_own_plan(graph, normal):
    ids, experts = np.array([[1], [0], [1]], np.int32), normal(2, 8, 8)
    table, a, b = normal(16, 8), normal(2, 2, 8), normal(2, 8, 2)
    tokens = np.array([4, 5, 6], np.int32)
    x = graph.node("get_rows", graph.tensor(table, "token_embd.weight"), graph.tensor(tokens))
    inputs = graph.reshape_3d(x, 3, 1, 8)
    y = graph.node("mul_mat_id", graph.tensor(experts, "w"), inputs, graph.tensor(ids))
    graph.compute()
    overlay = overlay_with(None)
    plan = Plan([_on("w", LowRank(a, b))])
    overlay.begin(tokens, [None, plan], np.array([0, 1, 1], np.int32))
    walk(overlay, graph.nodes())
    overlay.finish()
    merged = [experts[1], experts[0] + b[0] @ a[0], experts[1] + b[1] @ a[1]]
    _near(numbers(y, 3, 8), np.stack([w @ table[t] for w, t in zip(merged, tokens, strict=True)]))


def test_a_plan_that_is_published_later_waits_for_the_next_decode(graph, normal):
    model = _Model(graph, normal, [3], picked=[0])
    delta, low = _low_rank(normal)
    overlay = overlay_with(None)
    overlay.begin(np.array([3], np.int32))
    overlay.publish(Plan([_on("w", low)]))
    assert not any(walk(overlay, graph.nodes()))
    overlay.finish()
    overlay.begin(np.array([3], np.int32))
    walk(overlay, graph.nodes())
    overlay.finish()
    _near(numbers(model.y, 1, 8), model.base_y + model.x @ delta.T)
