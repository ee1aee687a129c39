"""Which words of two texts are different, in the order in which they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Part:
    """Some text; `same` where the other text has it too, in the same order."""

    text: str
    same: bool


Parts = tuple[Part, ...]


def differences(texts: Sequence[str]) -> tuple[Parts, ...]:
    """The parts of each text, against the first; of the first, against the second."""
    split = [_WORDS.findall(text) for text in texts]
    others = [split[1] if n == 0 and len(split) > 1 else split[0] for n in range(len(split))]
    return tuple(_parts(words, other) for words, other in zip(split, others, strict=True))


def _parts(words: list[str], other: list[str]) -> Parts:
    matcher = SequenceMatcher(None, other, words, autojunk=False)
    found: list[Part] = []
    for tag, _, _, start, end in matcher.get_opcodes():
        if end > start:
            found.append(Part("".join(words[start:end]), tag == "equal"))
    return tuple(found)
