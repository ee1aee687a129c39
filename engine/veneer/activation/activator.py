"""The transaction: validate, stage, commit, publish; or abort and leave everything as it was.

One activation at a time. Whatever fails before the commit, the generation is closed as ABORTED
with its reason and the previous one goes on answering; if the worker died on the way, it is
brought back with the previous generation.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from time import perf_counter

import msgspec

from veneer.activation.admission import Estimate, estimate, require_fit
from veneer.activation.confirmation import Confirmations
from veneer.activation.journal import Generation, Journal, Requester, State
from veneer.compose.compile import Compiler
from veneer.compose.plan import ContextSettings, RuntimePlan
from veneer.compose.stacks import Composition, Stacks
from veneer.errors import NothingActive, NothingToRollBack, RuntimeCrashed, Suspect, VeneerError
from veneer.identity import Digest, short
from veneer.runtime.client import RuntimeClient
from veneer.store.changes import Changes, Outcome
from veneer.store.settings import Settings, SettingsShelf
from veneer.tasks import CancelToken, Progress, silent


class Activation(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an activation. `changed` is false if it was active already."""

    generation: int
    composition_id: Digest
    state: State
    timings_ms: dict[str, float]
    changed: bool


class Activator:
    """Switches compositions, and keeps the worker running the active one."""

    def __init__(
        self,
        journal: Journal,
        confirmations: Confirmations,
        stacks: Stacks,
        compiler: Compiler,
        runtime: RuntimeClient,
        settings: SettingsShelf,
    ) -> None:
        self._journal = journal
        self._confirmations = confirmations
        self._stacks = stacks
        self._compiler = compiler
        self._runtime = runtime
        self._settings = settings
        self._turn = threading.RLock()
        self._published: tuple[int, RuntimePlan, Estimate] | None = None

    def activate(
        self,
        composition: Composition,
        by: Requester,
        *,
        restores: int | None = None,
        confirm_base: bool = False,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Activation]:
        """Make a composition the active one, completely or not at all.

        Raises `ConfirmBase`, before anything is begun, if an adapter needs the confirmation that
        `confirm_base` gives. Raises what validation, staging or the store raise; the previous
        generation then still runs and the reason is in the journal.
        """
        with self._turn:
            active = self._journal.active()
            if active is not None and active.composition == composition.id:
                return Outcome(_activation(active, changed=False), Changes())
            # What was active once was let in then: a way back must not close.
            confirmed = (
                self._confirmations.require(composition.manifest, given=confirm_base)
                if restores is None
                else ()
            )
            number = self._journal.request(composition.id, by, restores, confirmed)
            timings: dict[str, float] = {}
            with self._aborting(number, composition):
                plan, needed = self._stage(number, composition, timings, progress, cancel)
                self._journal.commit(number, timings)
            with _timed(timings, "publish"):
                self._publish(number, plan, needed)
            self._stacks.mark_suspect(composition.id, None)
            done = msgspec.structs.replace(
                _activation(self._journal.get(number), changed=True), timings_ms=timings
            )
            return Outcome(
                done,
                Changes(generations=frozenset({number}), compositions=frozenset({composition.id})),
            )

    def rollback(
        self,
        by: Requester,
        *,
        to: int | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Activation]:
        """Publish an earlier generation's composition as a new generation.

        Without `to`, the newest earlier one with another composition; rolling back again goes
        further back. Raises `NothingActive`, `NothingToRollBack`, `NotFound`.
        """
        with self._turn:
            target = self._journal.get(to) if to is not None else self._previous()
            if target.state != "COMMITTED":
                raise NothingToRollBack(f"Generation {target.number} was never active.")
            composition = self._stacks.get(target.composition)
            return self.activate(
                composition, by, restores=target.number, progress=progress, cancel=cancel
            )

    def ensure_running(self, cancel: CancelToken | None = None) -> Generation:
        """Have the worker run the active generation, starting it if need be.

        Raises `NothingActive`, `Suspect`, or what validation and staging raise.
        """
        with self._turn:
            active = self._journal.active()
            if active is None:
                raise NothingActive("No composition is active yet. Activate one first.")
            if self._serves(active.number):
                return active
            composition = self._stacks.get(active.composition)
            if composition.suspect is not None:
                raise Suspect(
                    f"The active composition {short(composition.id)} took the runtime down "
                    f"before: {composition.suspect} Activate another one, or roll back."
                )
            try:
                plan, needed = self._prepare(composition, silent, cancel)
                self._runtime.stage(plan, cancel)
                self._publish(active.number, plan, needed)
            except RuntimeCrashed as crash:
                self._stacks.mark_suspect(composition.id, crash.message)
                raise
            return active

    def start_apart(
        self,
        composition: Composition,
        runtime: RuntimeClient,
        *,
        confirm_base: bool,
        cancel: CancelToken | None = None,
    ) -> None:
        """Run a composition in another worker, as no generation. The caller closes the worker.

        `confirm_base` holds for this once. Raises `ConfirmBase`, or as `activate` does.
        """
        self._confirmations.require(composition.manifest, given=confirm_base)
        plan, _ = self._prepare(composition, silent, cancel, runtime)
        runtime.stage(plan, cancel)
        runtime.publish(0)

    def stop(self) -> None:
        """End the worker. What is active stays active."""
        with self._turn:
            self._published = None
            self._runtime.close()

    def _serves(self, number: int) -> bool:
        return self._runtime.alive and self._published is not None and self._published[0] == number

    def _previous(self) -> Generation:
        active = self._journal.active()
        if active is None:
            raise NothingActive("No composition is active yet, so there is nothing to undo.")
        origin = active.restores or active.number
        for earlier in self._journal.committed_before(origin):
            if earlier.composition != active.composition:
                return earlier
        raise NothingToRollBack("There is no earlier composition to return to.")

    def _stage(
        self,
        number: int,
        composition: Composition,
        timings: dict[str, float],
        progress: Progress,
        cancel: CancelToken | None,
    ) -> tuple[RuntimePlan, Estimate]:
        with _timed(timings, "validate"):
            plan, needed = self._prepare(composition, progress, cancel)
        self._journal.advance(number, "VALIDATED")
        with _timed(timings, "stage"):
            self._runtime.interrupt("composition_changed")
            laps = self._runtime.stage(plan, cancel)
        timings.update({f"stage_{name}": value for name, value in laps.items()})
        self._journal.advance(number, "STAGED")
        if cancel is not None:
            cancel.check()
        return plan, needed

    def _prepare(
        self,
        composition: Composition,
        progress: Progress,
        cancel: CancelToken | None,
        runtime: RuntimeClient | None = None,
    ) -> tuple[RuntimePlan, Estimate]:
        manifest, settings = composition.manifest, self._settings.read()
        base, adapters = self._compiler.validate(manifest, progress, cancel)
        context = context_of(settings)
        needed = estimate(base, adapters, context)
        require_fit(needed, settings.memory_budget, self._resident(base.digest, context))
        build = (runtime or self._runtime).start().build
        return self._compiler.plan(manifest, base, adapters, context, build), needed

    def _resident(self, base: Digest, context: ContextSettings) -> int:
        """Bytes of what already runs and would be shared."""
        if self._published is None or not self._runtime.alive:
            return 0
        _, plan, needed = self._published
        shared = plan.base == base and plan.context == context
        return needed.total - needed.adapters if shared else needed.process

    def _publish(self, number: int, plan: RuntimePlan, needed: Estimate) -> None:
        self._runtime.publish(number)
        self._published = (number, plan, needed)

    @contextmanager
    def _aborting(self, number: int, composition: Composition) -> Generator[None]:
        was_running = self._published is not None
        try:
            yield
        except BaseException as error:
            self._journal.abort(number, _reason(error))
            if isinstance(error, RuntimeCrashed):
                self._stacks.mark_suspect(composition.id, error.message)
            if isinstance(error, VeneerError):
                with suppress(VeneerError):
                    self._runtime.discard()
                    if was_running:
                        self.ensure_running()
            raise


def context_of(settings: Settings) -> ContextSettings:
    """The context that these settings ask for."""
    return ContextSettings(
        n_ctx=settings.n_ctx,
        n_threads=settings.n_threads,
        n_gpu_layers=settings.n_gpu_layers,
        type_kv=settings.type_kv,
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, VeneerError):
        return f"{error.full_code}: {error.message}"
    return "CANCELLED: Stopped." if isinstance(error, KeyboardInterrupt) else repr(error)


def _activation(generation: Generation, *, changed: bool) -> Activation:
    return Activation(
        generation=generation.number,
        composition_id=generation.composition,
        state=generation.state,
        timings_ms=generation.timings_ms,
        changed=changed,
    )


@contextmanager
def _timed(timings: dict[str, float], name: str) -> Generator[None]:
    started = perf_counter()
    yield
    timings[name] = (perf_counter() - started) * 1000
