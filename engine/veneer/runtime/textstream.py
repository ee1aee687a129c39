"""From token bytes to text that can be shown: whole characters only, and stopped in time.

A token may end in the middle of a character, and a stop string may span tokens. So bytes are held
back until they are whole characters, and text that could still become a stop string is held back
until it cannot.
"""

import codecs
from collections.abc import Sequence


class TextStream:
    """Feed it pieces; it gives the text that is safe to show. `stopped` once a stop was met."""

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stops = tuple(s for s in stops if s)
        self._held = ""
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """The text that has become safe to show. Nothing more once stopped."""
        return self._release(self._decoder.decode(piece))

    def finish(self) -> str:
        """What is left when no more pieces come."""
        shown = self._release(self._decoder.decode(b"", final=True))
        rest, self._held = ("" if self.stopped else self._held), ""
        return shown + rest

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        self._held += text
        found = [at for at in map(self._held.find, self._stops) if at >= 0]
        if found:
            self.stopped = True
            return self._cut(min(found))
        return self._cut(len(self._held) - self._undecided())

    def _undecided(self) -> int:
        """How many characters at the end might be the beginning of a stop string."""
        longest = max(map(len, self._stops), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0

    def _cut(self, at: int) -> str:
        shown, self._held = self._held[:at], self._held[at:]
        return shown
