"""Products of one input that follow each other are edited together, at the last."""

import numpy as np
import pytest

from tests.native.ggml import Graph, numbers, overlay_with, walk
from veneer._overlay import Edit, LowRank, OverlayError, Plan


def _edit(name: str, normal) -> tuple[np.ndarray, Edit]:
    a, b = normal(2, 8), normal(8, 2)
    return b @ a, Edit("mul_mat", name, low_rank=[(LowRank(a, b), 1.0)])


def _decode(overlay, graph: Graph) -> list[bool]:
    graph.compute()
    overlay.begin(np.zeros(3, np.int32))
    wanted = walk(overlay, graph.nodes())
    overlay.finish()
    return wanted


def test_what_followed_once_is_edited_at_the_last_of_them(graph, normal):
    x, w = normal(3, 8), normal(8, 8)
    inputs = graph.tensor(x)
    weights = [graph.tensor(w, name) for name in ("gate", "up")]
    gate = graph.node("mul_mat", weights[0], inputs)
    graph.reshape_3d(gate, 3, 2, 4)
    up = graph.node("mul_mat", weights[1], inputs)
    graph.node("add", gate, up)
    (first, gate_edit), (second, up_edit) = _edit("gate", normal), _edit("up", normal)
    overlay = overlay_with(Plan([gate_edit, up_edit]))
    assert _decode(overlay, graph) == [True, False, True, False]
    for _ in range(2):
        assert _decode(overlay, graph) == [False, False, True, False]
        np.testing.assert_allclose(numbers(gate, 3, 8), x @ (w + first).T, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(numbers(up, 3, 8), x @ (w + second).T, rtol=1e-4, atol=1e-4)
    # Under a plan that leaves the second alone, the first is edited at once.
    overlay.publish(Plan([gate_edit]))
    assert _decode(overlay, graph) == [True, False, False, False]
    np.testing.assert_allclose(numbers(gate, 3, 8), x @ (w + first).T, rtol=1e-4, atol=1e-4)


def test_products_of_two_inputs_never_wait_for_each_other(graph, normal):
    weights = [graph.tensor(normal(8, 8), name) for name in ("gate", "up")]
    for weight in weights:
        graph.node("mul_mat", weight, graph.tensor(normal(3, 8)))
    overlay = overlay_with(Plan([_edit("gate", normal)[1], _edit("up", normal)[1]]))
    for _ in range(2):
        assert _decode(overlay, graph) == [True, True]


def test_nor_do_products_with_something_between_them(graph, normal):
    inputs = graph.tensor(normal(3, 8))
    weights = [graph.tensor(normal(8, 8), name) for name in ("q", "k")]
    q = graph.node("mul_mat", weights[0], inputs)
    graph.node("relu", q)
    graph.node("mul_mat", weights[1], inputs)
    overlay = overlay_with(Plan([_edit("q", normal)[1], _edit("k", normal)[1]]))
    for _ in range(2):
        assert _decode(overlay, graph) == [True, False, True]


def test_in_another_graph_they_are_edited_one_by_one(normal):
    x, w = normal(3, 8), normal(8, 8)
    (delta, gate_edit), (_, up_edit) = _edit("gate", normal), _edit("up", normal)
    overlay = overlay_with(Plan([gate_edit, up_edit]))
    usual, other = Graph(), Graph()
    for graph in (usual, other):
        inputs = graph.tensor(x)
        weights = [graph.tensor(w, name) for name in ("gate", "up")]
        gate = graph.node("mul_mat", weights[0], inputs)
        if graph is other:
            graph.node("relu", gate)
        graph.node("mul_mat", weights[1], inputs)
    _decode(overlay, usual)
    assert _decode(overlay, usual) == [False, True]
    for _ in range(2):
        assert _decode(overlay, other) == [True, False, True]
        np.testing.assert_allclose(numbers(gate, 3, 8), x @ (w + delta).T, rtol=1e-4, atol=1e-4)
    assert _decode(overlay, usual) == [True, True]
    assert _decode(overlay, usual) == [False, True]
    for graph in (usual, other):
        graph.close()


def _gate_and_up(graph: Graph, normal) -> list[int]:
    """Nodes of gate, up, and one that reads gate, of a graph that was decoded once."""
    inputs = graph.tensor(normal(3, 8))
    weights = [graph.tensor(normal(8, 8), name) for name in ("gate", "up")]
    gate = graph.node("mul_mat", weights[0], inputs)
    graph.node("mul_mat", weights[1], inputs)
    graph.node("relu", gate, name="reader")
    return graph.nodes()


def test_a_graph_that_ends_before_what_was_to_follow_is_an_error(graph, normal):
    nodes = _gate_and_up(graph, normal)
    overlay = overlay_with(Plan([_edit("gate", normal)[1], _edit("up", normal)[1]]))
    _decode(overlay, graph)
    overlay.begin(np.zeros(3, np.int32))
    walk(overlay, nodes[:1])
    with pytest.raises(OverlayError, match="ended before a node that was to follow"):
        overlay.finish()


def test_another_node_in_the_place_of_what_was_to_follow_is_an_error_of_that_decode(graph, normal):
    nodes = _gate_and_up(graph, normal)
    overlay = overlay_with(Plan([_edit("gate", normal)[1], _edit("up", normal)[1]]))
    _decode(overlay, graph)
    overlay.begin(np.zeros(3, np.int32))
    walk(overlay, [nodes[0], nodes[2]])
    with pytest.raises(OverlayError, match="reader: came where another node was computed before"):
        overlay.finish()
    assert _decode(overlay, graph) == [True, True, False]
