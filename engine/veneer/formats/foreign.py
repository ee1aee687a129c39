"""Text from files, made fit to show: it may hold anything, also what fools a terminal or a reader.

Files are made by strangers; what is printed or drawn of them is one bounded line of visible text.
"""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co"})


def one_line(text: str, limit: int = 160) -> str:
    """The text on one line of at most `limit` characters, without control or direction marks."""
    spaced = "".join(" " if c in "\n\r\t" else c for c in text[: limit * 4])
    line = " ".join("".join(c for c in spaced if unicodedata.category(c) not in _HIDDEN).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
