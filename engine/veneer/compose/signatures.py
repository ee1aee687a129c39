"""Signing compositions, and whether what others signed is to be trusted.

The private key is one for each user of a system, made when it is first needed, and lies in the
system's keyring alone. Which public keys are trusted is each workspace's own affair. To sign
something in a workspace is to trust one's own key there.
"""

import secrets
from typing import Literal

from veneer.compose.manifest import PublicKey
from veneer.compose.signing import SEED_BYTES, holds, public_key, sign
from veneer.compose.stacks import Composition, Stacks
from veneer.errors import KeyringFailed, Untrusted
from veneer.identity import short
from veneer.store import keychain
from veneer.store.changes import Outcome
from veneer.store.settings import SettingsShelf
from veneer.store.trust import TrustedKeys

Standing = Literal["unsigned", "broken", "unknown", "trusted"]
"""Of a signature: there is none; it is not of this composition and these notes; nobody here
trusts its key; somebody does."""

_SECRET = "signing key"
_OWN_NAME = "my own key"


class Signatures:
    """The signatures of a workspace's compositions, and the keys that it trusts."""

    def __init__(self, stacks: Stacks, trusted: TrustedKeys, settings: SettingsShelf) -> None:
        self._stacks = stacks
        self._settings = settings
        self.trusted = trusted

    def own_key(self) -> PublicKey:
        """This user's public key. Raises `KeyringFailed`."""
        return public_key(_seed())

    def sign(self, composition: Composition) -> Outcome[Composition]:
        """Put one's signature on a composition, in place of one that was there.

        Raises `KeyringFailed`, `StoreError`, `DiskFull`.
        """
        seed = _seed()
        signed = self._stacks.put_signed(sign(composition.manifest, seed))
        self.trusted.add(public_key(seed), _OWN_NAME)
        return signed

    def standing(self, composition: Composition) -> Standing:
        """What its signature is worth here."""
        manifest = composition.manifest
        signature = manifest.envelope.signature
        if signature is None:
            return "unsigned"
        if not holds(manifest, signature):
            return "broken"
        return "trusted" if self.trusted.has(signature.key) else "unknown"

    def require(self, composition: Composition) -> None:
        """Raise `Untrusted` if the settings want a trusted signature, and there is none."""
        if not self._settings.read().require_signature:
            return
        standing = self.standing(composition)
        if standing != "trusted":
            raise Untrusted(
                f"This workspace runs only what a trusted key has signed. "
                f"{_why(composition, standing)}"
            )


def _why(composition: Composition, standing: Standing) -> str:
    called = composition.name or short(composition.id)
    signature = composition.manifest.envelope.signature
    if signature is None:
        return f"“{called}” is not signed; “veneer sign {called}” signs it with your own key."
    if standing == "broken":
        return (
            f"The signature of “{called}” by {signature.key} does not fit it: something was "
            "changed after it was signed."
        )
    return (
        f"“{called}” is signed by {signature.key}, which nobody here trusts. If you know whose key "
        f"it is: “veneer trust {signature.key}”."
    )


def _seed() -> bytes:
    """The private key, made now if there is none."""
    kept = keychain.read(_SECRET)
    if kept is None:
        kept = secrets.token_hex(SEED_BYTES)
        keychain.keep(_SECRET, kept)
    try:
        return _exact(bytes.fromhex(kept))
    except ValueError as error:
        raise KeyringFailed(
            f"What the system's keyring has as “{_SECRET}” of veneer is not such a key. Remove it "
            "there, and a new one will be made."
        ) from error


def _exact(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"{len(seed)} bytes")
    return seed
