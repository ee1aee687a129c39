"""The sequence a context holds right now, and the rule for reusing it. Worker process only.

A prompt reuses the live sequence, or a remembered one of the same execution, only if it continues
all of it; otherwise the context is cleared first. The sequence is remembered before every change,
so that answering again, or switching away and back, starts from the very same state.
"""

from collections.abc import Callable, Sequence

from veneer.identity import Digest
from veneer.runtime.kvcache import KvCache
from veneer.runtime.llama import Context
from veneer.runtime.sequences import Snapshot, Tokens, continues


class LiveSequence:
    """Owns the tokens of one context. `execution` says under which id they were computed."""

    def __init__(self, context: Context, cache: KvCache, execution: Digest) -> None:
        self._context = context
        self._cache = cache
        self.execution = execution
        self.tokens: Tokens = ()

    def begin(self, prompt: Tokens) -> int:
        """Get ready for a prompt; gives how many of its tokens need not be computed again."""
        self.remember()
        if continues(self.tokens, prompt):
            return len(self.tokens)
        self.forget()
        found = self._cache.longest_prefix(self.execution, prompt)
        if found is not None and self._context.restore(found.state):
            self.tokens = found.tokens
        return len(self.tokens)

    def extend(self, tokens: Sequence[int], check_cancel: Callable[[], None]) -> None:
        """Compute more tokens, in batches; between them `check_cancel` may raise."""
        step = self._context.n_batch
        for start in range(0, len(tokens), step):
            check_cancel()
            batch = tuple(tokens[start : start + step])
            self._context.decode(batch)
            self.tokens += batch

    def remember(self) -> None:
        """Keep the sequence for when it comes back."""
        if self.tokens and not self._cache.holds(self.execution, self.tokens):
            self._cache.keep(self.execution, Snapshot(self.tokens, self._context.save()))

    def forget(self) -> None:
        """Empty the context."""
        self._context.clear()
        self.tokens = ()
