"""The system's keyring: the only place where Veneer keeps a secret. No file ever holds one.

Windows has its Credential Manager, macOS its Keychain, Linux the Secret Service or KWallet.
"""

from typing import Final

from veneer.errors import KeyringFailed

_SERVICE: Final = "veneer"


def read(name: str) -> str | None:
    """The secret of this name, or None. Raises `KeyringFailed`."""
    # Imported here: 120 ms, and few commands need a secret.
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, name)
    except KeyringError as error:
        raise _failed("read from", error) from error


def keep(name: str, secret: str) -> None:
    """Keep a secret under this name. Raises `KeyringFailed`, also if it was not kept."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_SERVICE, name, secret)
    except KeyringError as error:
        raise _failed("written to", error) from error
    if read(name) != secret:
        raise KeyringFailed(
            "The system's keyring took the secret and kept nothing. Unlock it, or set up another."
        )


def forget(name: str) -> None:
    """Keep the secret of this name no longer, if there is one. Raises `KeyringFailed`."""
    import keyring
    from keyring.errors import KeyringError

    if read(name) is None:
        return
    try:
        keyring.delete_password(_SERVICE, name)
    except KeyringError as error:
        raise _failed("changed", error) from error


def _failed(what: str, error: Exception) -> KeyringFailed:
    return KeyringFailed(
        f"The system's keyring could not be {what}: {str(error).rstrip('.')}. Secrets are kept "
        "nowhere else; set up or unlock a keyring, then try again."
    )
