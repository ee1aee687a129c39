"""Computed sequences, kept for when their composition and conversation come back.

An entry is used only under the execution id it was computed under, and only if its tokens are a
proper prefix of the new prompt: then the same steps are taken as when it was first computed, so a
switch away and back changes no bit. Anything less is recomputed from nothing. The cache has a
byte budget, drops what was used longest ago (into a folder, if there is one), and can be dropped
whole at any time.
"""

from collections import OrderedDict

from veneer.identity import Digest
from veneer.runtime.kvfolder import KvFolder
from veneer.runtime.sequences import Snapshot, Tokens, continues


class KvCache:
    """Sequences by execution id, newest last."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._folder: KvFolder | None = None
        self._entries: OrderedDict[tuple[Digest, Tokens], Snapshot] = OrderedDict()
        self.bytes = 0

    def resize(self, budget: int, folder: KvFolder | None) -> None:
        """Keep at most this many bytes from now on, and what is dropped in this folder."""
        self._budget, self._folder = budget, folder
        self._trim()

    def close(self) -> None:
        """Put everything into the folder, if there is one."""
        self.resize(0, self._folder)

    def keep(self, execution: Digest, sequence: Snapshot) -> None:
        """Remember a sequence; forget the longest unused ones beyond the budget."""
        key = (execution, sequence.tokens)
        self._drop(key)
        self._entries[key] = sequence
        self.bytes += len(sequence.state)
        self._trim()

    def holds(self, execution: Digest, tokens: Tokens) -> bool:
        """Whether exactly this sequence is remembered."""
        return (execution, tokens) in self._entries

    def longest_prefix(self, execution: Digest, prompt: Tokens) -> Snapshot | None:
        """The longest remembered sequence that `prompt` properly continues, or None."""
        fitting = [
            key for key in self._entries if key[0] == execution and continues(key[1], prompt)
        ]
        if not fitting:
            return self._folder.longest_prefix(execution, prompt) if self._folder else None
        best = max(fitting, key=lambda key: len(key[1]))
        self._entries.move_to_end(best)
        return self._entries[best]

    def _trim(self) -> None:
        while self.bytes > max(self._budget, 0):
            oldest = next(iter(self._entries))
            if self._folder is not None:
                self._folder.keep(oldest[0], self._entries[oldest])
            self._drop(oldest)

    def _drop(self, key: tuple[Digest, Tokens]) -> None:
        dropped = self._entries.pop(key, None)
        if dropped is not None:
            self.bytes -= len(dropped.state)
