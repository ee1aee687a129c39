"""Computed sequences, kept for when their composition and conversation come back.

An entry is used only under the execution id it was computed under, and only if its tokens are a
proper prefix of the new prompt: then the same steps are taken as when it was first computed, so a
switch away and back changes no bit. Anything less is recomputed from nothing. The cache has a
byte budget, drops what was used longest ago, and can be dropped whole at any time.
"""

from collections import OrderedDict
from dataclasses import dataclass

from veneer.identity import Digest

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Snapshot:
    """The state of one evaluated sequence of tokens."""

    tokens: Tokens
    state: bytes


class KvCache:
    """Sequences by execution id, newest last."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._entries: OrderedDict[tuple[Digest, Tokens], Snapshot] = OrderedDict()
        self.bytes = 0

    def keep(self, execution: Digest, sequence: Snapshot) -> None:
        """Remember a sequence; forget the longest unused ones beyond the budget."""
        key = (execution, sequence.tokens)
        self._drop(key)
        self._entries[key] = sequence
        self.bytes += len(sequence.state)
        while self.bytes > self._budget:
            self._drop(next(iter(self._entries)))

    def holds(self, execution: Digest, tokens: Tokens) -> bool:
        """Whether exactly this sequence is remembered."""
        return (execution, tokens) in self._entries

    def longest_prefix(self, execution: Digest, prompt: Tokens) -> Snapshot | None:
        """The longest remembered sequence that `prompt` properly continues, or None."""
        fitting = [
            key for key in self._entries if key[0] == execution and continues(key[1], prompt)
        ]
        if not fitting:
            return None
        best = max(fitting, key=lambda key: len(key[1]))
        self._entries.move_to_end(best)
        return self._entries[best]

    def _drop(self, key: tuple[Digest, Tokens]) -> None:
        dropped = self._entries.pop(key, None)
        if dropped is not None:
            self.bytes -= len(dropped.state)


def continues(done: Tokens, prompt: Tokens) -> bool:
    """Whether `prompt` begins with all of `done` and goes on."""
    return 0 < len(done) < len(prompt) and prompt[: len(done)] == done
