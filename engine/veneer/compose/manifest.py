"""The document that specifies a composition completely.

The semantic part is hashed into the composition id; the envelope is not. On disk a manifest is
TOML for people, decoded strictly: an unknown field is an error, not a remark.
"""

import math
from typing import Annotated, Any, Literal, NewType

import msgspec

from veneer.errors import ManifestError
from veneer.identity import Digest, composition_id

PublicKey = NewType("PublicKey", str)
"""`ed25519:` and 64 hex digits."""

SCHEMA = 1
MAX_ADAPTERS = 64
MAX_SCALE = 100.0


class BaseRef(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which base: its files' digests in shard order, and what it must turn out to be."""

    digests: tuple[Digest, ...]
    architecture_id: Digest
    tokenizer_id: Digest
    quantization: str


class AdapterRef(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Which adapter, how strongly, and on which of its targets (None: on all)."""

    digest: Digest
    scale: float
    targets: tuple[str, ...] | None = None


class Method(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the adapters' deltas are combined. `sum` adds each, times its scale."""

    name: Literal["sum"] = "sum"


class Semantic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that changes what is computed."""

    schema: int = SCHEMA
    base: BaseRef
    adapters: tuple[AdapterRef, ...] = ()
    method: Method = Method()


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who vouches for a composition and its envelope: a key, and what it signed in hexadecimal."""

    key: Annotated[PublicKey, msgspec.Meta(pattern=r"\Aed25519:[0-9a-f]{64}\Z")]
    value: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{128}\Z")]


class Envelope(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What people note about a composition. Changes nothing that is computed."""

    name: str = ""
    notes: str = ""
    created_at: str = ""
    tool: str = ""
    signature: Signature | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A composition: what it means, and what is said about it."""

    composition: Semantic
    envelope: Envelope = Envelope()

    @property
    def id(self) -> Digest:
        """The composition id: equal for equal meaning, different for any difference."""
        # A router is part of the identity even while there is none, so that adding routers
        # later leaves every id of today as it is.
        fields: dict[str, Any] = msgspec.to_builtins(self.composition)
        for adapter in fields["adapters"]:
            adapter.setdefault("targets", None)
        return composition_id({**fields, "router": None})

    def uses(self, digest: Digest) -> bool:
        """Whether this base or adapter is part of it."""
        return digest in self.composition.base.digests or any(
            adapter.digest == digest for adapter in self.composition.adapters
        )


def checked(semantic: Semantic) -> Semantic:
    """The same, with scales normalised (no negative zero). Raises `ManifestError`."""
    if semantic.schema != SCHEMA:
        raise ManifestError(f"composition.schema is {semantic.schema}; this Veneer reads {SCHEMA}.")
    if not semantic.base.digests:
        raise ManifestError("composition.base.digests is empty; it wants at least one digest.")
    if len(semantic.adapters) > MAX_ADAPTERS:
        raise ManifestError(
            f"composition.adapters has {len(semantic.adapters)} entries; at most {MAX_ADAPTERS}."
        )
    adapters = tuple(_checked_adapter(n, a) for n, a in enumerate(semantic.adapters))
    digests = [a.digest for a in adapters]
    for number, digest in enumerate(digests):
        if digest in digests[:number]:
            raise ManifestError(
                f"composition.adapters[{number}] repeats an earlier adapter. Add their scales "
                "and name it once."
            )
    return msgspec.structs.replace(semantic, adapters=adapters)


def _checked_adapter(number: int, adapter: AdapterRef) -> AdapterRef:
    if not math.isfinite(adapter.scale) or abs(adapter.scale) > MAX_SCALE:
        raise ManifestError(
            f"composition.adapters[{number}].scale is {adapter.scale}; it wants a number from "
            f"{-MAX_SCALE:g} to {MAX_SCALE:g}."
        )
    if adapter.targets is not None:
        raise ManifestError(
            f"composition.adapters[{number}].targets is set; applying part of an adapter is not "
            "supported yet."
        )
    return msgspec.structs.replace(adapter, scale=adapter.scale + 0.0)


def encode(manifest: Manifest) -> bytes:
    """The manifest as TOML, UTF-8."""
    return msgspec.toml.encode(manifest)


def decode(data: bytes) -> Manifest:
    """Read a TOML manifest strictly. Raises `ManifestError` naming the field."""
    try:
        manifest = msgspec.toml.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"The manifest cannot be read: {error}.") from error
    return msgspec.structs.replace(manifest, composition=checked(manifest.composition))
