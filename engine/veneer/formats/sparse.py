"""A sparse delta: single entries of some weight matrices, and what is added to each.

One safetensors file; docs/sparse-delta.md describes it for those who write one. Its metadata say
`format`, `version`, and in `shapes` the (out, in) of every module; a module has a tensor
`<module>.indices` of (row, column) pairs and one `<module>.values`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats.strict_json import parse_object
from veneer.identity import Digest, digest_from

FORMAT: Final = "veneer.sparse_delta"
_VERSION: Final = "1"
_FIELDS: Final = frozenset({"format", "version", "shapes", "base_model", "base_sha256"})
_SIDE_MAX: Final = 1 << 31


@dataclass(frozen=True)
class SparseDelta:
    """What the metadata say: each module's (out, in), and the base it was trained on."""

    shapes: Mapping[str, tuple[int, int]]
    base_model: str | None
    base_digest: Digest | None


def is_sparse(metadata: Mapping[str, str]) -> bool:
    """Whether a safetensors file says that it is a sparse delta."""
    return metadata.get("format") == FORMAT


def read_description(metadata: Mapping[str, str]) -> SparseDelta:
    """The metadata of a sparse delta.

    Raises `FormatError` CONFIG or JSON, `UnsupportedAdapter` for a later version.
    """
    version = metadata.get("version")
    if version != _VERSION:
        raise UnsupportedAdapter(f"This sparse delta is of version {str(version)[:20]!r}, not 1.")
    unknown = sorted(metadata.keys() - _FIELDS)
    if unknown:
        raise FormatError("CONFIG", f"A sparse delta has no field {unknown[0][:80]!r}.")
    shapes = parse_object(metadata.get("shapes", "").encode(), "shapes")
    declared = metadata.get("base_sha256")
    digest = None if declared is None else digest_from(declared)
    if declared is not None and digest is None:
        raise FormatError("CONFIG", "base_sha256 is not a SHA-256 digest.")
    return SparseDelta(
        shapes={module: _shape(module, value) for module, value in shapes.items()},
        base_model=metadata.get("base_model"),
        base_digest=digest,
    )


def check_indices(module: str, indices: NDArray[np.int32], shape: tuple[int, int]) -> None:
    """Raises `FormatError` INDEX unless (n, 2) `indices` lie in `shape`, ascending, each once."""
    if indices.min() < 0 or (indices.max(axis=0) >= shape).any():
        raise FormatError("INDEX", f"{module} has entries outside of its {shape[0]} x {shape[1]}.")
    flat = indices[:, 0].astype(np.int64) * shape[1] + indices[:, 1]
    if (flat[1:] <= flat[:-1]).any():
        raise FormatError("INDEX", f"The entries of {module} are not in order, or one is twice.")


def _shape(module: str, value: Any) -> tuple[int, int]:
    sides = cast("list[Any]", value) if isinstance(value, list) else []
    if len(sides) == 2 and all(type(side) is int and 0 < side < _SIDE_MAX for side in sides):
        return sides[0], sides[1]
    raise FormatError("CONFIG", f"The shape of {module[:120]} is not two sizes.")
