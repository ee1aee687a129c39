"""A sparse delta as parts: one for each module. Its indices are checked here, once for all."""

from collections.abc import Callable
from functools import partial
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import check_floats
from veneer.adapters.model import Target
from veneer.errors import FormatError
from veneer.formats import safetensors, sparse

_INDICES = ".indices"
_VALUES = ".values"


def sparse_contents(
    file: BinaryIO,
    header: safetensors.SafetensorsHeader,
    stored: dict[str, Stored],
    read: Callable[[str], Matrix],
) -> Contents:
    """The open sparse delta. Raises `FormatError` and `UnsupportedAdapter`."""
    described = sparse.read_description(header.metadata)
    wanted = {f"{module}{suffix}" for module in described.shapes for suffix in (_INDICES, _VALUES)}
    if wanted != stored.keys() or not wanted:
        odd = min(wanted ^ stored.keys(), default="a module")
        raise FormatError("PAIR", f"{odd[:200]} is missing, or more than its metadata tell of.")
    for module, shape in described.shapes.items():
        name = f"{module}{_INDICES}"
        _check_sizes(stored[name], stored[f"{module}{_VALUES}"])
        sparse.check_indices(module, safetensors.read_indices(file, header, name), shape)
    return Contents(
        kind="sparse_delta",
        parts=tuple(
            _part(
                module,
                stored[f"{module}{_VALUES}"],
                described.shapes[module],
                read,
                partial(safetensors.read_indices, file, header, f"{module}{_INDICES}"),
            )
            for module in sorted(described.shapes)
        ),
        tensors={name: tensor for name, tensor in stored.items() if name.endswith(_VALUES)},
        read=read,
        base_model=described.base_model,
        base_digest=described.base_digest,
    )


def _check_sizes(indices: Stored, values: Stored) -> None:
    check_floats(values)
    if len(values.shape) != 1 or indices.shape != (*values.shape, 2):
        sizes = f"{list(indices.shape)} and {list(values.shape)}"
        raise FormatError("SHAPE", f"{indices.name} and its values have the shapes {sizes}.")


def _part(
    module: str,
    values: Stored,
    shape: tuple[int, int],
    read: Callable[[str], Matrix],
    places: Callable[[], NDArray[np.int32]],
) -> Part:
    target = Target(
        module=module,
        operation="sparse",
        out_features=shape[0],
        in_features=shape[1],
        count=values.shape[0],
    )
    return Part(target, product_of=(values.name,), values=lambda: read(values.name), places=places)
