"""Ed25519 signatures over a composition and what is noted about it.

What is signed is the composition's id and its envelope, less the signature itself, in canonical
JSON. Fields of the envelope that are empty are left out of it, so that a field which a later
Veneer adds leaves the signatures of today valid.
"""

import re
from typing import Final

import msgspec

from veneer.compose.manifest import Manifest, PublicKey, Signature
from veneer.errors import UsageError
from veneer.identity import canonical_json

SEED_BYTES: Final = 32
_PREFIX: Final = "ed25519:"


def public_key(seed: bytes) -> PublicKey:
    """The public half of a private key of `SEED_BYTES` bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    raw = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return PublicKey(_PREFIX + raw.hex())


def key_from(text: str) -> PublicKey:
    """The public key that a person wrote, with or without its prefix. Raises `UsageError`."""
    match = re.fullmatch(rf"(?:{_PREFIX})?([0-9a-f]{{64}})", text.strip().lower())
    if match is None:
        raise UsageError(
            f"“{text}” is no public key. One looks like {_PREFIX} and 64 hex digits; its owner "
            "sees it with “veneer key”."
        )
    return PublicKey(_PREFIX + match[1])


def sign(manifest: Manifest, seed: bytes) -> Manifest:
    """The same manifest with this key's signature, in place of one that was there."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    value = Ed25519PrivateKey.from_private_bytes(seed).sign(_signed_bytes(manifest))
    signature = Signature(key=public_key(seed), value=value.hex())
    envelope = msgspec.structs.replace(manifest.envelope, signature=signature)
    return msgspec.structs.replace(manifest, envelope=envelope)


def holds(manifest: Manifest, signature: Signature) -> bool:
    """Whether the signature's key has signed this very manifest."""
    # Imported here: 50 ms, and few start with a signed composition.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.key[len(_PREFIX) :]))
        key.verify(bytes.fromhex(signature.value), _signed_bytes(manifest))
    except InvalidSignature:
        return False
    return True


def _signed_bytes(manifest: Manifest) -> bytes:
    bare = msgspec.structs.replace(manifest.envelope, signature=None)
    return canonical_json(
        {
            "signed": "veneer manifest",
            "composition": manifest.id,
            "envelope": msgspec.to_builtins(bare),
        }
    )
