"""Colouring code: what is a keyword, a string, a comment, a number, also over several lines."""

import pytest

from veneer_app.chat.lexer import language_of, spans


def coloured(language: str, code: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    state = 0
    for line in code.split("\n"):
        parts, state = spans(language_of(language), line, state)
        found += [(line[p.start : p.start + p.length], p.kind) for p in parts]
    return found


@pytest.mark.parametrize(
    ("language", "code", "wanted"),
    [
        ("python", "def f(): # x", [("def", "keyword"), ("# x", "comment")]),
        ("py", 'x = "a#b" # c', [('"a#b"', "string"), ("# c", "comment")]),
        ("python", '"""a\nb""" + 1', [('"""', "string"), ("a", "string"), ('b"""', "string"),
                                       ("1", "number")]),
        ("JavaScript", "let u = 'http://x'", [("let", "keyword"), ("'http://x'", "string")]),
        ("c", "int a; /* b\nc */ 0x1F", [("int", "keyword"), ("/*", "comment"), (" b", "comment"),
                                         ("c */", "comment"), ("0x1F", "number")]),
        ("sql", "SELECT 1 -- x", [("SELECT", "keyword"), ("1", "number"), ("-- x", "comment")]),
        ("bash", "echo $#", [("echo", "keyword")]),
        ("unheard-of", "while 'a' # 2", [("'a'", "string"), ("2", "number")]),
        ("python", "definition = classy", []),
    ],
)  # fmt: skip
def test_what_has_a_colour(language: str, code: str, wanted: list[tuple[str, str]]) -> None:
    assert coloured(language, code) == wanted


def test_a_string_that_is_not_closed_ends_with_its_line() -> None:
    assert coloured("python", "x = 'abc\nif y") == [("'abc", "string"), ("if", "keyword")]
