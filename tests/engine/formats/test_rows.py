"""Rows in the order of the converter, against loops and against small cases by hand."""

import numpy as np
import pytest

from veneer.formats.rows import Heads, block_sizes, row_order


def permuted(numbers, heads):
    """The converter's order, written as loops: row i of half h of a head goes to 2 i + h."""
    result = [0] * len(numbers)
    size = len(numbers) // heads
    for head in range(heads):
        for half in range(2):
            for i in range(size // 2):
                result[head * size + 2 * i + half] = numbers[head * size + half * size // 2 + i]
    return result


def ungrouped(heads, size):
    """Queries, keys and values out of groups of (queries, key, value), written as loops."""
    each = heads.queries // heads.keys
    queries, keys, values = [], [], []
    for group in range(heads.keys):
        start = group * (each + 2) * size
        queries += range(start, start + each * size)
        keys += range(start + each * size, start + (each + 1) * size)
        values += range(start + (each + 1) * size, start + (each + 2) * size)
    return queries, keys, values


def test_first_rows_by_hand():
    assert row_order("same", 3, Heads(1, 1)).tolist() == [0, 1, 2]
    assert row_order("rope_q", 8, Heads(2, 1)).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    # Two groups of one query, one key and one value of one row each.
    assert row_order("grouped", 6, Heads(2, 2)).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize(("order", "heads"), [("rope_q", 4), ("rope_k", 2)])
def test_rotated_rows(order, heads):
    rows = heads * 8
    assert row_order(order, rows, Heads(4, 2)).tolist() == permuted(range(rows), heads)


@pytest.mark.parametrize("heads", [Heads(4, 4), Heads(4, 2), Heads(4, 1)])
def test_grouped_rows(heads):
    size = 6
    rows = heads.together * size
    queries, keys, values = ungrouped(heads, size)
    assert row_order("grouped", rows, heads).tolist() == queries + keys + values
    turned = permuted(queries, heads.queries) + permuted(keys, heads.keys) + values
    assert row_order("grouped_rope", rows, heads).tolist() == turned


@pytest.mark.parametrize(
    ("order", "rows", "heads"),
    [
        ("rope_q", 9, Heads(3, 3)),
        ("rope_q", 8, Heads(0, 0)),
        ("rope_k", 10, Heads(4, 4)),
        ("grouped", 7, Heads(2, 1)),
        ("grouped", 10, Heads(3, 2)),
        ("grouped", 8, Heads(0, 0)),
        ("grouped_rope", 12, Heads(2, 1)),
    ],
)
def test_rows_that_no_heads_explain_have_no_order(order, rows, heads):
    assert row_order(order, rows, heads) is None


def test_blocks():
    assert block_sizes(1, 7, Heads(0, 0)) == (7,)
    assert block_sizes(2, 10, Heads(0, 0)) == (5, 5)
    assert block_sizes(2, 7, Heads(0, 0)) is None
    assert block_sizes(3, 64, Heads(4, 2)) == (32, 16, 16)
    assert block_sizes(3, 63, Heads(4, 2)) is None
    assert block_sizes(3, 64, Heads(0, 0)) is None


@pytest.mark.parametrize("order", ["same", "rope_q", "rope_k", "grouped", "grouped_rope"])
def test_no_row_is_lost_or_doubled(order):
    found = row_order(order, 64, Heads(4, 2))
    assert np.array_equal(np.sort(found), np.arange(64))
