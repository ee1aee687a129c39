"""A base in memory, its contexts, and the adapters loaded for it. Worker process only.

Two contexts share the model: the main one answers, and a small one probes what is being staged,
so that proving a new composition never touches the running one.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from veneer.compose.plan import PlannedAdapter, RuntimePlan
from veneer.errors import AdapterInert, NonFinite, blaming
from veneer.identity import Digest
from veneer.runtime.llama import Context, LoadedAdapter, Model

_PROBE_CONTEXT = 256
_MAX_PROOFS = 1024
_PROBE_TEXT = "The fox said: 1 + 1 ="
_PROBE_TOKENS = 4
"""Each costs its share of every activation. One token alone would attend to itself, whatever an
adapter does to queries and keys."""

AdapterSet = Sequence[tuple[LoadedAdapter, float]]
Proof = tuple[tuple[Digest, float], ...]
Begin = Callable[[str, Digest], None]
"""Called before each step with what it is and to what; may raise `Cancelled`."""


class Resident:
    """Construct to load the base of a plan; `close` frees everything in the right order."""

    def __init__(self, plan: RuntimePlan) -> None:
        self.base = plan.base
        self.settings = plan.context
        self.model = Model(plan.base_path, plan.context)
        n_ctx = min(plan.context.n_ctx, self.model.n_ctx_train or plan.context.n_ctx)
        self.context = Context(self.model, plan.context, n_ctx)
        self._prober = Context(self.model, plan.context, min(_PROBE_CONTEXT, n_ctx))
        self._adapters: OrderedDict[Digest, LoadedAdapter] = OrderedDict()
        self._proven: OrderedDict[Proof, None] = OrderedDict()
        probe = self.model.tokenize(_PROBE_TEXT, add_special=True, parse_special=False)
        # llama.cpp aborts on more tokens than a batch may have, and a base may have few.
        self._probe_tokens = probe[: min(_PROBE_TOKENS, self._prober.n_batch)]
        self._base_logits = self._probe(())

    def serves(self, plan: RuntimePlan) -> bool:
        """Whether this base, loaded this way, is what the plan wants."""
        return self.base == plan.base and self.settings == plan.context

    def load(self, plan: RuntimePlan, begin: Begin) -> AdapterSet:
        """The plan's adapters, loaded. Adapters at scale 0 are off and are not loaded."""
        wanted = [a for a in plan.adapters if a.scale != 0]
        loaded: list[tuple[LoadedAdapter, float]] = []
        for planned in wanted:
            begin(f"loading the adapter “{planned.name}”", planned.digest)
            with blaming(planned.digest):
                loaded.append((self._adapter(planned), planned.scale))
        return tuple(loaded)

    def prove(self, plan: RuntimePlan, begin: Begin) -> None:
        """Raise unless every adapter changes the logits and all of them together stay finite.

        Raises `AdapterInert` and `NonFinite` naming the adapter.
        """
        wanted = [a for a in plan.adapters if a.scale != 0]
        proof: Proof = tuple((a.digest, a.scale) for a in wanted)
        if proof in self._proven:
            return
        with blaming(plan.base):
            self._require_finite(self._base_logits, f"The base “{plan.base_name}”")
        for planned in wanted:
            begin(f"probing the adapter “{planned.name}”", planned.digest)
            with blaming(planned.digest):
                self._prove_alone(planned)
        if len(wanted) > 1:
            together = self._probe([(self._adapter(a), a.scale) for a in wanted])
            self._require_finite(together, "The adapters together")
        self._proven[proof] = None
        if len(self._proven) > _MAX_PROOFS:
            self._proven.popitem(last=False)

    def trim(self, keep: RuntimePlan, budget: int) -> None:
        """Free the adapters unused for longest until the idle ones take at most `budget` bytes.

        Those of `keep` stay; others must be unset.
        """
        needed = {a.digest for a in keep.adapters}
        idle = [digest for digest in self._adapters if digest not in needed]
        excess = sum(self._adapters[digest].bytes for digest in idle) - budget
        for digest in idle:
            if excess <= 0:
                return
            dropped = self._adapters.pop(digest)
            excess -= dropped.bytes
            dropped.close()

    def close(self) -> None:
        """Free contexts, then adapters, then the model."""
        for context in (self.context, self._prober):
            context.set_adapters(())
            context.close()
        for adapter in self._adapters.values():
            adapter.close()
        self.model.close()

    def _adapter(self, planned: PlannedAdapter) -> LoadedAdapter:
        if planned.digest not in self._adapters:
            loaded = LoadedAdapter(self.model, planned.path, planned.name, planned.size)
            self._adapters[planned.digest] = loaded
        self._adapters.move_to_end(planned.digest)
        return self._adapters[planned.digest]

    def _prove_alone(self, planned: PlannedAdapter) -> None:
        logits = self._probe([(self._adapter(planned), planned.scale)])
        self._require_finite(logits, f"The adapter “{planned.name}”")
        if np.array_equal(logits, self._base_logits):
            raise AdapterInert(
                f"The adapter “{planned.name}” at strength {planned.scale:g} changes nothing: the "
                "base answers the same with and without it."
            )

    def _probe(self, adapters: AdapterSet) -> NDArray[np.float32]:
        self._prober.set_adapters(adapters)
        try:
            self._prober.clear()
            self._prober.decode(self._probe_tokens)
            return self._prober.logits()
        finally:
            self._prober.set_adapters(())

    def _require_finite(self, logits: NDArray[np.float32], what: str) -> None:
        if not np.isfinite(logits).all():
            raise NonFinite(f"{what} gives results that are not numbers (NaN or infinity).")
