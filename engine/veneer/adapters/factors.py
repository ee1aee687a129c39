"""The two factors of each target, read from either file format in one orientation.

A is always (rank, in) and B always (out, rank), both float32. Here the formats end: PEFT's names
are paired by `peft_keys`, GGUF's by their `.lora_a` and `.lora_b`, and llama.cpp's flipped token
embedding is turned round.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import gguf_tensors, safetensors
from veneer.formats.gguf import GgufHeader
from veneer.formats.naming import TOKEN_EMBEDDING
from veneer.formats.peft_keys import pair_keys

_RANK_MAX = 4_096
_SIDES: Final = {".lora_a": "a", ".lora_b": "b"}


@dataclass(frozen=True)
class Stored:
    """One factor in its file: name, float type, and shape in numpy's order as stored."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """The two factors of one module. `flipped`: A is stored as (in, rank)."""

    module: str
    a: Stored
    b: Stored
    embedding: bool = False
    flipped: bool = False

    @property
    def rank(self) -> int:
        """The columns of B."""
        return self.b.shape[1]

    @property
    def in_features(self) -> int:
        """The columns of A."""
        return self.a.shape[0 if self.flipped else 1]

    @property
    def out_features(self) -> int:
        """The rows of B."""
        return self.b.shape[0]


@dataclass(frozen=True)
class Factors:
    """All pairs of an open adapter file, by module; valid while the file is open."""

    pairs: Mapping[str, Pair]
    read: Callable[[str], NDArray[np.float32]]

    def a(self, module: str) -> NDArray[np.float32]:
        """Factor A, (rank, in) float32."""
        pair = self.pairs[module]
        stored = self.read(pair.a.name)
        return stored.T if pair.flipped else stored

    def b(self, module: str) -> NDArray[np.float32]:
        """Factor B, (out, rank) float32."""
        return self.read(self.pairs[module].b.name)


def peft_factors(file: BinaryIO) -> Factors:
    """The factors in an open `adapter_model.safetensors`.

    Raises `FormatError`, and `UnsupportedAdapter` for tensors of another kind.
    """
    header = safetensors.read_header(file)
    stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}
    pairs = (
        Pair(keys.module, stored[keys.a], stored[keys.b], embedding=keys.embedding)
        for keys in pair_keys(stored)
    )
    return Factors(_checked(pairs), lambda name: safetensors.read_tensor(file, header, name))


def gguf_factors(file: BinaryIO, header: GgufHeader) -> Factors:
    """The factors in an open GGUF LoRA, by the GGUF name of the tensor they adapt.

    Raises `FormatError`, and `UnsupportedAdapter` for tensors of another kind.
    """
    sides: dict[str, dict[str, Stored]] = {}
    for tensor in header.tensors.values():
        target, side = _split_name(tensor.name)
        stored = Stored(tensor.name, tensor.type, tensor.shape[::-1])
        sides.setdefault(target, {})[side] = stored
    if not sides:
        raise FormatError("PAIR", "The adapter has no weights.")
    pairs = (_gguf_pair(target, sides[target]) for target in sorted(sides))
    return Factors(_checked(pairs), lambda name: gguf_tensors.read_tensor(file, header, name))


def _split_name(name: str) -> tuple[str, str]:
    target, side = name[:-7], _SIDES.get(name[-7:])
    if side is None or not target or ".lora_" in target:
        what = "a trained normalisation" if name.endswith("_norm.weight") else "not a LoRA factor"
        raise UnsupportedAdapter(
            f"This adapter cannot be applied exactly: the tensor {name} is {what}."
        )
    return target, side


def _gguf_pair(target: str, sides: Mapping[str, Stored]) -> Pair:
    for side in ("a", "b"):
        if side not in sides:
            raise FormatError("PAIR", f"{target} has only one of its two LoRA factors.")
    embedding = target == TOKEN_EMBEDDING
    return Pair(target, sides["a"], sides["b"], embedding=embedding, flipped=embedding)


def _checked(pairs: Iterable[Pair]) -> Mapping[str, Pair]:
    checked: dict[str, Pair] = {}
    for pair in pairs:
        for stored in (pair.a, pair.b):
            _check_factor(stored)
        _check_rank(pair)
        checked[pair.module] = pair
    return checked


def _check_factor(stored: Stored) -> None:
    if len(stored.shape) == 1 or len(stored.shape) > 3:
        raise FormatError("SHAPE", f"{stored.name} is not a matrix: {list(stored.shape)}.")
    if len(stored.shape) == 3:
        raise UnsupportedAdapter(f"{stored.name} adapts a stack of experts, which is not possible.")
    if stored.dtype not in ("F32", "F16", "BF16", "F64"):
        raise FormatError("DTYPE", f"{stored.name} is stored as {stored.dtype}, not as floats.")


def _check_rank(pair: Pair) -> None:
    rank_of_a = pair.a.shape[1 if pair.flipped else 0]
    if rank_of_a != pair.rank:
        message = f"{pair.module}: factor A has rank {rank_of_a}, factor B has rank {pair.rank}."
        raise FormatError("SHAPE", message)
    # More than the smaller side is wasteful but happens (rank 256 on the 192 rows of a small
    # model's keys); more than the larger side is not a LoRA.
    if not 1 <= pair.rank <= min(max(pair.in_features, pair.out_features), _RANK_MAX):
        raise FormatError("SHAPE", f"{pair.module} claims the rank {pair.rank}.")
