"""Random plans and batches: a `ValueError` or a result, never the end of the process.

Under AddressSanitizer (see .ci/run) every read and write beyond its array is a failure here.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.native.ggml import Graph, overlay_with, walk
from veneer._overlay import DenseRows, Edit, LowRank, OverlayError, Plan, SparseRows

pytestmark = pytest.mark.sanitize
CASES = int(os.environ.get("VENEER_FUZZ_CASES", "1000"))

# Role, name, inputs and outputs of the places in the graph below, and of some that are not there.
PLACES = [
    ("mul_mat", "w", 8, 16), ("get_rows", "token_embd.weight", 9, 8),
    ("mul", "w", 16, 16),
    ("node", "y", 16, 16), ("get_rows", "w", 16, 8), ("nothing", "w", 8, 16),
    ("add", "n" * 70, 8, 8),
]  # fmt: skip
KINDS = [np.float32, np.float16, np.uint16] * 4 + [np.float64, np.int32]


@st.composite
def near(draw, size: int) -> int:
    """The size that fits, most of the time."""
    return draw(st.sampled_from([size] * 12 + [0, 1, 2, size - 1, size + 1]))


@st.composite
def ones(draw, *shape: int) -> np.ndarray:
    extra = draw(st.sampled_from([()] * 12 + [(2,)]))
    return np.ones((*extra, *[draw(near(n)) for n in shape]), draw(st.sampled_from(KINDS)))


@st.composite
def low_ranks(draw, n_in: int, n_out: int):
    rank = draw(st.integers(1, 17))
    return LowRank, (draw(ones(rank, n_in)), draw(ones(n_out, rank)), draw(st.integers(0, 2)))


@st.composite
def sparse_rows(draw, n_in: int, n_out: int):
    counts = draw(st.lists(st.integers(-1, 2), min_size=n_out, max_size=n_out))
    starts = np.concatenate([[0], np.cumsum(np.maximum(counts, draw(st.integers(-1, 0))))])
    columns = draw(st.lists(st.integers(0, n_in - 1), min_size=40, max_size=40))
    total = draw(near(int(starts[-1]))) if starts[-1] > 0 else 0
    columns[:1] = draw(st.sampled_from([columns[:1]] * 8 + [[-1], [n_in]]))
    indices = np.array(columns[:total], np.int32)
    values = np.ones(len(indices), np.float32)
    return SparseRows, (starts.astype(np.int64), indices, values, draw(near(n_in)))


@st.composite
def dense_rows(draw, n_in: int, n_out: int):
    rows = draw(st.lists(st.integers(-1, n_out), max_size=4, unique=True).map(sorted))
    if draw(st.booleans()):
        return DenseRows, (draw(ones(n_out, n_in)), None, draw(near(n_out)))
    values = draw(ones(max(len(rows), 1), n_in))
    return DenseRows, (values, np.array(rows, np.int32), draw(near(n_out)))


@st.composite
def vectors(draw, n_out: int) -> np.ndarray | None:
    return draw(st.none() | near(n_out).map(lambda n: np.ones(n, np.float32)))


def _made(recipe):
    maker, arguments = recipe
    return maker(*arguments)


@st.composite
def edits(draw):
    """What makes an edit, or raises."""
    role, name, n_in, n_out = draw(st.sampled_from(PLACES))
    # A weight's rows are what a product gives and what a lookup takes.
    rows = (n_out, n_in) if role == "get_rows" else (n_in, n_out)
    matrices = role in {"mul_mat", "get_rows"} or draw(st.integers(0, 9)) == 0
    gains = st.floats(width=32) | near(n_out).map(lambda n: np.ones(n, np.float32))
    low = draw(st.lists(st.tuples(low_ranks(n_in, n_out), gains), max_size=2 * matrices))
    sparse = draw(st.lists(st.tuples(sparse_rows(*rows), gains), max_size=int(matrices)))
    replace = draw(st.none() | dense_rows(*rows)) if matrices else None
    scale, bias = draw(vectors(n_out)), draw(vectors(n_out))
    return lambda: Edit(
        role, name,
        low_rank=[(_made(f), g) for f, g in low], sparse=[(_made(f), g) for f, g in sparse],
        replace=None if replace is None else _made(replace), scale=scale, bias=bias,
    )  # fmt: skip


@pytest.fixture(scope="module")
def graph():
    """A lookup, a product and a norm, of sizes that some of the edits fit."""
    made = Graph()
    ids = made.tensor(np.array([3, 1, 7], np.int32))
    x = made.node("get_rows", made.tensor(np.ones((9, 8), np.float32), "token_embd.weight"), ids)
    y = made.node("mul_mat", made.tensor(np.ones((16, 8), np.float32), "w"), x, name="y")
    made.node("mul", y, made.tensor(np.ones(16, np.float32), "w"))
    made.compute()
    yield made
    made.close()


@pytest.fixture(scope="module")
def carried_out():
    """Counts edits; random plans that never fit would show nothing."""
    hits: list[int] = []
    yield hits
    assert sum(hits) > CASES / 20


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    recipes=st.lists(st.lists(edits(), max_size=3), max_size=3),
    rows=st.none() | st.lists(st.integers(0, 2), min_size=3, max_size=3),
    tokens=st.sampled_from([[3, 1, 7]] * 4 + [[3, 1], [0, 0, 0]]),
    copies=st.booleans(),
)
def test_no_plan_ends_the_process(graph, carried_out, recipes, rows, tokens, copies):
    plans = []
    for recipe in recipes:
        for make in recipe:
            try:
                plans.append(Plan([make()]))
            except (ValueError, TypeError):
                continue
    overlay = overlay_with(plans[0] if plans else None, n_threads=2, copies=copies)
    try:
        if rows is None:
            overlay.begin(np.array(tokens, np.int32))
        else:
            overlay.begin(np.array(tokens, np.int32), plans, np.array(rows, np.int32))
        walk(overlay, graph.nodes())
        overlay.finish()
    except (ValueError, OverlayError):
        pass
    carried_out += [int(overlay.hits(plan).sum()) for plan in plans]
