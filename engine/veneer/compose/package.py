"""What is in a .slm file, which carries one stack to another computer.

A plain zip whose members are stored as they are, in this order, so that it can be read as it
comes in: `manifest.toml` (the composition), `about.toml` (an `About`: the names and notes that go
with it), `adapters/<digest>/<file>` for each adapter's files, `base/<digest>.gguf` if the base
travels too. What a package says is never believed: every file is hashed.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from veneer.compose.manifest import Manifest, decode
from veneer.errors import Damaged, FormatError
from veneer.identity import Digest, hex_of, sha256_table, short
from veneer.store.archive import Member

MANIFEST: Final = "manifest.toml"
ABOUT: Final = "about.toml"
SUFFIX: Final = ".slm"
_DOCUMENT_MAX: Final = 4 << 20


class AboutBase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base under the stack, for whoever has to find it. `size` in bytes."""

    digest: Digest
    name: str
    architecture: str
    tokenizer: str | None = None
    n_layers: int
    n_embd: int
    n_vocab: int
    size: int
    included: bool = False


class AboutAdapter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An adapter in the package, with what its owner noted about it."""

    digest: Digest
    name: str
    files: dict[str, Digest]
    default_scale: float = 1.0
    trigger_text: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    system_prompt: str = ""
    license: str = ""

    @property
    def adds_up(self) -> bool:
        """Whether its digest is the one that its files make."""
        only = next(iter(self.files.values())) if len(self.files) == 1 else None
        return self.digest == (only or sha256_table(self.files))


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What goes with a composition. `name` is that of the stack."""

    format: Literal[1] = 1
    name: str
    composition: Digest
    base: AboutBase
    adapters: tuple[AboutAdapter, ...] = ()


def adapter_file(adapter: Digest, name: str) -> str:
    """Where one of an adapter's files lies in a package."""
    return f"adapters/{hex_of(adapter)}/{name}"


def base_file(base: Digest) -> str:
    """Where the base lies in a package."""
    return f"base/{hex_of(base)}.gguf"


def is_package(members: Sequence[Member]) -> bool:
    """Whether an archive is a stack, and not an adapter."""
    return {MANIFEST, ABOUT} <= {member.name for member in members}


def read(members: Mapping[str, Member]) -> tuple[Manifest, About]:
    """The two documents of a package, which agree. Raises `FormatError`, `ManifestError`,
    `Damaged`.
    """
    manifest = decode(_document(members[MANIFEST]))
    about = decode_about(_document(members[ABOUT]))
    if manifest.id != about.composition:
        raise Damaged(
            f"The package says that it holds composition {short(about.composition)}, but its "
            f"manifest describes {short(manifest.id)}. Ask for it again."
        )
    listed = {adapter.digest for adapter in about.adapters}
    missing = [a.digest for a in manifest.composition.adapters if a.digest not in listed]
    if missing or about.base.digest not in manifest.composition.base.digests:
        what = missing[0] if missing else about.base.digest
        raise FormatError("CONFIG", f"The package does not agree with itself about {short(what)}.")
    return manifest, about


def decode_about(data: bytes) -> About:
    """Read `about.toml` strictly. Raises `FormatError`."""
    try:
        about = msgspec.toml.decode(data, type=About)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError("CONFIG", f"{ABOUT} of the package cannot be read: {error}.") from error
    for adapter in about.adapters:
        if not adapter.files or not adapter.adds_up:
            what = f"the adapter {short(adapter.digest)}"
            raise FormatError("CONFIG", f"{ABOUT} lists files for {what} that are not its own.")
    return about


def _document(member: Member) -> bytes:
    if member.size > _DOCUMENT_MAX:
        raise FormatError("SIZE", f"{member.name} of the package is far too large.")
    with member.open() as file:
        return file.read(_DOCUMENT_MAX)
