"""The one object a front end holds.

Opening for writing: make the folders -> take the lock -> open the database -> recover -> ready.
Opening for reading takes no lock and recovers nothing. The worker starts when it is first needed.
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
import platformdirs
from numpy.typing import NDArray

from veneer.activation.activator import Activation, Activator
from veneer.activation.confirmation import Confirmations
from veneer.activation.evaluator import Evaluator, Probed
from veneer.activation.journal import Generation, Journal, Requester
from veneer.activation.recovery import Recovery, recover
from veneer.activation.running import Room, Running, offer_of
from veneer.adapters.compat import CompatReport
from veneer.chat.attaching import read_attachment
from veneer.chat.comparing import Comparing, OnSide
from veneer.chat.comparisons import Comparisons, Kept
from veneer.chat.conversation import Attachment
from veneer.chat.export import Form, exported
from veneer.chat.history import History
from veneer.chat.presets import Presets
from veneer.chat.search import Found, search
from veneer.chat.talk import Talk
from veneer.compose.compile import Compiler
from veneer.compose.export import Exported, Exporter
from veneer.compose.forms import Forms
from veneer.compose.lanes import Offer
from veneer.compose.pins import Pins
from veneer.compose.plan import LaneWish
from veneer.compose.receive import Receiver
from veneer.compose.signatures import Signatures
from veneer.compose.stacks import Composition, Stacks
from veneer.errors import InUse, NotFound
from veneer.identity import Digest
from veneer.runtime.client import RuntimeClient
from veneer.store.catalog import Catalog
from veneer.store.changes import Changes, Outcome
from veneer.store.custody import Custody
from veneer.store.database import Database
from veneer.store.draft import Draft
from veneer.store.fs import Fs, RealFs
from veneer.store.importable import importable
from veneer.store.importing import Imported, Importer
from veneer.store.layout import Layout
from veneer.store.library import Library
from veneer.store.lock import WriterLock
from veneer.store.objects import Objects
from veneer.store.quarantine import Quarantine
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.refs import Named, resolve
from veneer.store.settings import Settings, SettingsShelf
from veneer.store.trust import TrustedKeys
from veneer.store.verify import Verifier
from veneer.store.watch import Watcher
from veneer.tasks import CancelToken, Progress, silent
from veneer.upkeep.caretaker import Caretaker, Parts
from veneer.upkeep.collect import GRACE, Clock, Collected, utc_now
from veneer.upkeep.proving import VerifyReport
from veneer.upkeep.rebuild import Rebuilt, needs_rebuilding, rebuild, require_database
from veneer.upkeep.report import FsckReport

_LOG_TAIL = 64 << 10
VERSION = version("veneer")
TOOL = f"veneer {VERSION}"


def default_path() -> Path:
    """`VENEER_HOME`, or the place this system gives to a program's data."""
    chosen = os.environ.get("VENEER_HOME")
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("veneer", appauthor=False))


def _root(path: Path | None) -> Path:
    return (path or default_path()).expanduser().absolute()


class Workspace:
    """One user's bases, adapters, stacks, generations and conversations.

    `library`, `stacks`, `pins`, `signatures`, `journal`, `history`, `presets`, `comparisons` and
    `talk` may be used directly to look; what changes more than one of them is a method here.
    `custody` verifies files, and moves damaged ones aside, where the workspace is open for
    writing. Use as a context manager, or `close`.
    """

    def __init__(self, root: Path, fs: Fs, *, writable: bool, by: Requester) -> None:
        self.root = root
        self._fs = fs
        self._by: Requester = by
        layout = Layout(root)
        with ExitStack() as undo:
            for directory in layout.directories:
                fs.make_dirs(directory)
            if writable:
                undo.callback(WriterLock(fs, layout).release)
            require_database(fs, layout)
            database = Database(layout.database, writable=writable)
            undo.callback(database.close)
            self._build(fs, layout, database, writable=writable)
            self.recovery = self._recover(fs, layout) if writable else Recovery()
            undo.callback(self.activator.stop)
            self._undo = undo.pop_all()

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        writable: bool = True,
        fs: Fs | None = None,
        by: Requester = "api",
    ) -> Self:
        """Open a workspace, making it if it is not there.

        Raises `WorkspaceBusy` if another process writes to it, `WorkspaceTooNew`, `StoreError`.
        """
        return cls(_root(path), fs or RealFs(), writable=writable, by=by)

    @classmethod
    def rebuild(
        cls, path: Path | None = None, *, fs: Fs | None = None, cancel: CancelToken | None = None
    ) -> Rebuilt | None:
        """Make a new database for a workspace whose own is damaged or gone; None if it is whole.

        Raises `WorkspaceBusy`, `WorkspaceTooNew`, `StoreError`, `DiskFull`, `Cancelled`.
        """
        fs, layout = fs or RealFs(), Layout(_root(path))
        for directory in layout.directories:
            fs.make_dirs(directory)
        lock = WriterLock(fs, layout)
        try:
            return rebuild(fs, layout, TOOL, cancel) if needs_rebuilding(fs, layout) else None
        finally:
            lock.release()

    def close(self) -> None:
        """End the worker, close the database, release the lock."""
        self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._settings.read()

    def change_settings(self, settings: Settings) -> None:
        """Keep these settings. Those of the context take effect at the next activation.

        Raises `BadSetting`, or `OverBudget` for a context in which what is active would not fit.
        """
        self.activator.require_room(settings)
        self._settings.write(settings)

    def import_path(
        self,
        path: Path,
        *,
        copy: bool = False,
        name: str | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Imported]:
        """Bring in a base, an adapter or a packed stack.

        See `Importer.import_path` and `compose.receive.Receiver.receive`.
        """
        if self._receiver.is_package(path):
            return self._receiver.receive(path, name=name, progress=progress, cancel=cancel)
        return self._importer.import_path(
            path, copy=copy, name=name, progress=progress, cancel=cancel
        )

    def importable(self, path: Path) -> tuple[Path, ...]:
        """What there is to import at a path; see `store.importable`."""
        return importable(self._fs, path)

    def not_here_yet(self, folder: Path) -> tuple[Path, ...]:
        """What lies in a folder and was not imported from there. Nothing if it is not there."""
        found = self._fs.stat(folder)
        if found is None or not found.is_dir:
            return ()
        bases = {base.path for base in self.library.bases()}
        known = bases | {adapter.source for adapter in self.library.adapters()}
        inside = importable(self._fs, folder)
        return tuple(path for path in inside if path != folder and str(path) not in known)

    def watch(self, found: Callable[[Path], None]) -> Watcher:
        """A watcher of folders, which the caller closes; see `store.watch`."""
        return Watcher(self._fs, found)

    def export(
        self,
        ref: str,
        target: Path,
        *,
        with_base: bool = False,
        replace: bool = False,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Exported:
        """Pack a stack or composition, by ref, into one file; see `Exporter.export`."""
        return self._exporter.export(
            self.stacks.find(ref),
            target,
            with_base=with_base,
            replace=replace,
            progress=progress,
            cancel=cancel,
        )

    def find(self, ref: str) -> StoredBase | StoredAdapter | Composition:
        """Whatever `ref` means. Raises `NotFound` or `AmbiguousRef`."""
        found = resolve(ref, self.library.named() + self.stacks.named())
        return self._load(found)

    def location(self, ref: str) -> Path:
        """Where a base lies, or where an adapter came from if that is still there, or its object.

        Raises `NotFound` or `AmbiguousRef`.
        """
        found = resolve(ref, self.library.named())
        if found.kind == "base":
            return self.library.base(found.digest).file
        stored = self.library.adapter(found.digest)
        source = Path(stored.source)
        if stored.source and self._fs.stat(source) is not None:
            return source
        return self.library.object_of(stored)

    def check(self, adapter: str, base: str) -> CompatReport:
        """Whether, and how completely, an adapter applies to a base; both by ref."""
        return self.library.check(
            self.library.find_adapter(adapter).digest, self.library.find_base(base).digest
        )

    def room(self, base: Digest, adapters: Sequence[Digest]) -> Room:
        """The memory that these adapters on this base need, and what they may have now.

        Raises `NotFound`.
        """
        stored = tuple(map(self.library.adapter, adapters))
        return self._running.room(self.library.base(base), stored)

    def compose(
        self,
        base: str,
        adapters: Sequence[tuple[str, float | None]] = (),
        *,
        name: str | None = None,
        was: str | None = None,
    ) -> Outcome[Composition]:
        """Make a composition of a base and adapters, by refs, bottom first.

        A scale of None is the adapter's default strength. `was` is the name of the stack that
        this is from now on, under `name`. Raises `NotFound`, `AmbiguousRef`, `NameTaken`,
        `ManifestError`.
        """
        stored = [(self.library.find_adapter(ref), scale) for ref, scale in adapters]
        pairs = [(a, a.default_scale if scale is None else scale) for a, scale in stored]
        return self.stacks.compose(self.library.find_base(base), pairs, name=name, was=was)

    def activate(
        self,
        ref: str,
        *,
        by: Requester | None = None,
        confirm_base: bool = False,
        lane: LaneWish | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Activation]:
        """Activate a stack or composition by ref; the ref of a base means that base alone.

        `by` is who asks, if it is not who opened the workspace. `confirm_base` says that the
        adapters belong on the base where only their shapes show it; see
        `activation.confirmation`. A `lane` becomes the setting, if that succeeds. Raises
        `ConfirmBase`, or as `Activator.activate`.
        """
        composition = self._composition(ref)
        with self._lane_of(lane):
            return self.activator.activate(
                composition,
                by or self._by,
                confirm_base=confirm_base,
                progress=progress,
                cancel=cancel,
            )

    def rollback(
        self,
        to: int | None = None,
        *,
        by: Requester | None = None,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[Activation]:
        """Return to an earlier composition, as a new generation."""
        return self.activator.rollback(by or self._by, to=to, progress=progress, cancel=cancel)

    def active(self) -> tuple[Generation, Composition] | None:
        """The active generation and its composition, or None in a new workspace."""
        generation = self.journal.active()
        if generation is None:
            return None
        return generation, self.stacks.get(generation.composition)

    def logits(
        self,
        token_ids: tuple[int, ...],
        composition: str | None = None,
        cancel: CancelToken | None = None,
        *,
        confirm_base: bool = False,
        lane: LaneWish | None = None,
    ) -> NDArray[np.float32]:
        """The logits after these tokens, from an empty context: float32, shape (n_vocab,).

        Under the active composition, or under another one by ref, which is then run apart and
        never becomes active; `lane` is for that one alone.
        """
        return self._evaluator.logits(
            token_ids,
            self._optional(composition),
            cancel,
            confirm_base=confirm_base,
            lane=lane,
        )

    def tokenize(self, text: str, composition: str | None = None) -> tuple[int, ...]:
        """Text to token ids by the base's tokenizer, without a template."""
        return self._evaluator.tokenize(text, self._optional(composition))

    def probe(
        self,
        tokens: str | tuple[int, ...],
        *,
        composition: str | None = None,
        out: Path | None = None,
        confirm_base: bool = False,
        lane: LaneWish | None = None,
    ) -> Probed:
        """Tokenize a text if one is given, and write the logits to a .npy file if asked to."""
        return self._evaluator.probe(
            tokens, self._optional(composition), out, confirm_base=confirm_base, lane=lane
        )

    def sign(self, ref: str) -> Outcome[Composition]:
        """Sign a stack or composition by ref with one's own key; see `Signatures.sign`."""
        return self.signatures.sign(self._composition(ref))

    def compare(
        self,
        conversation: int,
        question: str,
        refs: Sequence[str],
        *,
        by: Requester | None = None,
        on_side: OnSide = lambda side, text: None,
        cancel: CancelToken | None = None,
    ) -> Outcome[Kept]:
        """Put a question to several stacks, one after another, with the same seed.

        What was active before is active again afterwards; see `Comparing.compare`.
        """
        compositions = [self._composition(ref) for ref in refs]
        return self._comparing.compare(
            conversation,
            question,
            compositions,
            by or self._by,
            on_side=on_side,
            cancel=cancel or CancelToken(),
        )

    def search(self, words: str) -> tuple[Found, ...]:
        """The conversations in which these words were said."""
        return search(self._database, self.history, words)

    def attach(self, path: Path) -> Attachment:
        """A text file, to be sent along with a question. Raises `NotText`, `StoreError`."""
        return read_attachment(self._fs, path)

    def export_conversation(self, number: int, out: Path, form: Form) -> None:
        """Write a conversation to a file, in place of what is there. Raises `NotFound`."""
        text = exported(self.history.get(number), self.comparisons.of(number), form)
        with Draft(self._fs, out.absolute().parent) as draft:
            draft.write(text.encode())
            draft.publish(out.absolute())

    def forget(self, ref: str) -> Changes:
        """Remove a stack's name, or a base or adapter that no stack needs. Raises `InUse`."""
        found = resolve(ref, self.library.named() + self.stacks.named())
        if found.kind == "composition":
            if found.name is None:
                raise NotFound("Only a stack with a name can be removed; the rest is history.")
            return self.stacks.forget(found.name)
        self._refuse_used(found)
        if found.kind == "base":
            return self.library.forget_base(found.digest)
        return self.library.forget_adapter(found.digest)

    def fsck(
        self,
        *,
        repair: bool = False,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[FsckReport]:
        """Check everything the workspace holds, and repair what can be repaired with certainty.

        `progress` is in bytes. Raises `Cancelled`, `StoreError`.
        """
        report = self._caretaker.fsck.run(repair=repair, progress=progress, cancel=cancel)
        repaired = any(finding.repair for finding in report.findings)
        return Outcome(report, self._everything() if repaired else Changes())

    def gc(
        self, *, grace: timedelta = GRACE, dry_run: bool = False, clock: Clock = utc_now
    ) -> Outcome[Collected]:
        """Remove what nothing needs: marked the first time, gone when its grace has passed.

        Needed is what is in the library, what saved stacks and the kept generations name, and
        what runs. Where that cannot be told nothing is removed, and the plan says why.
        """
        return self._caretaker.collector.collect(grace, dry_run=dry_run, clock=clock)

    def verify(
        self,
        ref: str | None = None,
        *,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> Outcome[VerifyReport]:
        """Hash and run a base, an adapter or a composition anew; without `ref`, the whole library.

        `progress` is in bytes hashed. Raises `NotFound`, `AmbiguousRef`, `Cancelled`.
        """
        prover = self._caretaker.prover
        subject = prover.subject(None if ref is None else self.find(ref))
        report = prover.verify(subject, progress, cancel)
        return Outcome(report, Changes() if report.ok else self._everything())

    def interrupt(self) -> None:
        """Stop the answer that is streaming, if one is."""
        self._runtime.interrupt("cancelled")

    def runtime_offer(self) -> Offer:
        """What llama.cpp says it is, and whether the overlay works. Starts the worker.

        Raises `RuntimeMissing`.
        """
        return offer_of(self._runtime.start())

    def runtime_log(self) -> str:
        """The end of what llama.cpp printed, plain text; empty if it never ran."""
        path = self._runtime.log
        if self._fs.stat(path) is None:
            return ""
        with self._fs.open_read(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL))
            text = file.read().decode("utf-8", "replace")
        return "".join(c for c in text if c == "\n" or c.isprintable())

    def _build(self, fs: Fs, layout: Layout, database: Database, *, writable: bool) -> None:
        catalog, objects = Catalog(database), Objects(fs, layout)
        verifier, quarantine = Verifier(fs, database), Quarantine(fs, layout)
        self._settings = SettingsShelf(database)
        self._importer = Importer(fs, catalog, objects, verifier)
        self.library = Library(fs, catalog, objects)
        self.stacks = Stacks(fs, layout, database, TOOL, quarantine if writable else None)
        self.pins = Pins(database)
        self.signatures = Signatures(self.stacks, TrustedKeys(database), self._settings)
        self.custody = Custody(verifier, catalog, objects, quarantine, self.stacks.needing)
        self._receiver = Receiver(fs, self._importer, self.library, self.stacks)
        self._exporter = Exporter(fs, self.library)
        self.journal = Journal(database)
        self._database = database
        self.history = History(database)
        forms = Forms(fs, layout, self.library, verifier)
        self._compiler = Compiler(self.library, self.custody, forms)
        self._runtime = RuntimeClient(layout.logs / "runtime.log")
        self._running = running = Running(self._compiler, self._runtime, self._settings, layout.kv)
        self.activator = Activator(
            self.journal,
            Confirmations(self.library, self.journal),
            self.signatures,
            self.stacks,
            running,
            self._runtime,
            self._settings,
        )
        self._caretaker = Caretaker(
            Parts(
                fs=fs,
                layout=layout,
                database=database,
                catalog=catalog,
                objects=objects,
                verifier=verifier,
                quarantine=quarantine,
                custody=self.custody,
                library=self.library,
                stacks=self.stacks,
                journal=self.journal,
                forms=forms,
                running=running,
                runtime=self._runtime,
                settings=self._settings,
            )
        )
        self._evaluator = Evaluator(fs, self.activator, self._runtime)
        self.talk = Talk(self.activator, self._runtime, self.stacks, self.history)
        self.presets, self.comparisons = Presets(database), Comparisons(database)
        self._comparing = Comparing(
            self.activator, self.journal, self.stacks, self.talk, self.history, self.comparisons
        )

    def _everything(self) -> Changes:
        named = self.library.named()
        return Changes(
            bases=frozenset(n.digest for n in named if n.kind == "base"),
            adapters=frozenset(n.digest for n in named if n.kind == "adapter"),
            compositions=frozenset(self.stacks.known()),
        )

    def _composition(self, ref: str) -> Composition:
        """What a ref stands for where something is to run; a base stands for itself alone."""
        bases = [n for n in self.library.named() if n.kind == "base"]
        found = resolve(ref, self._stacks_before(bases))
        if found.kind == "base":
            return self.stacks.compose(self.library.base(found.digest)).value
        return self.stacks.get(found.digest)

    def _recover(self, fs: Fs, layout: Layout) -> Recovery:
        return recover(fs, layout, self.journal, self.stacks, self._compiler)

    @contextmanager
    def _lane_of(self, lane: LaneWish | None) -> Generator[None]:
        before = self.settings
        if lane is None or lane == before.lane:
            yield
            return
        self.change_settings(msgspec.structs.replace(before, lane=lane))
        try:
            yield
        except BaseException:
            self.change_settings(msgspec.structs.replace(self.settings, lane=before.lane))
            raise

    def _optional(self, ref: str | None) -> Composition | None:
        return None if ref is None else self._composition(ref)

    def _stacks_before(self, bases: list[Named]) -> list[Named]:
        """What can be activated. A stack that is called like a base hides the base."""
        stacks = self.stacks.named()
        names = {n.name for n in stacks}
        return stacks + [b for b in bases if b.name not in names]

    def _load(self, found: Named) -> StoredBase | StoredAdapter | Composition:
        match found.kind:
            case "base":
                return self.library.base(found.digest)
            case "adapter":
                return self.library.adapter(found.digest)
            case "composition":
                return self.stacks.get(found.digest)

    def _refuse_used(self, found: Named) -> None:
        users: list[str] = [f"“{name}”" for name in self.stacks.users_of(found.digest)]
        active = self.active()
        if active is not None and active[1].manifest.uses(found.digest):
            users.append("the active composition")
        if users:
            raise InUse(f"{found} is needed by {', '.join(users)}. Remove those first.")


__all__ = ["VERSION", "Workspace", "default_path"]
