"""Keyrings that are not the system's: one that keeps in memory, and some that fail."""

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordSetError


class MemoryKeyring(KeyringBackend):
    """Keeps secrets for as long as it lives."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.secrets.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.secrets[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.secrets[service, username]


class LockedKeyring(MemoryKeyring):
    """Its owner did not unlock it."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("Failed to unlock the collection!")


class ReadOnlyKeyring(MemoryKeyring):
    """Takes nothing new."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("access denied")


@contextmanager
def using(backend: KeyringBackend) -> Iterator[None]:
    """The system's keyring is this one."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield
    finally:
        keyring.set_keyring(before)
