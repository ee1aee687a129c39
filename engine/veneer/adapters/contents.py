"""What a reader of one format makes of an adapter's open files: the same for every format.

A reader finds the parts and their strengths; what is done with them afterwards (every number
scanned, a runtime form written) is done here and nowhere else knows the format.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.model import Kind, Target, Witness
from veneer.errors import FormatError
from veneer.identity import Digest

Matrix = NDArray[np.float32]
Door = Callable[[], Matrix]
"""Reads one array; may be called again, and gives one that the caller owns."""


@dataclass(frozen=True)
class Stored:
    """One tensor in its file: name, float type, and shape in numpy's order as stored."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Factors:
    """The doors to the two factors of a low-rank product: A (rank, in) and B (out, rank)."""

    a: Door
    b: Door


@dataclass(frozen=True)
class Part:
    """One target, and the doors to its numbers.

    A low-rank product has `factors`, every other operation `values`: (out,) for a magnitude, a
    bias, a scale of outputs or a direction, (in,) for a scale of inputs, (out, in) or (out,) for a
    replacement, (tokens, width) for rows, prompts and prefixes, (entries,) for single weights,
    whose (entries, 2) rows and columns are the `places`.

    `product_of` names the stored tensors whose product the part is: if one of them is all zero,
    the part changes nothing.
    """

    target: Target
    product_of: tuple[str, ...] = ()
    factors: Factors | None = None
    values: Door | None = None
    places: Callable[[], NDArray[np.int32]] | None = None


@dataclass(frozen=True, kw_only=True)
class Contents:
    """An open adapter. Valid while its files are open.

    `tensors` lists every stored tensor that the adapter is made of, and `read` gives one of them
    as float32. Of them, `witnesses` change nothing. The declared facts are those of
    `model.Adapter`.
    """

    kind: Kind
    parts: tuple[Part, ...]
    tensors: Mapping[str, Stored]
    read: Callable[[str], Matrix]
    base_model: str | None = None
    base_revision: str | None = None
    base_digest: Digest | None = None
    architecture: str | None = None
    invocation_tokens: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    witnesses: tuple[Witness, ...] = ()

    def factors(self) -> Mapping[Target, Factors]:
        """The factors of every low-rank part, by target."""
        return {part.target: part.factors for part in self.parts if part.factors is not None}

    def scan(self) -> tuple[str, ...]:
        """Read every number once. Gives warnings about what changes nothing.

        Raises `FormatError` NONFINITE.
        """
        zero = {name for name in self.tensors if not self._any(name)}
        idle = sum(1 for part in self.parts if _is_idle(part, zero))
        return tuple(_idle_warnings(idle, len(self.parts)))

    def _any(self, name: str) -> bool:
        values = self.read(name)
        if not np.isfinite(values).all():
            raise FormatError("NONFINITE", f"{name} has values that are not numbers.")
        return bool(values.any())


def _is_idle(part: Part, zero: set[str]) -> bool:
    unused = part.target.operation == "low_rank" and part.target.scaling == 0.0
    return unused or not zero.isdisjoint(part.product_of)


def _idle_warnings(idle: int, parts: int) -> Iterator[str]:
    if idle == parts:
        yield "This adapter changes nothing: all its weights are zero."
    elif idle:
        yield f"{idle} of {parts} parts of this adapter are zero and change nothing."
