"""Nothing is edited by halves: what does not fit is an error, of the plan or of the decode."""

import gc

import numpy as np
import pytest

from tests.native.ggml import Graph, edited, overlay_with, walk
from veneer._overlay import DenseRows, Edit, LowRank, OverlayError, Plan, SparseRows, use_kernels

F = np.float32


def _zeros(*shape: int, dtype: type = F) -> np.ndarray:
    return np.zeros(shape, dtype)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _csr(indptr: list[int], indices: list[int], n_cols: int = 4) -> SparseRows:
    values = np.ones(len(indices), F)
    return SparseRows(np.array(indptr, np.int64), _ints(*indices), values, n_cols)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: LowRank(_zeros(2, 8), _zeros(8, 3)), "different ranks"),
        (lambda: LowRank(_zeros(8), _zeros(8)), "2 or 3 dimensions"),
        (lambda: LowRank(_zeros(2, 8), _zeros(1, 8, 2)), "2 or 3 dimensions"),
        (lambda: LowRank(_zeros(3, 2, 8), _zeros(4, 8, 2)), "numbers of experts"),
        (lambda: LowRank(_zeros(0, 8), _zeros(8, 0)), "empty or too large"),
        (lambda: LowRank(_zeros(2, 8, dtype=np.float64), _zeros(8, 2)), "numbers are float32"),
        (lambda: LowRank(_zeros(2, 8, dtype=np.int16), _zeros(8, 2)), "numbers are float32"),
        (lambda: _csr([0, 1], [4]), "column is out of range"),
        (lambda: _csr([0, 1], [-1]), "column is out of range"),
        (lambda: _csr([0, 2, 1], [0]), "indptr"),
        (lambda: _csr([0, 2, 1, 2], [0, 1]), "indptr falls"),
        (lambda: _csr([0, 5], [0]), "indptr does not span"),
        (lambda: _csr([1, 1], [0]), "indptr does not span"),
        (lambda: _csr([0], []), "disagree"),
        (lambda: SparseRows(np.array([0, 1]), _ints(0), _zeros(2), 4), "disagree"),
        (lambda: DenseRows(_zeros(2, 4), _ints(0), 9), "disagree"),
        (lambda: DenseRows(_zeros(2, 4), None, 9), "disagree"),
        (lambda: DenseRows(_zeros(2, 4), _ints(0, 9), 9), "row is out of range"),
        (lambda: DenseRows(_zeros(2, 4), _ints(3, 3), 9), "do not rise"),
        (lambda: Edit("mul_mat", "w"), "does nothing"),
        (lambda: Edit("matmul", "w", bias=_zeros(2)), "no role matmul"),
        (lambda: Edit("mul", "", bias=_zeros(2)), "1 to 63 bytes"),
        (lambda: Edit("mul", "w" * 64, bias=_zeros(2)), "1 to 63 bytes"),
        (lambda: Edit("mul", "w", bias=_zeros(2), scale=_zeros(3)), "disagree about n_out"),
        (lambda: Edit("mul", "w", replace=DenseRows(_zeros(2, 4), None, 2)), "scale and bias only"),
        (lambda: Edit("get_rows", "w", low_rank=[(_experts(), 1.0)]), "only in the role mul_mat"),
        (
            lambda: Edit("mul_mat", "w", low_rank=[(_experts(), 1.0)], bias=_zeros(8)),
            "low_rank only",
        ),
        (
            lambda: Edit("mul_mat", "w", low_rank=[(_pair(), 1.0), (_experts(), 1.0)]),
            "about experts",
        ),
        (lambda: Edit("mul_mat", "w", low_rank=[(_pair(), _zeros(3))]), "disagree about n_out"),
        (lambda: Plan([_bias("w"), _bias("w")]), "two edits of w"),
        (lambda: use_kernels("mmx"), "no kernels mmx"),
    ],
)
def test_parts_that_make_no_sense_are_refused(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


def _pair() -> LowRank:
    return LowRank(_zeros(2, 8), _zeros(8, 2))


def _experts() -> LowRank:
    return LowRank(_zeros(3, 2, 8), _zeros(3, 8, 2))


def _bias(name: str, size: int = 8) -> Edit:
    return Edit("mul_mat", name, bias=_zeros(size))


@pytest.mark.parametrize(
    ("plans", "rows", "reason"),
    [
        ([None], None, "come together"),
        ([], _ints(0, 0), "every token needs a plan"),
        ([None], _ints(0), "every token needs a plan"),
        ([None], _ints(0, 1), "a plan that is not there"),
        ([None], _ints(0, -1), "a plan that is not there"),
    ],
)
def test_a_batch_that_makes_no_sense_is_refused(plans, rows, reason):
    with pytest.raises(ValueError, match=reason):
        overlay_with(None).begin(_ints(1, 2), plans, rows)


def _node(graph: Graph, w: tuple[int, ...], x: tuple[int, ...]) -> None:
    graph.node("mul_mat", graph.tensor(_zeros(*w), "w"), graph.tensor(_zeros(*x)), name="y")


@pytest.mark.parametrize(
    ("edit", "w", "x", "reason"),
    [
        (_bias("w", 7), (8, 8), (1, 8), "y: has another size than its edit"),
        (
            Edit("mul_mat", "w", low_rank=[(_pair(), 1.0)]),
            (8, 4),
            (1, 4),
            "y: has another input size",
        ),
        (
            Edit("mul_mat", "w", low_rank=[(_pair(), 1.0)]),
            (2, 8, 8),
            (2, 1, 8),
            "number of matrices",
        ),
        (Edit("mul_mat", "w", low_rank=[(_experts(), 1.0)]), (8, 8), (1, 8), "has no experts"),
    ],
)
def test_a_node_that_does_not_fit_its_edit_is_an_error_of_the_decode(graph, edit, w, x, reason):
    _node(graph, w, x)
    with pytest.raises(OverlayError, match=reason):
        edited(graph, edit)


def test_experts_without_a_stack_are_an_error(graph):
    w, x = graph.tensor(_zeros(3, 8, 8), "w"), graph.tensor(_zeros(1, 1, 8))
    graph.node("mul_mat_id", w, x, graph.tensor(np.zeros((1, 2), np.int32)), name="y")
    with pytest.raises(OverlayError, match="y: has experts, its edit none"):
        edited(graph, _bias("w"))


def test_a_vocabulary_of_another_size_is_an_error(graph):
    graph.node("get_rows", graph.tensor(_zeros(5, 8), "w"), graph.tensor(_ints(1)), name="y")
    edit = Edit("get_rows", "w", low_rank=[(_pair(), 1.0)])
    with pytest.raises(OverlayError, match="y: has another vocabulary"):
        edited(graph, edit)


def test_an_input_that_is_not_f32_is_an_error(graph):
    x = graph.tensor(_zeros(1, 8, dtype=np.float16))
    graph.node("mul_mat", graph.tensor(_zeros(8, 8, dtype=np.float16), "w"), x, name="y")
    with pytest.raises(OverlayError, match="y: has an input that is not F32"):
        edited(graph, Edit("mul_mat", "w", low_rank=[(_pair(), 1.0)]))


def test_a_decode_without_begin_is_an_error_of_the_next_one(graph):
    _node(graph, (8, 8), (1, 8))
    graph.compute()
    overlay = overlay_with(Plan([_bias("w")]))
    assert walk(overlay, graph.nodes()) == [False]
    overlay.begin(_ints(0))
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError, match="a decode ran without begin"):
        overlay.finish()


def test_an_error_is_told_once(graph):
    _node(graph, (8, 8), (1, 8))
    overlay = overlay_with(Plan([_bias("w", 7)]))
    graph.compute()
    overlay.begin(_ints(0))
    walk(overlay, graph.nodes())
    with pytest.raises(OverlayError):
        overlay.finish()
    overlay.publish(None)
    overlay.begin(_ints(0))
    walk(overlay, graph.nodes())
    overlay.finish()


def test_a_weight_that_never_comes_has_no_hits(graph):
    _node(graph, (8, 8), (1, 8))
    assert edited(graph, _bias("w"), _bias("another")) == [1, 0]


def test_a_plan_lives_until_the_decode_that_uses_it_is_over(graph, normal):
    """Under AddressSanitizer a plan that went too early is a report."""
    _node(graph, (8, 8), (1, 8))
    graph.compute()
    overlay = overlay_with(Plan([Edit("mul_mat", "w", low_rank=[(_pair(), 1.0)])]))
    overlay.begin(_ints(0))
    overlay.publish(None)
    gc.collect()
    assert walk(overlay, graph.nodes()) == [True]
    overlay.finish()


def test_bytes_are_counted_once_for_shared_factors():
    low = LowRank(_zeros(2, 8, dtype=np.float16), _zeros(16, 2, dtype=np.float16))
    assert low.nbytes == 2 * (2 * 8 + 2 * 16)
    edits = [Edit("mul_mat", name, low_rank=[(low, 1.0)]) for name in ("a", "b")]
    assert Plan(edits).nbytes == low.nbytes
