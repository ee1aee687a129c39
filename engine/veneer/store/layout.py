"""Where things lie in a workspace. Names on disk are hex digits or fixed words, never metadata."""

from dataclasses import dataclass
from pathlib import Path

from veneer.identity import Digest, digest_from, hex_of


@dataclass(frozen=True)
class Layout:
    """The paths of one workspace."""

    root: Path

    @property
    def database(self) -> Path:
        """Catalog, journal, active pointer, conversations."""
        return self.root / "veneer.db"

    @property
    def database_log(self) -> Path:
        """What SQLite has committed and not yet folded into the database."""
        return beside(self.database, "-wal")

    @property
    def lock(self) -> Path:
        """The permanent file whose kernel lock says who may write."""
        return self.root / "lock"

    @property
    def holder(self) -> Path:
        """Who holds the lock, for messages only."""
        return self.root / "holder.json"

    @property
    def control(self) -> Path:
        """Where the holder answers other programs, and the key to it. Owner-only."""
        return self.root / "control.json"

    @property
    def objects(self) -> Path:
        """Immutable files, each named by the digest of its bytes."""
        return self.root / "objects"

    @property
    def manifests(self) -> Path:
        """One TOML manifest per composition, named by its id."""
        return self.root / "manifests"

    @property
    def derived(self) -> Path:
        """Runtime forms computed from objects; can be emptied at any time."""
        return self.root / "derived"

    @property
    def tmp(self) -> Path:
        """Files being written; emptied at every open."""
        return self.root / "tmp"

    @property
    def logs(self) -> Path:
        """What llama.cpp printed."""
        return self.root / "logs"

    @property
    def kv(self) -> Path:
        """Computed conversations, if the settings keep them; can be emptied at any time."""
        return self.root / "kv"

    @property
    def quarantine(self) -> Path:
        """Damaged files, kept; nothing removes them but a person."""
        return self.root / "quarantine"

    @property
    def directories(self) -> tuple[Path, ...]:
        """Every directory that an open workspace has."""
        return (
            self.root, self.objects, self.manifests, self.derived, self.tmp, self.logs, self.kv,
            self.quarantine,
        )  # fmt: skip

    def object(self, digest: Digest) -> Path:
        """The place of one object: a shelf of two digits, then all of them."""
        name = hex_of(digest)
        return self.objects / name[:2] / name

    def manifest(self, composition: Digest) -> Path:
        """The place of one composition's manifest."""
        return self.manifests / f"{hex_of(composition)}.toml"

    def object_at(self, path: Path) -> Digest | None:
        """The object whose place this is, or None."""
        digest = digest_from(path.name)
        return digest if digest is not None and self.object(digest) == path else None

    def manifest_at(self, path: Path) -> Digest | None:
        """The composition whose manifest's place this is, or None."""
        digest = digest_from(path.stem)
        return digest if digest is not None and self.manifest(digest) == path else None

    def derived_form(self, key: Digest) -> Path:
        """The place of one derived file."""
        return self.derived / f"{hex_of(key)}.gguf"


def beside(database: Path, suffix: str) -> Path:
    """One of the files that SQLite keeps beside a database: `-wal` or `-shm`."""
    return database.with_name(database.name + suffix)
