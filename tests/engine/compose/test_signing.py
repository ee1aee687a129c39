"""What a signature covers, against RFC 8032 and the signed bytes written by hand."""

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.engine.compose.test_manifest import A, B, manifest
from veneer.compose.manifest import Manifest, Signature, decode, encode
from veneer.compose.signing import holds, key_from, public_key, sign
from veneer.errors import ManifestError, UsageError

# RFC 8032, 7.1, test 1.
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
KEY = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
OTHER = bytes(32)


def signature_of(made: Manifest) -> Signature:
    assert made.envelope.signature is not None
    return made.envelope.signature


def test_the_public_key_is_that_of_the_standard():
    assert public_key(SEED) == KEY


def test_what_is_signed_is_the_id_and_what_the_envelope_says():
    signed = sign(manifest((A, 1.0), name="tavern"), SEED)
    by_hand = (
        f'{{"composition":"{manifest((A, 1.0)).id}","envelope":{{"name":"tavern"}},'
        '"signed":"veneer manifest"}'
    )
    expected = Ed25519PrivateKey.from_private_bytes(SEED).sign(by_hand.encode())
    assert signature_of(signed) == Signature(key=public_key(SEED), value=expected.hex())
    assert signed.id == manifest((A, 1.0)).id


def test_a_signature_survives_its_file_and_signing_again():
    signed = sign(manifest((A, 1.0), name="tavern"), SEED)
    again = decode(encode(signed))
    assert again == signed
    assert holds(again, signature_of(again))
    assert sign(sign(signed, OTHER), SEED) == signed


@pytest.mark.parametrize(
    "other", [manifest((A, 1.01), name="tavern"), manifest((B, 1.0), name="tavern"),
              manifest((A, 1.0), name="cabin")],
)  # fmt: skip
def test_a_signature_fits_nothing_else(other: Manifest):
    signature = signature_of(sign(manifest((A, 1.0), name="tavern"), SEED))
    assert not holds(other, signature)


def test_a_signature_fits_no_other_key():
    signed = sign(manifest((A, 1.0)), SEED)
    lent = msgspec.structs.replace(signature_of(signed), key=public_key(OTHER))
    assert not holds(signed, lent)


@pytest.mark.parametrize("text", [KEY, KEY.upper(), f" {KEY[8:]}\n"])
def test_a_key_may_be_written_in_several_ways(text: str):
    assert key_from(text) == KEY


@pytest.mark.parametrize("text", ["", "list", KEY[:-1], KEY + "0", "rsa:" + KEY[8:]])
def test_what_is_no_key_is_refused(text: str):
    with pytest.raises(UsageError, match="no public key"):
        key_from(text)


@pytest.mark.parametrize("field", ["key", "value"])
def test_a_manifest_with_a_strange_signature_is_refused(field: str):
    data = encode(sign(manifest((A, 1.0)), SEED))
    strange = data.replace(f'\n{field} = "'.encode(), f'\n{field} = "\\u001b[2J'.encode())
    assert strange != data
    with pytest.raises(ManifestError, match=rf"signature\.{field}"):
        decode(strange)
