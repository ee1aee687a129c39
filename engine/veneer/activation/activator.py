"""The transaction: validate, stage, commit, publish; or abort and leave everything as it was.

One activation at a time. Whatever fails before the commit, the generation is closed as ABORTED
with its reason and the previous one goes on answering; if the worker died on the way, it is
brought back with the previous generation. A generation under which the worker dies or hangs twice
is given up: its composition is marked suspect, and the last good generation, or the base alone,
is activated in its place.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import msgspec

from veneer.activation.confirmation import Confirmations
from veneer.activation.journal import Generation, Journal, Requester, State
from veneer.activation.running import Prepared, Running, Timings, step
from veneer.activation.strikes import Strikes
from veneer.compose.plan import LaneWish
from veneer.compose.signatures import Signatures
from veneer.compose.stacks import Composition, Stacks
from veneer.errors import (
    Answering,
    Damaged,
    FellBack,
    NotFound,
    NothingActive,
    NothingToRollBack,
    RuntimeCrashed,
    RuntimeTimeout,
    Suspect,
    VeneerError,
)
from veneer.identity import Digest, short
from veneer.runtime.client import RuntimeClient
from veneer.store.changes import Changes, Outcome
from veneer.store.settings import Settings, SettingsShelf
from veneer.tasks import CancelToken, Progress, silent

_RuntimeLost = (RuntimeCrashed, RuntimeTimeout)
_LOOK = 0.05


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
        signatures: Signatures,
        stacks: Stacks,
        running: Running,
        runtime: RuntimeClient,
        settings: SettingsShelf,
    ) -> None:
        self._journal = journal
        self._confirmations = confirmations
        self._signatures = signatures
        self._stacks = stacks
        self._running = running
        self._runtime = runtime
        self._settings = settings
        self._turn = threading.RLock()
        self._strikes = Strikes()
        self.on_changes: Callable[[Changes], None] = lambda changes: None
        """Told, on whatever thread, what was changed without being returned to anybody."""

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

        Waits while another activation is under way. Raises `ConfirmBase`, before anything is
        begun, if only the shapes of an adapter fit and nobody has confirmed it; `Answering`; or
        what validation, staging or the store raise, with its `step`. The previous generation then
        still runs and the reason is in the journal.
        """
        with self._my_turn(cancel):
            active = self._journal.active()
            if active is not None and active.composition == composition.id:
                return self._active_already(active, cancel)
            self._refuse_to_interrupt()
            timings: Timings = {}
            # What was active once was let in then: a way back must not close.
            confirmed = (
                self._confirmations.require(composition.manifest, given=confirm_base)
                if restores is None
                else ()
            )
            with step({}, "request"):
                number = self._journal.request(composition.id, by, restores, confirmed)
            with self._aborting(number, composition):
                # What recovery goes back to was let in when a person activated it.
                if by != "recovery":
                    with step({}, "validate"):
                        self._signatures.require(composition)
                prepared = self._running.prepare(composition, timings, progress, cancel)
                with step({}, "plan"):
                    self._journal.advance(number, "VALIDATED")
                with self._runtime.switching():
                    self._running.stage(prepared, timings, cancel)
                    with step(timings, "commit"):
                        self._proven(number, composition)
                        if cancel is not None:
                            cancel.check()
                        self._journal.commit(number, timings)
                    self._publish(number, prepared, timings)
            done = _activation(number, composition.id, timings, changed=True)
            return Outcome(done, _changes(number, composition.id))

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

        Raises `NothingActive`, or what validation and staging raise. Raises `FellBack` if another
        generation had to take over, `Suspect` if none could.
        """
        with self._my_turn(cancel):
            active = self._journal.active()
            if active is None:
                raise NothingActive("No composition is active yet. Activate one first.")
            if self._running.serves(active.number):
                return active
            composition = self._stacks.get(active.composition)
            while composition.suspect is None:
                (cancel or CancelToken()).wait(self._strikes.pause())
                try:
                    self._start(active, composition, cancel)
                except _RuntimeLost as lost:
                    if self._strikes.add(active.number):
                        self._give_up(active, composition, lost)
                else:
                    return active
            raise self._fall_back(active, composition, composition.suspect)

    @contextmanager
    def serving(self, cancel: CancelToken | None = None) -> Generator[Generation]:
        """Use the active generation; if the worker is lost meanwhile, that is held against it."""
        active = self.ensure_running(cancel)
        try:
            yield active
        except _RuntimeLost as lost:
            with self._turn:
                if self._strikes.add(active.number):
                    self._give_up(active, self._stacks.get(active.composition), lost)
            raise
        self._strikes.clear()

    def start_apart(
        self,
        composition: Composition,
        runtime: RuntimeClient,
        *,
        confirm_base: bool,
        lane: LaneWish | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        """Run a composition in another worker, as no generation. The caller closes the worker.

        `lane` is another than the settings say; `confirm_base` holds for this once. Raises
        `ConfirmBase`, `Untrusted`, or as `activate` does.
        """
        self._signatures.require(composition)
        self._confirmations.require(composition.manifest, given=confirm_base)
        prepared = self._running.prepare(composition, {}, cancel=cancel, runtime=runtime, wish=lane)
        runtime.stage(prepared.plan, prepared.limits, cancel)
        runtime.publish(0)

    def require_room(self, chosen: Settings) -> None:
        """Raise `OverBudget` if the active composition could not run with these settings."""
        active = self._journal.active()
        if active is not None:
            # Of what is not here any more the next activation tells.
            with suppress(NotFound, Damaged):
                self._running.require_room(self._stacks.get(active.composition), chosen)

    def stop(self) -> None:
        """End the worker. What is active stays active."""
        with self._turn:
            self._running.forget()
            self._runtime.close()

    @contextmanager
    def _my_turn(self, cancel: CancelToken | None) -> Generator[None]:
        while not self._turn.acquire(timeout=_LOOK):
            if cancel is not None:
                cancel.check()
        try:
            yield
        finally:
            self._turn.release()

    def _active_already(
        self, active: Generation, cancel: CancelToken | None
    ) -> Outcome[Activation]:
        if self._running.anything:
            self.ensure_running(cancel)
        done = _activation(active.number, active.composition, active.timings_ms, changed=False)
        return Outcome(done, Changes())

    def _refuse_to_interrupt(self) -> None:
        if self._runtime.answering and self._settings.read().on_switch == "refuse":
            raise Answering(
                "An answer is being written, and the settings say that a switch waits for it. Stop "
                "the answer or let it end, then activate again."
            )

    def _start(
        self, active: Generation, composition: Composition, cancel: CancelToken | None
    ) -> None:
        prepared = self._running.prepare(composition, {}, cancel=cancel)
        with self._runtime.switching():
            self._running.stage(prepared, {}, cancel)
            self._running.publish(active.number, prepared, {})

    def _proven(self, number: int, composition: Composition) -> None:
        self._journal.advance(number, "STAGED")
        if composition.suspect is not None:
            self._stacks.mark_suspect(composition.id, None)

    def _publish(self, number: int, prepared: Prepared, timings: Timings) -> None:
        """After the commit nothing may undo it: a worker lost now is started with what is new."""
        try:
            self._running.publish(number, prepared, timings)
        except _RuntimeLost:
            self._strikes.add(number)
            self._start_again()

    def _start_again(self) -> None:
        try:
            self.ensure_running()
        except (FellBack, Suspect):
            raise
        except VeneerError:
            # The switch is done. Whoever asks next is told what stands in the way of running it.
            return

    def _give_up(self, active: Generation, composition: Composition, lost: VeneerError) -> None:
        self._stacks.mark_suspect(composition.id, lost.message)
        raise self._fall_back(active, composition, lost.message) from lost

    def _fall_back(
        self, active: Generation, composition: Composition, why: str
    ) -> FellBack | Suspect:
        """Activate what can be relied on; gives the error that says so to whoever asked."""
        self._running.forget()
        gone = f"The composition {_called(composition)} took the runtime down: {why}"
        for instead, restores in self._refuges(active, composition):
            with suppress(VeneerError):
                done = self.activate(instead, "recovery", restores=restores)
                self.on_changes(done.changes)
                return FellBack(
                    f"{gone} It is marked suspect, and {_called(instead)} is active instead "
                    f"(generation {done.value.generation}). Ask again to ask that one."
                )
        return Suspect(f"{gone} Nothing else could be started. Activate another one.")

    def _refuges(
        self, active: Generation, composition: Composition
    ) -> Generator[tuple[Composition, int | None]]:
        """The last good generation's composition, then the base alone."""
        for earlier in self._journal.committed_before(active.number):
            found = self._stacks.get(earlier.composition)
            if found.id != composition.id and found.suspect is None:
                yield found, earlier.number
                break
        alone = self._stacks.base_alone(composition)
        if alone.id != composition.id and alone.suspect is None:
            yield alone, None

    def _previous(self) -> Generation:
        active = self._journal.active()
        if active is None:
            raise NothingActive("No composition is active yet, so there is nothing to undo.")
        origin = active.restores or active.number
        for earlier in self._journal.committed_before(origin):
            if earlier.composition != active.composition:
                return earlier
        raise NothingToRollBack("There is no earlier composition to return to.")

    @contextmanager
    def _aborting(self, number: int, composition: Composition) -> Generator[None]:
        was_running = self._running.anything
        try:
            yield
        except BaseException as error:
            # A disk that does not take this either must not hide why. What stays open is closed
            # at the next start.
            with suppress(VeneerError):
                self._journal.abort(number, _reason(error))
                if isinstance(error, _RuntimeLost):
                    self._stacks.mark_suspect(composition.id, error.message)
            if isinstance(error, VeneerError):
                with suppress(VeneerError):
                    self._runtime.discard()
                    if was_running:
                        self.ensure_running()
            self.on_changes(_changes(number, composition.id))
            raise


def _changes(number: int, composition: Digest) -> Changes:
    return Changes(generations=frozenset({number}), compositions=frozenset({composition}))


def _called(composition: Composition) -> str:
    return f"“{composition.name}”" if composition.name else short(composition.id)


def _reason(error: BaseException) -> str:
    if isinstance(error, VeneerError):
        at = f" at {error.step}" if error.step else ""
        return f"{error.full_code}{at}: {error.message}"
    return "CANCELLED: Stopped." if isinstance(error, KeyboardInterrupt) else repr(error)


def _activation(number: int, composition: Digest, timings: Timings, *, changed: bool) -> Activation:
    return Activation(
        generation=number,
        composition_id=composition,
        state="COMMITTED",
        timings_ms=timings,
        changed=changed,
    )
