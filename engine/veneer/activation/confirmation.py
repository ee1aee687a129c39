"""An adapter of which only the shapes fit its base is run if a person says that it belongs there.

Models of one family and size have the same shapes, and an adapter on the wrong one computes
nonsense without a complaint. So the first activation of such a pair is refused with the reasons
for doubt, unless it comes with the confirmation; that is written into the journal together with
the request, and the pair is never asked about again.
"""

from collections.abc import Iterator
from contextlib import suppress

from veneer.activation.journal import Journal, Pair
from veneer.compose.manifest import Manifest
from veneer.errors import ConfirmBase, NotFound
from veneer.store.library import Library


class Confirmations:
    """Knows which pairs of adapter and base need a person's word, and which have it."""

    def __init__(self, library: Library, journal: Journal) -> None:
        self._library = library
        self._journal = journal

    def require(self, manifest: Manifest, *, given: bool) -> tuple[Pair, ...]:
        """The pairs that a confirmation given now is about; none if there is nothing to confirm.

        Raises `ConfirmBase` if there are any and no confirmation is given.
        """
        pairs = tuple(self._unconfirmed(manifest))
        if pairs and not given:
            doubts = tuple(map(self._doubt, pairs))
            raise ConfirmBase(
                f"{' '.join(doubts)} If you know that it belongs there, confirm it: in the "
                "window, or with --confirm-base.",
                doubts,
            )
        return pairs

    def _unconfirmed(self, manifest: Manifest) -> Iterator[Pair]:
        base = manifest.composition.base.digests[0]
        for ref in manifest.composition.adapters:
            pair = Pair(ref.digest, base)
            # What is missing, or does not fit at all, is for the validation to say.
            with suppress(NotFound):
                doubtful = self._library.check(pair.adapter, base).fit == "shape"
                if doubtful and not self._journal.is_confirmed(pair):
                    yield pair

    def _doubt(self, pair: Pair) -> str:
        adapter, base = self._library.adapter(pair.adapter), self._library.base(pair.base)
        doubts = self._library.check(pair.adapter, pair.base).doubts
        return f"Only the shapes of “{adapter.name}” fit “{base.name}”: {' '.join(doubts)}"
