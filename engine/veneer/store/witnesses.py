"""Asks the witnesses of an adapter about a base: both files are opened, and some rows compared."""

from collections.abc import Callable, Iterator

from veneer.adapters.problem import Problem
from veneer.adapters.reading import open_contents
from veneer.adapters.source import Source
from veneer.adapters.witness import unlike
from veneer.errors import VeneerError
from veneer.identity import Digest
from veneer.store.fs import Fs
from veneer.store.records import StoredAdapter, StoredBase


class Witnesses:
    """What they said is kept: both are named by their bytes, so they never say anything else."""

    def __init__(self, fs: Fs, source: Callable[[StoredAdapter], Source]) -> None:
        self._fs = fs
        self._source = source
        self._said: dict[tuple[Digest, Digest], tuple[Problem, ...]] = {}

    def ask(self, adapter: StoredAdapter, base: StoredBase) -> tuple[Problem, ...]:
        """Everything that the adapter's witnesses have against the base. Raises nothing."""
        if not adapter.adapter.witnesses:
            return ()
        pair = adapter.digest, base.digest
        if pair not in self._said:
            try:
                self._said[pair] = tuple(self._heard(adapter, base))
            except VeneerError as error:
                message = f"Its sample of the base's weights cannot be compared: {error.message}"
                return (Problem(code="OTHER_BASE", message=message),)
        return self._said[pair]

    def _heard(self, adapter: StoredAdapter, base: StoredBase) -> Iterator[Problem]:
        with (
            open_contents(self._source(adapter)) as contents,
            self._fs.open_read(base.file) as file,
        ):
            for witness in contents.witnesses:
                sample = contents.read(witness.tensor)
                against = unlike(witness, sample, base.base, file)
                if against is not None:
                    yield against
