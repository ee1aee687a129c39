"""How adapters fit a base, judged once each, and only those that somebody wants to see.

One that changes is judged again: the same files, brought in anew, may come with another tokenizer.
"""

from collections.abc import Iterable, Mapping

from veneer.adapters.compat import CompatReport
from veneer.identity import Digest
from veneer.store.changes import Changes
from veneer_app import reads
from veneer_app.operations import Operations
from veneer_app.qt import QtCore, Signal

_AT_ONCE = 24
"""As many as are judged in about a tenth of a second, so that those in sight come first."""


class Verdicts(QtCore.QObject):
    """`found` has the base on which more is known now."""

    found = Signal(str)

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._operations = operations
        self._known: dict[Digest, dict[Digest, CompatReport]] = {}
        self._asked: dict[Digest, set[Digest]] = {}
        operations.changed.connect(self._forget)

    def on(self, base: Digest | None) -> Mapping[Digest, CompatReport]:
        """What is known already of each adapter on a base."""
        return dict(self._known.get(base, {})) if base is not None else {}

    def learn(self, base: Digest, reports: Mapping[Digest, CompatReport]) -> None:
        """Know these from now on."""
        self._known.setdefault(base, {}).update(reports)
        self.found.emit(base)

    def want(self, base: Digest, adapters: Iterable[Digest]) -> None:
        """Judge those of which nothing is known yet."""
        asked = self._asked.setdefault(base, set())
        new = [adapter for adapter in dict.fromkeys(adapters) if adapter not in asked]
        asked.update(new)
        for first in range(0, len(new), _AT_ONCE):
            self._ask(base, tuple(new[first : first + _AT_ONCE]))

    def _forget(self, changes: Changes) -> None:
        for base, known in self._known.items():
            self._asked.get(base, set[Digest]()).difference_update(changes.adapters)
            for adapter in changes.adapters:
                known.pop(adapter, None)

    def _ask(self, base: Digest, adapters: tuple[Digest, ...]) -> None:
        def keep(reports: Mapping[Digest, CompatReport]) -> None:
            # What was not there to be judged may come back.
            self._asked[base].difference_update(set(adapters) - set(reports))
            self.learn(base, reports)

        self._operations.read(lambda ws: reads.fits(ws, base, adapters), keep)
