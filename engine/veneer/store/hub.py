"""Adapters on a hub that speaks Hugging Face's protocol: found, chosen, and streamed.

Order: what the repository holds at one commit -> the files that an adapter is made of -> each as a
door through which the importer reads, so that nothing is kept here. What comes through a door has
the size, and where the hub tells it the digest, that was announced; else the reading fails.

`VENEER_HUB` is another hub's address. The token comes from the system's keyring alone: not from a
file, and not from the environment.
"""

import hashlib
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from veneer.adapters.source import refusal
from veneer.errors import FormatError, HubFailed, KeyringFailed, VeneerError
from veneer.store import keychain
from veneer.store.intake import Intake, adapters_in, beside_in
from veneer.store.refs import clean_name
from veneer.store.streamed import Streamed

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

_TOKEN: Final = "hub-token"
"""The secret's name in the keyring."""
_PUBLIC: Final = "https://huggingface.co"
_REF = re.compile(
    r"(?:hf:|https?://(?:www\.)?(?:huggingface\.co|hf\.co)/)"
    r"(?P<repo>[\w.-]+/[\w.-]+?)"
    r"(?:@(?P<at>[\w.-]+))?(?:/(?:tree|blob)/(?P<tree>[\w.-]+))?"
    r"(?:/(?P<folder>[^?#]*?))?/?(?:[?#].*)?"
)
_SECONDS: Final = 20.0
_LISTED: Final = 6


@dataclass(frozen=True)
class HubRef:
    """A repository, at a branch, tag or commit if one is named, and a folder in it."""

    repo: str
    revision: str | None = None
    folder: str = ""

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision else ""
        inside = f"/{self.folder}" if self.folder else ""
        return f"hf:{self.repo}{at}{inside}"


def parse(path: Path | str) -> HubRef | None:
    """`hf:owner/name[@revision][/folder]`, or the address of a repository's page; None if this is
    neither."""
    text = path.as_posix() if isinstance(path, Path) else path.strip()
    # A path has lost one of the two slashes.
    found = _REF.fullmatch(re.sub(r"^(https?):/(?!/)", r"\1://", text))
    if found is None:
        return None
    return HubRef(found["repo"], found["at"] or found["tree"], found["folder"] or "")


@dataclass(frozen=True)
class HubFile(Streamed):
    """One file of a repository at one commit; no digest where the hub has none."""

    address: str
    digest: str | None
    token: str | None = field(repr=False)

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """Read it from its start, forwards only. Raises `HubFailed`."""
        from huggingface_hub.utils import get_session, hf_raise_for_status

        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        with (
            _in_words(self.name),
            get_session().stream(
                "GET", self.address, headers=headers, follow_redirects=True, timeout=_SECONDS
            ) as response,
        ):
            hf_raise_for_status(response)
            yield cast("BinaryIO", _Pouring(self, response.iter_bytes()))


class _Pouring:
    """What arrives, as a file that is read forwards and must end as was announced."""

    def __init__(self, file: HubFile, chunks: Iterator[bytes]) -> None:
        self._file = file
        self._chunks = chunks
        self._rest = b""
        self._hasher = hashlib.sha256()
        self._size = 0

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; all of it for a negative one."""
        parts, wanted = [self._rest], size - len(self._rest)
        while (size < 0 or wanted > 0) and (chunk := next(self._chunks, b"")):
            self._count(chunk)
            parts.append(chunk)
            wanted -= len(chunk)
        whole = b"".join(parts)
        if size < 0 or len(whole) < size:
            self._require_announced()
        self._rest = b"" if size < 0 else whole[size:]
        return whole if size < 0 else whole[:size]

    def _count(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > self._file.size:
            raise HubFailed(f"{self._file.name} is longer than the hub said. Try again.")
        self._hasher.update(chunk)

    def _require_announced(self) -> None:
        digest = self._file.digest
        if self._size != self._file.size or digest not in (None, self._hasher.hexdigest()):
            raise HubFailed(f"{self._file.name} did not arrive as the hub announced it. Try again.")


def find(ref: HubRef) -> tuple[Intake, str]:
    """What there is to import, and what to note as its source: the very commit.

    Raises `HubFailed`, `FormatError`, `PickleRefused`, `UnsupportedAdapter`.
    """
    commit, everything = _files(ref)
    # The page of a file means the folder that it lies in.
    meant = next((f.folder for f in everything if f.name == ref.folder), ref.folder)
    files = [file for file in everything if file.name.startswith(f"{meant}/" if meant else "")]
    adapters = adapters_in(files)
    adapters = {meant: adapters[meant]} if meant in adapters else adapters
    if len(adapters) != 1:
        raise _not_one(ref, files, tuple(adapters))
    ((folder, found),) = adapters.items()
    if found[0].file_name.lower().endswith(".gguf"):
        raise FormatError(
            "MAGIC",
            f"{found[0].file_name} is a GGUF file, which is not fetched from a hub. Download it, "
            "then import the file: a base is used where it lies.",
        )
    name = clean_name(folder.rpartition("/")[2] or ref.repo.rpartition("/")[2])
    named = {file.file_name: file for file in found}
    intake = Intake("adapter", named, name, beside_in(folder, files))
    return intake, str(HubRef(ref.repo, commit, folder))


def _files(ref: HubRef) -> tuple[str, tuple[HubFile, ...]]:
    """The commit, and every file in it."""
    # Imported here: it takes as long as everything else together, and few need it.
    from huggingface_hub import HfApi, hf_hub_url

    endpoint = os.environ.get("VENEER_HUB", _PUBLIC).rstrip("/")
    token, without = _token()
    with _in_words(ref.repo, without):
        info = HfApi(endpoint=endpoint, token=token or False).model_info(
            ref.repo, revision=ref.revision, files_metadata=True, timeout=_SECONDS
        )
    commit = info.sha or ref.revision or "main"

    def made(each: "RepoSibling") -> HubFile:
        address = hf_hub_url(ref.repo, each.rfilename, revision=commit, endpoint=endpoint)
        digest = each.lfs.sha256 if each.lfs is not None else None
        return HubFile(each.rfilename, each.size or 0, address, digest, token)

    return commit, tuple(map(made, info.siblings or ()))


def _token() -> tuple[str | None, str]:
    """The token; where the keyring cannot be read, none and why. What is public needs none."""
    try:
        return keychain.read(_TOKEN), ""
    except KeyringFailed as error:
        return None, error.message


def _not_one(ref: HubRef, files: Sequence[HubFile], folders: tuple[str, ...]) -> VeneerError:
    if folders:
        listed = ", ".join(f"{HubRef(ref.repo, ref.revision, f)}" for f in folders[:_LISTED])
        return FormatError("COUNT", f"There are {len(folders)} adapters in {ref}: {listed}.")
    return refusal([file.file_name for file in files]) or FormatError(
        "MAGIC", f"There is no adapter in {ref}."
    )


@contextmanager
def _in_words(what: str, without_token: str = "") -> Generator[None]:
    from httpx2 import HTTPError
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    words: Mapping[type[Exception], str] = {
        GatedRepoError: "asks for permission. Get it on the repository's page, and keep your "
        "token in the settings.",
        RepositoryNotFoundError: "is not on the hub, or it is private and needs the token of "
        "somebody who may see it.",
        RevisionNotFoundError: "has no such revision.",
        OfflineModeIsEnabled: "was not looked for: HF_HUB_OFFLINE is set.",
        HFValidationError: "is no name of a repository.",
        HfHubHTTPError: "could not be had: the hub refused.",
        HTTPError: "could not be had: the hub does not answer.",
        OSError: "could not be had: the hub does not answer.",
    }
    try:
        yield
    except tuple(words) as error:
        said = next(text for kind, text in words.items() if isinstance(error, kind))
        raise HubFailed(f"{what} {said} {without_token}".rstrip()) from error


def has_token() -> bool:
    """Whether the keyring has a token for the hub. Raises `KeyringFailed`."""
    return keychain.read(_TOKEN) is not None


def keep_token(token: str) -> None:
    """Keep a token for the hub in the keyring; none where it is empty. Raises `KeyringFailed`."""
    token = token.strip()
    if token:
        keychain.keep(_TOKEN, token)
    else:
        keychain.forget(_TOKEN)
