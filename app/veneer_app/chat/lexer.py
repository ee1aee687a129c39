"""What the words of a line of code are, near enough to colour them: no grammar, only looks.

One table serves many languages: most differ in their keywords and in how a comment begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["keyword", "string", "comment", "number"]


@dataclass(frozen=True)
class Span:
    """A part of a line, from `start` on."""

    start: int
    length: int
    kind: Kind


@dataclass(frozen=True)
class Language:
    """How a language looks. `blocks` are (begin, end, kind) of what may go over several lines."""

    keywords: frozenset[str]
    comments: tuple[str, ...] = ("//",)
    blocks: tuple[tuple[str, str, Kind], ...] = (("/*", "*/", "comment"),)
    folds: bool = False
    """Whether upper and lower case are the same."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = """auto bool break case char class const constexpr continue default delete do double else enum
extern false float for friend goto if inline int long mutable namespace new nullptr operator
override private protected public return short signed sizeof static struct switch template this
throw true try catch typedef typename union unsigned using virtual void volatile while"""
_JAVA = """abstract as async await boolean break byte case catch char class const continue data
default do double else enum export extends false final finally float for fun function if implements
import in instanceof int interface internal is let long namespace new null object of override
package private protected public readonly return short static super switch synchronized this throw
throws true try type typeof undefined val var void when while yield"""
_PYTHON = """False None True and as assert async await break case class continue def del elif else
except finally for from global if import in is lambda match nonlocal not or pass raise return self
try while with yield"""
_RUST = """as async await break const continue crate dyn else enum extern false fn for if impl in
let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use
where while"""
_GO = """break case chan const continue default defer else fallthrough false for func go goto if
import interface map nil package range return select struct switch true type var"""
_SHELL = """case do done elif else esac exit export fi for function if in local return set then
until while cd echo sudo"""
_SQL = """add all alter and as asc between by case create delete desc distinct drop else end exists
from full group having in index inner insert into is join key left like limit not null on or order
outer primary references right select set table then union unique update values view when where
with"""
_RUBY = """begin break case class def do else elsif end ensure false for if in module next nil not
or require rescue return self super then true unless until when while yield local function"""

_PLAIN = Language(frozenset(), comments=(), blocks=())
_PY = Language(_words(_PYTHON), ("#",), (('"""', '"""', "string"), ("'''", "'''", "string")))
_LANGUAGES = {
    "c cpp c++ h hpp cc cuda objc swift": Language(_words(_C)),
    "java js javascript ts typescript jsx tsx kotlin kt cs csharp c# dart scala php": Language(
        _words(_JAVA), blocks=(("/*", "*/", "comment"), ("`", "`", "string"))
    ),
    "python py python3": _PY,
    "rust rs": Language(_words(_RUST)),
    "go golang": Language(_words(_GO), blocks=(("/*", "*/", "comment"), ("`", "`", "string"))),
    "bash sh shell zsh console": Language(_words(_SHELL), ("#",), ()),
    "sql": Language(_words(_SQL), ("--",), folds=True),
    "ruby rb": Language(_words(_RUBY), ("#",), ()),
    "lua": Language(_words(_RUBY), ("--",), (("--[[", "]]", "comment"),)),
    "json yaml yml toml ini": Language(_words("true false null yes no"), ("#",), ()),
    "css scss": Language(frozenset()),
    "html xml svg": Language(frozenset(), (), (("<!--", "-->", "comment"),)),
}
_BY_NAME = {name: language for names, language in _LANGUAGES.items() for name in names.split()}
_STRING = r""""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?"""
_NUMBER = r"\b(?:0[xXbBoO][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"
_WORD = r"[A-Za-z_]\w*"


def language_of(name: str) -> Language:
    """The language of a fence; where it is not known, one in which only values are seen."""
    return _BY_NAME.get(name.lower(), _PLAIN)


def spans(language: Language, line: str, state: int) -> tuple[tuple[Span, ...], int]:
    """The parts of a line that have a colour, and the state in which the next line begins.

    `state` is 0, or one more than the number of the block that the line begins in.
    """
    found: list[Span] = []
    at = 0
    while at < len(line) or state:
        if state:
            at, state = _inside(language, line, at, state, found)
            if state:
                break
            continue
        match = _scanner(language).search(line, at)
        if match is None:
            break
        at, state = _take(language, match, found)
    return tuple(found), state


def _inside(
    language: Language, line: str, at: int, state: int, found: list[Span]
) -> tuple[int, int]:
    """Go to the end of a block that is open at `at`."""
    _, closing, kind = language.blocks[state - 1]
    end = line.find(closing, at)
    stop = len(line) if end < 0 else end + len(closing)
    _add(found, at, stop, kind)
    return stop, state if end < 0 else 0


def _take(language: Language, match: re.Match[str], found: list[Span]) -> tuple[int, int]:
    """Note what was found; gives where to go on, and the block that it opens."""
    start, stop = match.span()
    group = match.lastgroup or ""
    if group.startswith("block"):
        number = int(group[5:])
        _add(found, start, stop, language.blocks[number][2])
        return stop, number + 1
    if group == "word":
        word = match.group().lower() if language.folds else match.group()
        if word in language.keywords:
            _add(found, start, stop, "keyword")
    elif group == "comment":
        stop = len(match.string)
        _add(found, start, stop, "comment")
    else:
        _add(found, start, stop, "string" if group == "string" else "number")
    return stop, 0


def _add(found: list[Span], start: int, stop: int, kind: Kind) -> None:
    if stop > start:
        found.append(Span(start, stop - start, kind))


_scanners: dict[Language, re.Pattern[str]] = {}


def _scanner(language: Language) -> re.Pattern[str]:
    if language not in _scanners:
        _scanners[language] = re.compile("|".join(_alternatives(language)))
    return _scanners[language]


def _alternatives(language: Language) -> Iterator[str]:
    for number, (opening, _, _) in enumerate(language.blocks):
        yield f"(?P<block{number}>{re.escape(opening)})"
    if language.comments:
        # A # within a word or a colour begins no comment.
        yield "(?P<comment>(?<![^\\s;{}()])(?:" + "|".join(map(re.escape, language.comments)) + "))"
    yield f"(?P<string>{_STRING})"
    yield f"(?P<number>{_NUMBER})"
    yield f"(?P<word>{_WORD})"
