"""How often the worker died or hung under a generation, and when it may be started again.

After `LIMIT` strikes a generation is given up. An answer that was carried out clears them. Each
strike in a row, whoever's it is, doubles the pause before the next start.
"""

from collections.abc import Callable
from time import monotonic

LIMIT = 2
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class Strikes:
    """Counts for this process's life only: what is durable is that a composition is suspect."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._by_generation: dict[int, int] = {}
        self._in_a_row = 0
        self._not_before = 0.0

    def add(self, generation: int) -> bool:
        """Note one; gives whether the generation is to be given up."""
        count = self._by_generation.get(generation, 0) + 1
        self._by_generation[generation] = count
        pause = min(_FIRST_PAUSE * 2**self._in_a_row, _LONGEST_PAUSE)
        self._in_a_row += 1
        self._not_before = self._clock() + pause
        return count >= LIMIT

    def clear(self) -> None:
        """All is well."""
        self._by_generation.clear()
        self._in_a_row, self._not_before = 0, 0.0

    def pause(self) -> float:
        """Seconds to wait before the next start."""
        return max(0.0, self._not_before - self._clock())
