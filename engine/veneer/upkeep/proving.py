"""Everything about bases and adapters checked anew: every byte, and what they do.

Order: every file is hashed, whatever is remembered of it -> each base runs alone in a worker apart,
and must give numbers -> each adapter runs on a base that it fits, and must change them -> a stack
runs as a whole. One that fails keeps none of the others from being checked.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

import msgspec

from veneer.activation.running import Running
from veneer.compose.manifest import AdapterRef, Manifest, Semantic, checked
from veneer.compose.stacks import Composition, base_ref
from veneer.errors import Cancelled, VeneerError
from veneer.identity import Digest, short
from veneer.runtime.client import RuntimeClient
from veneer.store.custody import Custody
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.tasks import CancelToken, Progress, part_of, silent

Layers = tuple[tuple[StoredAdapter, float], ...]
"""Adapters with their scales, bottom first."""
Run = Callable[[StoredBase, Layers], None]

_SURENESS = {"digest": 0, "named": 1, "shape": 2}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one base, adapter or composition.

    `code` is the error's, or None where all is well. `probed_on` is the base it ran on; None with
    a `message` says why it did not run though its bytes are right.
    """

    kind: Literal["base", "adapter", "composition"]
    id: Digest
    name: str
    probed_on: str | None = None
    code: str | None = None
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.code is None


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts: bases first, then adapters, then the composition if one was asked about."""

    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with any of them."""
        return all(verdict.ok for verdict in self.verdicts)


@dataclass(frozen=True)
class Subject:
    """What is to be verified. A `composition` is probed as a whole too."""

    bases: tuple[StoredBase, ...]
    adapters: tuple[StoredAdapter, ...]
    composition: Composition | None = None


class Prover:
    """Verifies in one workspace, which must be open for writing."""

    def __init__(
        self, library: Library, custody: Custody, running: Running, runtime: RuntimeClient
    ) -> None:
        self._library = library
        self._custody = custody
        self._running = running
        self._runtime = runtime

    def subject(self, found: StoredBase | StoredAdapter | Composition | None) -> Subject:
        """What verifying `found` is about; None stands for the whole library."""
        match found:
            case None:
                return Subject(self._library.bases(), self._library.adapters())
            case StoredBase():
                return Subject((found,), ())
            case StoredAdapter():
                return Subject((), (found,))
            case Composition():
                semantic = found.manifest.composition
                bases = tuple(map(self._library.base, semantic.base.digests))
                adapters = tuple(self._library.adapter(a.digest) for a in semantic.adapters)
                return Subject(bases, adapters, found)

    def verify(
        self, subject: Subject, progress: Progress = silent, cancel: CancelToken | None = None
    ) -> VerifyReport:
        """Hash and run everything. `progress` is in bytes hashed. Raises `Cancelled`."""
        cancel = cancel or CancelToken()
        wrong = self._hash(subject, progress, cancel)
        with self._worker(cancel) as run:
            return VerifyReport(verdicts=tuple(self._verdicts(subject, wrong, run)))

    def _hash(
        self, subject: Subject, progress: Progress, cancel: CancelToken
    ) -> dict[Digest, VeneerError]:
        """What is wrong with the bytes, by what they belong to."""
        sizes = [base.base.bytes for base in subject.bases]
        sizes += [adapter.size for adapter in subject.adapters]
        wrong: dict[Digest, VeneerError] = {}
        done, total = 0, sum(sizes)
        for stored, size in zip((*subject.bases, *subject.adapters), sizes, strict=True):
            report = part_of(progress, done, total)
            with _noting(wrong, stored.digest):
                if isinstance(stored, StoredBase):
                    self._custody.verify_base(stored, report, cancel, thorough=True)
                else:
                    self._custody.verify_adapter(stored, cancel=cancel, thorough=True)
            done += size
            progress(done, total)
        return wrong

    def _verdicts(
        self, subject: Subject, wrong: dict[Digest, VeneerError], run: Run
    ) -> Iterator[Verdict]:
        for base in subject.bases:
            verdict = Verdict(kind="base", id=base.digest, name=base.name)
            yield _ran(verdict, base, wrong, partial(run, base, ()))
        for adapter in subject.adapters:
            yield self._of_adapter(adapter, subject, wrong, run)
        if subject.composition is not None:
            yield self._of_whole(subject.composition, subject, wrong, run)

    def _of_adapter(
        self, adapter: StoredAdapter, subject: Subject, wrong: dict[Digest, VeneerError], run: Run
    ) -> Verdict:
        verdict = Verdict(kind="adapter", id=adapter.digest, name=adapter.name)
        on = self._base_for(adapter, subject)
        if isinstance(on, str):
            return _failed(verdict, wrong) or msgspec.structs.replace(verdict, message=on)
        # At strength 0 it is off, and would do nothing.
        pairs = ((adapter, adapter.default_scale or 1.0),)
        return _ran(verdict, on, wrong, partial(run, on, pairs))

    def _of_whole(
        self, whole: Composition, subject: Subject, wrong: dict[Digest, VeneerError], run: Run
    ) -> Verdict:
        verdict = Verdict(kind="composition", id=whole.id, name=whole.name or short(whole.id))
        scales = [adapter.scale for adapter in whole.manifest.composition.adapters]
        pairs = tuple(zip(subject.adapters, scales, strict=True))
        (base,) = subject.bases
        return _ran(verdict, base, wrong, partial(run, base, pairs))

    def _base_for(self, adapter: StoredAdapter, subject: Subject) -> StoredBase | str:
        """The base to run an adapter on: the stack's, or the surest one; or why there is none."""
        bases = subject.bases if subject.composition is not None else self._library.bases()
        if not bases:
            return "Not run: there is no base to run it on."
        reports = [(self._library.check(adapter.digest, base.digest), base) for base in bases]
        fitting = [(report, base) for report, base in reports if report.ok]
        if fitting:
            return min(fitting, key=lambda pair: _SURENESS[pair[0].fit])[1]
        report, base = max(reports, key=lambda pair: pair[0].applies)
        return f"Not run, since it fits no base. On “{base.name}”: {report.problems[0].message}"

    @contextmanager
    def _worker(self, cancel: CancelToken) -> Generator[Run]:
        """Runs a base with adapters in a worker of its own, as no generation."""
        apart = self._runtime.twin()

        def run(base: StoredBase, adapters: Layers) -> None:
            # It answers nobody, so that nobody need have confirmed or signed it.
            prepared = self._running.prepare(
                _unsaved(base, adapters), {}, cancel=cancel, runtime=apart
            )
            apart.stage(prepared.plan, prepared.limits, cancel)
            apart.publish(0)

        try:
            yield run
        finally:
            apart.close()


def _unsaved(base: StoredBase, adapters: Layers) -> Composition:
    refs = tuple(AdapterRef(digest=adapter.digest, scale=scale) for adapter, scale in adapters)
    manifest = Manifest(composition=checked(Semantic(base=base_ref(base), adapters=refs)))
    return Composition(id=manifest.id, name=None, manifest=manifest, suspect=None, created_at="")


def _ran(
    verdict: Verdict, base: StoredBase, wrong: dict[Digest, VeneerError], run: Callable[[], None]
) -> Verdict:
    """The verdict after running it, unless its bytes are wrong already."""
    with _noting(wrong, verdict.id):
        if verdict.id not in wrong:
            run()
    passed = msgspec.structs.replace(verdict, probed_on=base.name)
    return _failed(verdict, wrong) or passed


def _failed(verdict: Verdict, wrong: dict[Digest, VeneerError]) -> Verdict | None:
    error = wrong.get(verdict.id)
    if error is None:
        return None
    return msgspec.structs.replace(verdict, code=error.full_code, message=error.message)


@contextmanager
def _noting(wrong: dict[Digest, VeneerError], digest: Digest) -> Generator[None]:
    """One failure is noted, and the next thing is looked at; being stopped stops."""
    try:
        yield
    except Cancelled:
        raise
    except VeneerError as error:
        wrong[digest] = error
