"""What makes two things the same: digests, canonical JSON, composition and execution ids.

A `Digest` is the text `sha256:` and 64 hex digits. Files are known by the digest of their bytes;
a set of files by the digest of the canonical JSON table {file name: digest}; a composition by the
digest of its semantic fields in canonical JSON (RFC 8785); an execution by its composition and
everything about the runtime that could change a single bit of the result.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NewType, cast

import rfc8785

from veneer.tasks import CancelToken, Progress, silent

Digest = NewType("Digest", str)

PREFIX = "sha256:"
_CHUNK = 1 << 20


def sha256_bytes(data: bytes) -> Digest:
    """The digest of bytes in memory."""
    return Digest(PREFIX + hashlib.sha256(data).hexdigest())


def sha256_file(
    file: BinaryIO, size: int, progress: Progress = silent, cancel: CancelToken | None = None
) -> Digest:
    """The digest of an open file from its current position to its end.

    `size` is the expected number of bytes, for `progress` alone. Raises `Cancelled`.
    """
    digest, buffer, done = hashlib.sha256(), bytearray(_CHUNK), 0
    view = memoryview(buffer)
    while count := cast("Any", file).readinto(buffer):
        digest.update(view[:count])
        done += count
        progress(done, size)
        if cancel is not None:
            cancel.check()
    return Digest(PREFIX + digest.hexdigest())


def canonical_json(value: Any) -> bytes:
    """RFC 8785 canonical JSON, as UTF-8. Floats that are whole numbers print as such."""
    return rfc8785.dumps(value)


def sha256_table(files: Mapping[str, Digest]) -> Digest:
    """The digest of a set of files: that of its canonical {name: digest} table."""
    return sha256_bytes(canonical_json(dict(files)))


def composition_id(semantic: Mapping[str, Any]) -> Digest:
    """The id of a composition from its manifest's semantic fields."""
    return sha256_bytes(canonical_json(dict(semantic)))


def execution_id(
    composition: Digest, runtime_build: str, lane: str, context: Mapping[str, Any]
) -> Digest:
    """The key under which computed state (KV, prefixes) may be reused, and under no other."""
    return sha256_bytes(
        canonical_json(
            {
                "composition": composition,
                "runtime": runtime_build,
                "lane": lane,
                "context": dict(context),
            }
        )
    )


def digest_from(text: str) -> Digest | None:
    """The digest that a file spells, with or without its prefix; None if it is none."""
    match = re.fullmatch(r"(?:sha256:)?([0-9a-f]{64})", text)
    return None if match is None else Digest(PREFIX + match[1])


def hex_of(digest: Digest) -> str:
    """The 64 hex digits of a digest: what names its file on disk."""
    return digest.removeprefix(PREFIX)


def short(digest: Digest, length: int = 8) -> str:
    """The first hex digits, for people."""
    return hex_of(digest)[:length]


def digest_of_hashes(parts: Sequence[str]) -> Digest:
    """The digest of an ordered list of strings (for ids over several fields)."""
    return sha256_bytes(canonical_json(list(parts)))
