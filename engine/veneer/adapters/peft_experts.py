"""LoRA on the bare parameters that hold all experts of a layer (PEFT's `target_parameters`).

PEFT stores the factors of all experts in two matrices, A (experts · rank, in) with the experts one
after the other, and B (out, rank · experts) with the experts side by side for each rank. Where both
parameters of a module are adapted, one wrapper is put around the other, and the names tell no more
than which is the inner one. But the one's inputs are the other's outputs, the width of the model.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from veneer.adapters.contents import Factors, Matrix, Part
from veneer.adapters.factors import RANK_MAX, Pair, checked
from veneer.adapters.model import Target
from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import peft

_INNER: Final = ".base_layer"
_EXPERTS: Final = ".experts"
_INTO, _OUT_OF = "gate_up_proj", "down_proj"
"""The parameters that every fused mixture in the table of architectures has."""


@dataclass(frozen=True)
class ExpertPair:
    """The factors of one parameter, by its whole name."""

    parameter: str
    pair: Pair


def split_experts(
    config: peft.PeftConfig, pairs: Iterable[Pair]
) -> tuple[tuple[Pair, ...], tuple[ExpertPair, ...]]:
    """The pairs of modules, and those of parameters with the parameters they are for, all checked.

    Raises `FormatError` SHAPE or DTYPE, `UnsupportedAdapter` for parameters other than those of
    fused experts.
    """
    plain: list[Pair] = []
    holders: dict[str, list[Pair]] = {}
    for pair in pairs:
        holder = pair.module.removesuffix(_INNER)
        if config.target_parameters and f".{holder}".endswith(_EXPERTS):
            holders.setdefault(holder, []).append(checked(pair, together=True))
        else:
            plain.append(checked(pair))
    named = (found for holder, two in holders.items() for found in _named(config, holder, two))
    return tuple(plain), tuple(named)


def expert_part(found: ExpertPair, strength: peft.Strength, read: Callable[[str], Matrix]) -> Part:
    """The part that the factors of a parameter make, each a stack (experts, …).

    Raises `FormatError` CONFIG or SHAPE.
    """
    pair, rank = found.pair, strength.rank
    experts, rest = divmod(pair.rank, rank)
    if rest or not experts or rank > RANK_MAX:
        message = f"{found.parameter} has {pair.rank} ranks for all experts, which are {rank} each."
        raise FormatError("CONFIG", message)
    target = Target(
        module=found.parameter,
        rank=rank,
        in_features=pair.in_features,
        out_features=pair.out_features,
        scaling=strength.scaling,
        count=pair.rank * (pair.in_features + pair.out_features),
        experts=experts,
    )
    return Part(
        target,
        product_of=(pair.a.name, pair.b.name),
        factors=Factors(
            a=lambda: read(pair.a.name).reshape(experts, rank, -1),
            b=lambda: _apart(read(pair.b.name).reshape(-1, rank, experts)),
        ),
    )


def _apart(matrix: Matrix) -> Matrix:
    """(out, rank, experts) to (experts, out, rank)."""
    return np.ascontiguousarray(matrix.transpose(2, 0, 1))


def _named(config: peft.PeftConfig, holder: str, pairs: list[Pair]) -> Iterator[ExpertPair]:
    names = [name for name in (_INTO, _OUT_OF) if _is_meant(config, f"{holder}.{name}")]
    if len(names) != len(pairs):
        raise UnsupportedAdapter(
            f"{holder} has factors for {len(pairs)} parameters, and of those that can be applied "
            f"the config names {len(names)}."
        )
    if len(pairs) == 1:
        yield ExpertPair(f"{holder}.{names[0]}", pairs[0])
        return
    first, second = pairs
    if first.in_features != second.out_features:
        first, second = second, first
    if first.in_features != second.out_features or first.out_features == second.in_features:
        raise FormatError("SHAPE", f"The factors of {holder} do not tell which parameter is which.")
    yield ExpertPair(f"{holder}.{_INTO}", first)
    yield ExpertPair(f"{holder}.{_OUT_OF}", second)


def _is_meant(config: peft.PeftConfig, parameter: str) -> bool:
    return any(f".{parameter}".endswith(f".{name}") for name in config.target_parameters)
