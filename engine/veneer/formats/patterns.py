"""Does a module name match a pattern of PEFT's `rank_pattern` or `alpha_pattern`?

PEFT evaluates `re.match(rf"(.*\\.)?({pattern})$", name)`. A pattern from a stranger can keep
Python's `re` busy for years, so the part of the language that people write there (literals, `.`,
classes, groups, `|`, `* + ? {m,n}`, `^`, `$`) is compiled to a state machine that reads each
character once; the answer is the same. Other syntax is refused rather than guessed.

Names are printable ASCII, so a set of characters is a plain frozenset.
"""

from collections.abc import Callable
from dataclasses import dataclass

from veneer.errors import UnsupportedAdapter

_PATTERN_MAX = 512
_STATES_MAX = 2_000
_DEPTH_MAX = 20
_REPEAT_MAX = 64

_ALL = frozenset(map(chr, range(0x20, 0x7F)))
_DIGITS = frozenset("0123456789")
_WORD = frozenset(c for c in _ALL if c.isalnum() or c == "_")
_PLAIN = _WORD | frozenset(".-")
_CLASSES = {"d": _DIGITS, "D": _ALL - _DIGITS, "w": _WORD, "W": _ALL - _WORD}

_ACCEPT = 0


@dataclass(frozen=True)
class _Char:
    allowed: frozenset[str]
    then: int


@dataclass(frozen=True)
class _Split:
    then: tuple[int, ...]


@dataclass(frozen=True)
class _Anchor:
    start: bool
    then: int


_State = _Char | _Split | _Anchor
_Fragment = Callable[[int], int]
"""Adds its states before a given state, and returns the first of its own."""


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. `cost` is the number of steps per character of a name, at most."""

    text: str
    states: tuple[_State, ...]
    start: int

    @property
    def cost(self) -> int:
        """1 for a plain suffix, else the number of states."""
        return len(self.states) or 1

    def matches(self, name: str) -> bool:
        """Whether the pattern matches the end of `name`, starting at a component."""
        return self._run(name) if self.states else _suffix_matches(self.text, name)

    def _run(self, name: str) -> bool:
        current: set[int] = set()
        for position in range(len(name) + 1):
            if position == 0 or name[position - 1] == ".":
                current.add(self.start)
            current = self._closure(current, position, len(name))
            if position < len(name):
                current = self._step(current, name[position])
        return _ACCEPT in current

    def _step(self, current: set[int], char: str) -> set[int]:
        moved = (self.states[index] for index in current)
        return {s.then for s in moved if isinstance(s, _Char) and char in s.allowed}

    def _closure(self, current: set[int], position: int, end: int) -> set[int]:
        seen, stack = set(current), list(current)
        while stack:
            for index in _free_moves(self.states[stack.pop()], position, end):
                if index not in seen:
                    seen.add(index)
                    stack.append(index)
        return seen


def compile_pattern(text: str) -> Pattern:
    """Compile a pattern. Raises `UnsupportedAdapter` for syntax outside the part above."""
    if len(text) > _PATTERN_MAX or not _ALL.issuperset(text):
        raise UnsupportedAdapter(f"The pattern {text[:80]!r} is too long or not plain ASCII.")
    if is_plain(text):
        return Pattern(text, (), 0)
    return _Compiler(text).compile()


def is_plain(text: str) -> bool:
    """Whether a pattern is just the end of a name, which costs nothing to match."""
    return _PLAIN.issuperset(text)


def _suffix_matches(text: str, name: str) -> bool:
    start = len(name) - len(text)
    if start < 0 or (start > 0 and name[start - 1] != "."):
        return False
    return all(want in (".", have) for want, have in zip(text, name[start:], strict=True))


def _free_moves(state: _State, position: int, end: int) -> tuple[int, ...]:
    match state:
        case _Split(then):
            return then
        case _Anchor(start, then):
            return (then,) if position == (0 if start else end) else ()
        case _Char():
            return ()


class _Compiler:
    """Recursive descent over the pattern; fragments are linked from the end to the start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._states: list[_State] = [_Split(())]

    def compile(self) -> Pattern:
        whole = self._alternatives()
        if self._at < len(self._text):
            raise self._refuse()
        # The `$` that PEFT appends.
        start = whole(self._add(_Anchor(start=False, then=_ACCEPT)))
        return Pattern(self._text, tuple(self._states), start)

    def _refuse(self) -> UnsupportedAdapter:
        return UnsupportedAdapter(
            f"The adapter sets ranks or alphas by the pattern {self._text!r}, which uses a kind of "
            "regular expression that Veneer does not evaluate."
        )

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise self._refuse()
        self._at += 1
        return char

    def _skip(self, prefix: str) -> bool:
        found = self._text.startswith(prefix, self._at)
        self._at += len(prefix) if found else 0
        return found

    def _add(self, state: _State) -> int:
        if len(self._states) >= _STATES_MAX:
            raise self._refuse()
        self._states.append(state)
        return len(self._states) - 1

    def _alternatives(self) -> _Fragment:
        options = [self._sequence()]
        while self._skip("|"):
            options.append(self._sequence())
        return lambda then: self._add(_Split(tuple(option(then) for option in options)))

    def _sequence(self) -> _Fragment:
        parts: list[_Fragment] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())

        def link(then: int) -> int:
            for part in reversed(parts):
                then = part(then)
            return then

        return link

    def _repeated(self) -> _Fragment:
        anchor = self._peek() in ("^", "$")
        atom = self._atom()
        bounds = self._bounds()
        if bounds is None:
            return atom
        self._skip("?")  # lazy or greedy: the same names match
        # A second quantifier (`a**`, the possessive `a*+`) means something else to `re`.
        if anchor or self._peek() in ("*", "+", "?", "{"):
            raise self._refuse()
        return self._repeat(atom, *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._skip(sign):
                return bounds
        return self._counted() if self._skip("{") else None

    def _counted(self) -> tuple[int, int | None]:
        low, comma, high = self._until("}").partition(",")
        if not low.isdigit() or (high and not high.isdigit()):
            raise self._refuse()
        least = int(low)
        most = least if not comma else (int(high) if high else None)
        if max(least, most or 0) > _REPEAT_MAX or (most is not None and most < least):
            raise self._refuse()
        return least, most

    def _until(self, end: str) -> str:
        start = self._at
        while self._next() != end:
            pass
        return self._text[start : self._at - 1]

    def _repeat(self, atom: _Fragment, least: int, most: int | None) -> _Fragment:
        def link(then: int) -> int:
            if most is None:
                loop = self._add(_Split(()))
                self._states[loop] = _Split((atom(loop), then))
                then = loop
            else:
                for _ in range(most - least):
                    then = self._add(_Split((atom(then), then)))
            for _ in range(least):
                then = atom(then)
            return then

        return link

    def _atom(self) -> _Fragment:
        char = self._next()
        if char in "*+?{}":
            raise self._refuse()
        if char in "^$":
            return lambda then: self._add(_Anchor(start=char == "^", then=then))
        if char == "(":
            return self._group()
        allowed = self._class() if char == "[" else self._one(char)
        return lambda then: self._add(_Char(allowed, then))

    def _one(self, char: str) -> frozenset[str]:
        if char == ".":
            return _ALL
        return self._escaped() if char == "\\" else frozenset(char)

    def _escaped(self) -> frozenset[str]:
        char = self._next()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _WORD:
            raise self._refuse()
        return frozenset(char)

    def _group(self) -> _Fragment:
        if not self._skip("?:") and self._peek() == "?":
            raise self._refuse()
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._refuse()
        inner = self._alternatives()
        self._depth -= 1
        if not self._skip(")"):
            raise self._refuse()
        return inner

    def _class(self) -> frozenset[str]:
        negated = self._skip("^")
        allowed: frozenset[str] = frozenset()
        if self._peek() == "]":
            raise self._refuse()
        while not self._skip("]"):
            allowed |= self._class_item()
        return _ALL - allowed if negated else allowed

    def _class_item(self) -> frozenset[str]:
        char = self._next()
        # `re` reserves these inside a class, or warns about them.
        if char in "[&~|-":
            raise self._refuse()
        first = self._escaped() if char == "\\" else frozenset(char)
        if self._peek() != "-":
            return first
        self._at += 1
        last = self._next()
        if len(first) != 1 or last in "]\\[-" or last < min(first):
            raise self._refuse()
        return frozenset(c for c in _ALL if min(first) <= c <= last)
