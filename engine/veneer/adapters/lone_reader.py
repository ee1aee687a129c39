"""A lone safetensors file: its metadata tell what it is, or else the names of its tensors.

Order: a sparse delta says so -> diffusers' copy of PEFT's config, read as PEFT's own files are ->
factors with an alpha for each module, whose strength is alpha / rank.
"""

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import Pair, check_floats, checked, low_rank
from veneer.adapters.peft_reader import lora_contents
from veneer.adapters.source import Source, weights_name
from veneer.adapters.sparse_reader import sparse_contents
from veneer.errors import FormatError
from veneer.formats import lone_lora, safetensors, sparse
from veneer.formats.peft_keys import PREFIX


@contextmanager
def open_lone(source: Source) -> Generator[Contents]:
    """Open a lone file. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(weights_name(source)) as file:
        header = safetensors.read_header(file)
        stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}

        def read(name: str) -> Matrix:
            return safetensors.read_tensor(file, header, name)

        if sparse.is_sparse(header.metadata):
            yield sparse_contents(file, header, stored, read)
            return
        described = lone_lora.peft_config(header.metadata)
        if described is not None:
            yield _from_diffusers(*described, stored, read)
        else:
            yield _from_kohya(stored, read)


def _from_diffusers(
    prefix: str,
    table: Mapping[str, Any],
    stored: dict[str, Stored],
    read: Callable[[str], Matrix],
) -> Contents:
    """The same tensors under the names that PEFT would have given them."""
    names = {f"{PREFIX}{name.removeprefix(prefix)}": name for name in stored}
    if len(names) < len(stored) or not all(name.startswith(prefix) for name in stored):
        raise FormatError("NAME", f"Not all tensors are named as its metadata say ({prefix}…).")
    renamed = {new: Stored(new, stored[old].dtype, stored[old].shape) for new, old in names.items()}
    contents = lora_contents(table, renamed, lambda name: read(names[name]))
    lone_lora.check_language(p.target.module for p in contents.parts if p.factors is not None)
    return contents


def _from_kohya(stored: dict[str, Stored], read: Callable[[str], Matrix]) -> Contents:
    def part(keys: lone_lora.LoneKeys) -> Part:
        pair = checked(Pair(keys.module, stored[keys.a], stored[keys.b]))
        return low_rank(pair, _alpha(stored[keys.alpha], read) / pair.rank, read)

    parts = tuple(part(keys) for keys in lone_lora.sort_keys(stored))
    factors = {name for part in parts for name in part.product_of}
    return Contents(
        kind="lora",
        parts=parts,
        tensors={name: tensor for name, tensor in stored.items() if name in factors},
        read=read,
    )


def _alpha(stored: Stored, read: Callable[[str], Matrix]) -> float:
    """The one number. Zero is refused: kohya's own loader takes it for the rank."""
    check_floats(stored)
    if math.prod(stored.shape) != 1:
        raise FormatError("SHAPE", f"{stored.name} is not one number: {list(stored.shape)}.")
    alpha = float(read(stored.name).reshape(()))
    if not math.isfinite(alpha) or alpha == 0:
        raise FormatError("CONFIG", f"{stored.name} is {alpha}, which is no strength.")
    return alpha
