"""Secrets go to the system's keyring or nowhere, and a person is told which."""

import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as Forgetful

from tests.engine.keyrings import LockedKeyring, MemoryKeyring, ReadOnlyKeyring, using
from veneer.errors import KeyringFailed
from veneer.store import keychain


def test_a_secret_is_kept_under_veneer_s_name():
    memory = MemoryKeyring()
    with using(memory):
        assert keychain.read("token") is None
        keychain.keep("token", "s3cret")
        assert keychain.read("token") == "s3cret"
    assert memory.secrets == {("veneer", "token"): "s3cret"}


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        (NoKeyring(), "could not be written to: No recommended backend"),
        (ReadOnlyKeyring(), "could not be written to: access denied"),
        (LockedKeyring(), "could not be read from: Failed to unlock the collection!"),
        (Forgetful(), "kept nothing"),
    ],
)
def test_a_keyring_that_does_not_keep_says_so(backend: KeyringBackend, words: str):
    with using(backend), pytest.raises(KeyringFailed) as caught:
        keychain.keep("token", "s3cret")
    assert words in caught.value.message
    assert "s3cret" not in caught.value.message
