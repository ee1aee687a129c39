"""Cutting an answer into pieces: nothing is lost, and what is above does not change any more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veneer_app.chat.markdown import Code, Prose, pieces


def test_code_is_taken_out_with_its_language() -> None:
    text = "Look:\n\n```python\nx = 1\n```\nDone."
    assert pieces(text) == (Prose("Look:\n"), Code("python", "x = 1"), Prose("Done."))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```\na\n", Code("", "a\n")),
        ("~~~ js\n```\n~~~", Code("js", "```")),
        ("````\n```\n````", Code("", "```")),
        ("   ```c\n   int x;\n   ```", Code("c", "int x;")),
        ("```", Code("", "")),
    ],
)
def test_fences_of_all_kinds(text: str, code: Code) -> None:
    assert pieces(text) == (code,)


def test_inline_code_is_no_fence() -> None:
    assert pieces("```x``` and `y`") == (Prose("```x``` and `y`"),)


def test_long_prose_is_cut_where_a_block_begins_and_never_within_a_list() -> None:
    paragraph = "word " * 300
    items = "\n\n".join(f"{n}. {paragraph}" for n in range(1, 4))
    found = pieces(f"{paragraph}\n\n{items}\n\n  more\n\nAfter.")
    assert [p.text[:3] for p in found] == ["wor", "Aft"]
    assert len(pieces(f"{paragraph}\n\n{paragraph}\n\n{paragraph}")) == 3


LINES = st.lists(st.sampled_from(["a", "", "- b", "```", "```py", "  c", "x" * 700]), max_size=30)


@given(LINES)
def test_no_word_is_lost_and_what_was_shown_first_stays_first(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "\n".join(p.text for p in pieces(text)).split()
    assert [w for w in kept if "`" not in w] == [w for w in text.split() if "`" not in w]
    # A longer text changes nothing before the last piece of a shorter one.
    before = pieces("\n".join(lines[: len(lines) // 2]))[:-1]
    assert pieces(text)[: len(before)] == before
