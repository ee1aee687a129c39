"""Patterns match exactly what PEFT's regular expression matches."""

import re
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.formats.mutate import COMMON
from veneer.errors import UnsupportedAdapter
from veneer.formats.patterns import compile_pattern

Q0 = "model.layers.0.self_attn.q_proj"


def peft_matches(pattern, name):
    """What peft.utils.other.get_pattern_key does with one key."""
    return re.match(rf"(.*\.)?({pattern})$", name) is not None


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("q_proj", True),
        ("proj", False),
        ("self_attn.q_proj", True),
        ("self.attn.q_proj", True),
        (Q0, True),
        ("x" + Q0, False),
        ("^" + Q0, True),
        ("^q_proj", False),
        (".*q_proj", True),
        (r"layers\.0\..*", True),
        (r"layers\.(1|2)\..*", False),
        (r"layers\.[0-3]\.self_attn\.[qk]_proj", True),
        (r"(?:.*\.)?layers\.\d+\.self_attn\.(q|v)_proj$", True),
        (r"layers\.\d{2,}\..*", False),
        (r"[^x]_proj", True),
        (r"a|q_proj", True),
        (r"q\_proj?", None),
        ("", False),
    ],
)
def test_examples(pattern, matches):
    if matches is None:
        with pytest.raises(UnsupportedAdapter):
            compile_pattern(pattern)
    else:
        assert peft_matches(pattern, Q0) is matches
        assert compile_pattern(pattern).matches(Q0) is matches


@pytest.mark.parametrize(
    "pattern",
    [
        "a**", "a*+", "a++", "a?+", "*a", "(a", "a)", "[a", "[]a]", "[z-a]", "a{2", "a{,2}", "a{x}",
        "a{3,2}", "a{65}", "(?=a)", "(?i)a", "(?P<x>a)", r"(a)\1", r"\ba", "\\", "^*", "é", "a\nb",
        "a" * 513, "(a{64}){64}", "(" * 21 + ")" * 21, "[[a]", "[a&&b]", "a{2}{2}",
    ],
)  # fmt: skip
def test_other_syntax_is_refused(pattern):
    with pytest.raises(UnsupportedAdapter):
        compile_pattern(pattern)


ATOMS = st.sampled_from(["a", "b", ".", r"\.", r"\d", "[ab]", "[^a]", "[a-c0]", "^", "$", r"\w"])
QUANTIFIED = st.tuples(
    ATOMS, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])
)
SIMPLE = QUANTIFIED.map(lambda x: x[0] if x[0] in "^$" else "".join(x))
PATTERNS = st.recursive(
    st.lists(SIMPLE, max_size=3).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(inner, st.sampled_from(["", "*", "?", "{2}"])).map(lambda x: f"({x[0]}){x[1]}"),
        st.lists(inner, max_size=2).map("".join),
    ),
    max_leaves=6,
)


@COMMON
@given(PATTERNS, st.text("ab0.", max_size=8))
def test_agrees_with_re(pattern, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compile_pattern(pattern).matches(name) is peft_matches(pattern, name)


def test_catastrophic_patterns_are_fast():
    started = time.perf_counter()
    for pattern in ("(a*)*b", "(a|a)*b", "((a?){20}){3}a{20}", "(.*)*(.*)*c"):
        compile_pattern(pattern).matches("a" * 200)
    assert time.perf_counter() - started < 2
