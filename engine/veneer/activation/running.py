"""What runs in the worker, and how it gets there: validated, estimated, planned, staged, published.

Nothing here knows of generations beyond the number of the one that is published.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from veneer.activation.admission import PROCESS, Estimate, estimate, limit_of, require_fit
from veneer.compose.compile import Compiler
from veneer.compose.lanes import Offer
from veneer.compose.plan import ContextSettings, LaneWish, RuntimePlan
from veneer.compose.stacks import Composition
from veneer.errors import ActivationStep, VeneerError
from veneer.identity import Digest
from veneer.runtime.client import RuntimeClient
from veneer.runtime.protocol import Limits, Ready
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.settings import Settings, SettingsShelf
from veneer.tasks import CancelToken, Progress, silent

Timings = dict[str, float]
"""Milliseconds by step."""


@dataclass(frozen=True)
class Prepared:
    """A plan that may be staged, and what it needs."""

    plan: RuntimePlan
    needed: Estimate
    limits: Limits
    wish: LaneWish


@dataclass(frozen=True)
class Room:
    """What a composition needs, against the bytes that it may have."""

    needed: Estimate
    limit: int


class Running:
    """The worker and what it serves. Not for two threads at once: the activator sees to that."""

    def __init__(
        self, compiler: Compiler, runtime: RuntimeClient, settings: SettingsShelf, kv: Path
    ) -> None:
        self._compiler = compiler
        self._runtime = runtime
        self._settings = settings
        self._kv = kv
        self._published: tuple[int, Prepared] | None = None

    @property
    def anything(self) -> bool:
        """Whether something was published since the start or the last `forget`."""
        return self._published is not None

    @property
    def plan(self) -> RuntimePlan | None:
        """What was published last, or None."""
        return self._published[1].plan if self._published is not None else None

    def serves(self, number: int) -> bool:
        """Whether the worker answers as this generation, in the way the settings ask for."""
        if self._published is None or not self._runtime.alive:
            return False
        published, prepared = self._published
        settings = self._settings.read()
        as_asked = (prepared.plan.context, prepared.wish) == (context_of(settings), settings.lane)
        return published == number and as_asked

    def prepare(
        self,
        composition: Composition,
        timings: Timings,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
        runtime: RuntimeClient | None = None,
        wish: LaneWish | None = None,
    ) -> Prepared:
        """Validate, estimate and plan; starts the worker. Raises what each of these raises.

        `wish` is the lane, if it is not what the settings say.
        """
        manifest = composition.manifest
        with step(timings, "validate"):
            settings = self._settings.read()
            wish, context = wish or settings.lane, context_of(settings)
            base, adapters = self._compiler.validate(manifest, progress, cancel)
        with step(timings, "admit"):
            needed = estimate(base, adapters, context)
            limit = limit_of(settings.memory_budget, self._shared(base.digest, context))
            require_fit(needed, limit)
        with step(timings, "start"):
            offer = offer_of((runtime or self._runtime).start())
        with step(timings, "plan"):
            plan = self._compiler.plan(manifest, base, adapters, context, offer, wish, cancel)
        limits = self._limits(settings, limit - needed.total)
        return Prepared(plan, needed, limits, wish)

    def require_room(self, composition: Composition, chosen: Settings) -> None:
        """Raise `OverBudget` if these settings ask for more context than there is room for.

        Whatever needs no more than the settings of now is let through: it is a way down.
        """
        base, adapters = self._compiler.find(composition.manifest)
        context = context_of(chosen)
        needed = estimate(base, adapters, context)
        if needed.total > estimate(base, adapters, context_of(self._settings.read())).total:
            limit = limit_of(chosen.memory_budget, self._shared(base.digest, context))
            require_fit(needed, limit)

    def room(self, base: StoredBase, adapters: tuple[StoredAdapter, ...]) -> Room:
        """What these would need, and what they may have, as `prepare` would judge it now."""
        settings = self._settings.read()
        context = context_of(settings)
        limit = limit_of(settings.memory_budget, self._shared(base.digest, context))
        return Room(estimate(base, adapters, context), limit)

    def stage(self, prepared: Prepared, timings: Timings, cancel: CancelToken | None) -> None:
        """Load and prove it beside what is running."""
        with step(timings, "stage"):
            laps = self._runtime.stage(prepared.plan, prepared.limits, cancel)
        timings.update({f"stage_{name}": value for name, value in laps.items()})

    def publish(self, number: int, prepared: Prepared, timings: Timings) -> None:
        """Answer as this generation from now on."""
        with step(timings, "publish"):
            self._runtime.publish(number)
            self._published = number, prepared

    def forget(self) -> None:
        """Nothing is published any more."""
        self._published = None

    def _shared(self, base: Digest, context: ContextSettings) -> int:
        """Bytes of what already runs and would be used by the new one too."""
        if self._published is None or not self._runtime.alive:
            return 0
        plan, needed = self._published[1].plan, self._published[1].needed
        shared = plan.base == base and plan.context == context
        return needed.total - needed.adapters if shared else PROCESS

    def _limits(self, settings: Settings, spare: int) -> Limits:
        """What is kept for speed alone never takes more than the budget leaves."""
        return Limits(
            kv=min(settings.kv_budget, spare),
            adapters=min(settings.adapters_budget, spare),
            kv_disk=settings.kv_disk_budget,
            kv_folder=str(self._kv),
        )


def offer_of(ready: Ready) -> Offer:
    """What a worker that is ready can do."""
    return Offer(
        build=ready.build,
        overlay=ready.overlay,
        why_not=ready.why_no_overlay,
        gpus=ready.gpus,
    )


def context_of(settings: Settings) -> ContextSettings:
    """The context that these settings ask for."""
    return ContextSettings(
        n_ctx=settings.n_ctx,
        n_threads=settings.n_threads,
        n_gpu_layers=settings.n_gpu_layers,
        device=settings.device,
        type_kv=settings.type_kv,
    )


@contextmanager
def step(timings: Timings, name: ActivationStep) -> Generator[None]:
    """Times a step of an activation, and stamps its name on what fails in it."""
    started = perf_counter()
    try:
        yield
    except VeneerError as error:
        error.step = error.step or name
        raise
    timings[name] = (perf_counter() - started) * 1000
