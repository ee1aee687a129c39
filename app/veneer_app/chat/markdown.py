"""An answer cut into pieces that are drawn one by one: prose, and code between fences.

While an answer grows only its last piece changes, so drawing takes no longer the longer the answer
is. Prose is cut between blocks, where Markdown reads on as if nothing had been before.
"""

import re
from dataclasses import dataclass

_LONG = 1200
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([^`\s]*)[^`]*$")
_CONTINUES = re.compile(r"^(\s|[-*+]\s|\d+[.)]\s|\||>)")
"""How a line begins that may belong to what was before an empty line, or to a block like it."""


@dataclass(frozen=True)
class Prose:
    """Markdown without fenced code."""

    text: str


@dataclass(frozen=True)
class Code:
    """What is between fences, without them. `language` is as written, perhaps empty."""

    language: str
    text: str


Piece = Prose | Code


def pieces(text: str) -> tuple[Piece, ...]:
    """The pieces of a Markdown text, in order. A fence that is not closed goes to the end."""
    found: list[Piece] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None:
            prose.append(lines[at])
            at += 1
            continue
        found += _prose(prose)
        prose = []
        code, at = _code(lines, at + 1, fence)
        found.append(code)
    return (*found, *_prose(prose))


def _code(lines: list[str], start: int, fence: re.Match[str]) -> tuple[Code, int]:
    """The code from line `start` on, and the line after its end."""
    indent, mark, language = fence.groups()
    closing = re.compile(rf"^\s*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    end = next((n for n in range(start, len(lines)) if closing.match(lines[n])), len(lines))
    written = (line.removeprefix(indent) for line in lines[start:end])
    return Code(language[:24], "\n".join(written)), end + 1


def _prose(lines: list[str]) -> list[Piece]:
    """Prose, in pieces that are not much longer than a screen."""
    found: list[Piece] = []
    start = length = 0
    for number, line in enumerate(lines):
        length += len(line)
        if length > _LONG and not line.strip() and _begins(lines, number + 1):
            found.append(Prose("\n".join(lines[start:number])))
            start, length = number + 1, 0
    rest = "\n".join(lines[start:])
    return [*found, Prose(rest)] if rest.strip() else found


def _begins(lines: list[str], number: int) -> bool:
    """Whether a block begins in this line that nothing before it has to do with."""
    return number < len(lines) and bool(lines[number]) and not _CONTINUES.match(lines[number])
