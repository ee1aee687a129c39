"""Everything that looks after one workspace, put together."""

from dataclasses import dataclass

from veneer.activation.journal import Journal
from veneer.activation.running import Running
from veneer.compose.forms import Forms
from veneer.compose.stacks import Stacks
from veneer.runtime.client import RuntimeClient
from veneer.store.candidates import Candidates
from veneer.store.catalog import Catalog
from veneer.store.custody import Custody
from veneer.store.database import Database
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.library import Library
from veneer.store.objects import Objects
from veneer.store.quarantine import Quarantine
from veneer.store.settings import SettingsShelf
from veneer.store.verify import Verifier
from veneer.upkeep.collect import Collector
from veneer.upkeep.entries import Compositions, Entries
from veneer.upkeep.fsck import Fsck
from veneer.upkeep.hashing import ObjectFiles
from veneer.upkeep.proving import Prover
from veneer.upkeep.roots import Marker


@dataclass(frozen=True)
class Parts:
    """What a workspace is made of."""

    fs: Fs
    layout: Layout
    database: Database
    catalog: Catalog
    objects: Objects
    verifier: Verifier
    quarantine: Quarantine
    custody: Custody
    library: Library
    stacks: Stacks
    journal: Journal
    forms: Forms
    running: Running
    runtime: RuntimeClient
    settings: SettingsShelf


class Caretaker:
    """Checks, collects and verifies."""

    def __init__(self, of: Parts) -> None:
        self.fsck = Fsck(
            of.fs,
            of.layout,
            of.database,
            ObjectFiles(of.fs, of.layout, of.objects, of.custody, of.quarantine),
            Entries(of.layout, of.catalog, of.objects, of.custody, of.verifier),
            Compositions(of.fs, of.layout, of.stacks, of.journal, of.quarantine),
        )
        self.collector = Collector(
            of.fs,
            of.layout,
            of.catalog,
            of.objects,
            of.verifier,
            Candidates(of.database),
            _marker(of),
        )
        self.prover = Prover(of.library, of.custody, of.running, of.runtime)


def _marker(of: Parts) -> Marker:
    return Marker(
        of.fs, of.layout, of.catalog, of.stacks, of.journal, of.forms, of.running, of.settings
    )
