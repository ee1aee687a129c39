"""A base in memory, its contexts, and the adapters loaded for it. Worker process only.

Two contexts share the model: the main one answers, and a small one probes what is being staged,
so that proving a new composition never touches the running one.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from veneer.compose.plan import Lane, PlannedAdapter, RuntimePlan
from veneer.errors import AdapterInert, NonFinite, NotReached, RuntimeRefused, blaming
from veneer.identity import Digest
from veneer.runtime.llama import Context, Model
from veneer.runtime.loaded import AdapterSet, LoadedAdapters
from veneer.runtime.overlay import OverlayLane
from veneer.runtime.sequences import Tokens

_PROBE_CONTEXT = 256
_MAX_PROOFS = 1024
_PROBE_TEXT = "The fox said: 1 + 1 ="
_FIRST_LOOK = 2
"""Tokens; each costs its share of every activation. One token alone would attend to itself,
whatever an adapter does to queries and keys."""
_SECOND_LOOK = 16
"""Tokens at most, before an adapter is said to change nothing."""

Proof = tuple[Lane, tuple[tuple[Digest, float], ...]]
Begin = Callable[[str, Digest], None]
"""Called before each step with what it is and to what; may raise `Cancelled`."""


class Resident:
    """Construct to load the base of a plan; `close` frees everything in the right order."""

    def __init__(self, plan: RuntimePlan, lane: OverlayLane | None) -> None:
        self.base = plan.base
        self.settings = plan.context
        self.model = Model(plan.base_path, plan.context)
        n_ctx = min(plan.context.n_ctx, self.model.n_ctx_train or plan.context.n_ctx)
        self.context = self._context(plan, n_ctx, lane)
        self._prober = self._context(plan, min(_PROBE_CONTEXT, n_ctx), lane)
        self._adapters = LoadedAdapters(self.model)
        self._proven: OrderedDict[Proof, None] = OrderedDict()
        probe = self.model.tokenize(_PROBE_TEXT, add_special=True, parse_special=False)
        self._first, self._second = (
            self._allowed(probe[:count]) for count in (_FIRST_LOOK, _SECOND_LOOK)
        )
        self._base_logits = self._probe(AdapterSet(), self._first)

    def _context(self, plan: RuntimePlan, n_ctx: int, lane: OverlayLane | None) -> Context:
        overlay = None if lane is None else lane.context(plan.context.n_threads)
        return Context(self.model, plan.context, n_ctx, overlay)

    def serves(self, plan: RuntimePlan) -> bool:
        """Whether this base, loaded this way, is what the plan wants."""
        return self.base == plan.base and self.settings == plan.context

    def load(self, plan: RuntimePlan, begin: Begin) -> AdapterSet:
        """The plan's adapters, loaded. Adapters at scale 0 are off and are not loaded."""
        if plan.lane == "overlay" and self.context.overlay is None:
            raise RuntimeRefused("The overlay lane is off in this worker.")
        wanted = _on(plan)
        for planned in wanted:
            begin(f"loading the adapter “{planned.name}”", planned.digest)
            with blaming(planned.digest):
                self._adapters.ensure(planned, plan.lane)
        return self._adapters.together(wanted, plan.lane)

    def prove(self, plan: RuntimePlan, together: AdapterSet, begin: Begin) -> None:
        """Raise unless every adapter changes the logits and all of them together stay finite.

        Raises `AdapterInert`, `NotReached` and `NonFinite` naming the adapter.
        """
        wanted = _on(plan)
        proof: Proof = plan.lane, tuple((a.digest, a.scale) for a in wanted)
        if proof in self._proven:
            return
        with blaming(plan.base):
            self._require_finite(self._base_logits, f"The base “{plan.base_name}”")
        for planned in wanted:
            begin(f"probing the adapter “{planned.name}”", planned.digest)
            with blaming(planned.digest):
                self._prove_alone(planned, plan.lane)
        if len(wanted) > 1:
            logits = self._probe(together, self._first)
            self._require_finite(logits, "The adapters together")
        self._proven[proof] = None
        if len(self._proven) > _MAX_PROOFS:
            self._proven.popitem(last=False)

    def trim(self, keep: RuntimePlan, budget: int) -> None:
        """Free the adapters unused for longest until the idle ones take at most `budget` bytes.

        Those of `keep` stay; others must be unset.
        """
        self._adapters.trim(frozenset(a.digest for a in keep.adapters), budget)

    def close(self) -> None:
        """Free contexts, then adapters, then the model."""
        for context in (self.context, self._prober):
            AdapterSet().put_on(context)
            context.close()
        self._adapters.close()
        self.model.close()

    def _prove_alone(self, planned: PlannedAdapter, lane: Lane) -> None:
        alone = self._adapters.together([planned], lane)
        for tokens in self._looks(planned):
            logits = self._probe(alone, tokens)
            self._require_finite(logits, f"The adapter “{planned.name}”")
            self._require_reached(planned, alone)
            if not np.array_equal(logits, self._base(tokens)):
                return
        raise AdapterInert(
            f"The adapter “{planned.name}” at strength {planned.scale:g} changes nothing: the "
            "base answers the same with and without it."
        )

    def _looks(self, planned: PlannedAdapter) -> Sequence[Tokens]:
        """What to try an adapter on, the cheapest first."""
        # Retrained tokens change nothing in a text that has none of them.
        both = self._first, self._second
        return [self._allowed((*planned.tokens, *tokens)) for tokens in both]

    def _allowed(self, tokens: Tokens) -> Tokens:
        # llama.cpp aborts on more tokens than a batch may have, and a base may have few.
        return tokens[: self._prober.n_batch]

    def _base(self, tokens: Tokens) -> NDArray[np.float32]:
        alike = tokens == self._first
        return self._base_logits if alike else self._probe(AdapterSet(), tokens)

    def _require_reached(self, planned: PlannedAdapter, alone: AdapterSet) -> None:
        if alone.plan is None or self._prober.overlay is None:
            return
        missed = self._prober.overlay.missed(alone.plan)
        if missed:
            raise NotReached(_not_reached(planned.name, missed))

    def _probe(self, adapters: AdapterSet, tokens: Tokens) -> NDArray[np.float32]:
        adapters.put_on(self._prober)
        try:
            self._prober.clear()
            self._prober.decode(tokens)
            return self._prober.logits()
        finally:
            AdapterSet().put_on(self._prober)

    def _require_finite(self, logits: NDArray[np.float32], what: str) -> None:
        if not np.isfinite(logits).all():
            raise NonFinite(f"{what} gives results that are not numbers (NaN or infinity).")


def _on(plan: RuntimePlan) -> Sequence[PlannedAdapter]:
    return [adapter for adapter in plan.adapters if adapter.scale != 0]


def _not_reached(name: str, missed: Sequence[str]) -> str:
    more = f" and {len(missed) - 1} more weights" if len(missed) > 1 else ""
    return (
        f"The adapter “{name}” changes {missed[0]}{more}, which llama.cpp did not use when it was "
        "probed; it would run only in part."
    )
