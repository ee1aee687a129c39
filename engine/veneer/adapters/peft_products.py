"""Kinds of PEFT that come to a low-rank product exactly: LoHa, LoKr, VeRA and AdaLoRA.

Each is brought to A (rank, in) and B (out, rank) with one scaling, and runs as the LoRA that it
is. The factors are computed in float32 when they are read.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from msgspec import structs

from veneer.adapters.contents import Door, Factors, Matrix, Part, Stored
from veneer.adapters.factors import RANK_MAX
from veneer.adapters.model import Kind, Target
from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import peft_values as values
from veneer.formats.peft_keys import PREFIX

Read = Callable[[str], Matrix]
Stores = Mapping[str, Stored]
Sides = Mapping[str, Stored]
Parts = tuple[Part, ...]

_EPSILON: Final = 1e-5
"""What PEFT adds to AdaLoRA's rank before it divides by it."""
_SHARED: Final = re.compile(r"base_model\.vera_([AB])(?:\.[\w\-]+)?", re.ASCII)


def some(stored: Stores) -> list[str]:
    """The names, sorted. Raises `FormatError` PAIR if there are none."""
    if not stored:
        raise FormatError("PAIR", "The adapter has no weights.")
    return sorted(stored)


def loha(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, Parts]:
    """ΔW = (w1_a·w1_b) ∘ (w2_a·w2_b), whose rank is at most the square of theirs.

    Source: Hyeon-Woo et al., FedPara (2021), the product of two low-rank matrices entry by entry;
    written here as one product of row-wise and column-wise Kronecker products.
    """
    modules = _by_module(stored, r"hada_(w[12]_[ab])", "a LoHa adapter for linear layers")
    return "loha", tuple(_loha_part(m, sides, table, read) for m, sides in modules.items())


def _loha_part(module: str, sides: Sides, table: Mapping[str, Any], read: Read) -> Part:
    order = ("w1_a", "w1_b", "w2_a", "w2_b")
    if {*sides} != {*order}:
        raise FormatError("PAIR", f"{module} has only some of its four LoHa factors.")
    out, rank = _matrix(sides["w1_a"])
    wide = _matrix(sides["w1_b"])[1]
    if [_matrix(sides[side]) for side in order] != [(out, rank), (rank, wide)] * 2:
        raise FormatError("SHAPE", f"{module} has LoHa factors that do not fit each other.")
    _same_rank(module, rank, table, "r")
    w1_a, w1_b, w2_a, w2_b = (_door(sides[side], read) for side in order)
    return _product(
        _target(module, rank * rank, wide, out, _over_rank(table), sides),
        tuple(sides[side].name for side in order),
        a=lambda: _rows_times(w1_b(), w2_b()),
        b=lambda: _rows_times(w1_a().T, w2_a().T).T,
    )


def lokr(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, Parts]:
    """ΔW = w1 ⊗ w2, where each of the two may be a product itself.

    Source: Yeh et al., LyCORIS (2023). (P·Q) ⊗ (R·S) = (P ⊗ R)·(Q ⊗ S); a factor that is stored
    whole is a product with the identity on its shorter side.
    """
    modules = _by_module(stored, r"lokr_(w[12](?:_[ab])?)", "a LoKr adapter for linear layers")
    return "lokr", tuple(_lokr_part(m, sides, table, read) for m, sides in modules.items())


def _lokr_part(module: str, sides: Sides, table: Mapping[str, Any], read: Read) -> Part:
    one, two = (_half(module, w, sides, table, read) for w in ("w1", "w2"))
    return _product(
        _target(
            module,
            one.rank * two.rank,
            one.wide * two.wide,
            one.out * two.out,
            _over_rank(table),
            sides,
        ),
        tuple(sides[side].name for side in sorted(sides)),
        a=lambda: np.kron(one.right(), two.right()),
        b=lambda: np.kron(one.left(), two.left()),
    )


@dataclass(frozen=True)
class _Half:
    """One of the two matrices of a LoKr as left (out, rank) times right (rank, wide)."""

    left: Door
    right: Door
    out: int
    rank: int
    wide: int


def _half(module: str, w: str, sides: Sides, table: Mapping[str, Any], read: Read) -> _Half:
    have = {side for side in sides if side.startswith(w)}
    if have not in ({w}, {f"{w}_a", f"{w}_b"}):
        raise FormatError("PAIR", f"{module} has only some of its LoKr factors, or too many.")
    if have == {w}:
        out, wide = _matrix(sides[w])
        whole = _door(sides[w], read)
        if out <= wide:
            return _Half(lambda: np.eye(out, dtype=np.float32), whole, out, out, wide)
        return _Half(whole, lambda: np.eye(wide, dtype=np.float32), out, wide, wide)
    (out, rank), (inner, wide) = _matrix(sides[f"{w}_a"]), _matrix(sides[f"{w}_b"])
    if rank != inner:
        raise FormatError("SHAPE", f"{module} has LoKr factors that do not fit each other.")
    _same_rank(module, rank, table, "r")
    return _Half(_door(sides[f"{w}_a"], read), _door(sides[f"{w}_b"], read), out, rank, wide)


def vera(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, Parts]:
    """ΔW = diag(λ_b)·B·diag(λ_d)·A, with one A and B for all modules, cut to each one's size.

    Source: Kopiczko et al., VeRA (2023). How wide a module is tells the base alone, so that A is
    cut when the adapter is placed.
    """
    shared = {match[1]: stored[n] for n in stored if (match := _SHARED.fullmatch(n))}
    if not shared:
        raise UnsupportedAdapter(
            "This VeRA adapter has no projections, only the number they were drawn from; save it "
            "again with save_projection=True."
        )
    if {*shared} != {"A", "B"} or table.get("save_projection") is False:
        raise FormatError("PAIR", "The projections of this VeRA adapter are not as it says.")
    own = {name: tensor for name, tensor in stored.items() if not _SHARED.fullmatch(name)}
    modules = _by_module(own, r"vera_lambda_([bd])", "a VeRA adapter for linear layers")
    return "vera", tuple(_vera_part(m, sides, shared, table, read) for m, sides in modules.items())


def _vera_part(
    module: str, sides: Sides, shared: Sides, table: Mapping[str, Any], read: Read
) -> Part:
    if {*sides} != {"b", "d"}:
        raise FormatError("PAIR", f"{module} has only one of its two VeRA vectors.")
    (rank, wide), (high, inner) = _matrix(shared["A"]), _matrix(shared["B"])
    out = max(sides["b"].shape, default=0)
    if sides["b"].shape != (out,) or sides["d"].shape != (rank,) or inner != rank or out > high:
        raise FormatError("SHAPE", f"{module} has VeRA vectors that do not fit the projections.")
    _same_rank(module, rank, table, "r")
    return _product(
        structs.replace(_target(module, rank, wide, out, 1.0, sides), cut=True),
        (shared["A"].name, shared["B"].name, sides["b"].name, sides["d"].name),
        a=lambda: read(shared["A"].name) * read(sides["d"].name)[:, None],
        b=lambda: read(shared["B"].name)[:out] * read(sides["b"].name)[:, None],
    )


def adalora(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, Parts]:
    """ΔW = alpha / (r + 1e-5) · B·diag(E)·A, where r is the rank before any were cut.

    Source: Zhang et al., AdaLoRA (2023); the epsilon and the unchanged r are PEFT's.
    """
    modules = _by_module(stored, r"lora_([ABE])", "an AdaLoRA adapter for linear layers")
    parts = (_adalora_part(m, sides, table, read) for m, sides in modules.items())
    return "lora", _some_left(part for part in parts if part is not None)


def _some_left(parts: Iterable[Part]) -> Parts:
    left = tuple(parts)
    if not left:
        raise FormatError("PAIR", "This AdaLoRA adapter was cut to the rank 0 everywhere.")
    return left


def _adalora_part(module: str, sides: Sides, table: Mapping[str, Any], read: Read) -> Part | None:
    """None for a module that was cut to the rank 0, where the base is as it was."""
    if {*sides} != {"A", "B", "E"}:
        raise FormatError("PAIR", f"{module} has only some of its AdaLoRA factors.")
    (rank, wide), (out, inner) = _matrix(sides["A"]), _matrix(sides["B"])
    if inner != rank or sides["E"].shape != (rank, 1):
        raise FormatError("SHAPE", f"{module} has AdaLoRA factors that do not fit each other.")
    first = values.rank(table.get("init_r"), "init_r")
    if _kept(module, table, first) != rank:
        raise FormatError("CONFIG", f"{module} has rank {rank}, but {values.FILE} says otherwise.")
    if rank == 0:
        return None
    alpha = values.alpha(table.get("lora_alpha"), "lora_alpha")
    scaling = (alpha if alpha > 0 else float(first)) / (first + _EPSILON)
    return _product(
        _target(module, rank, wide, out, scaling, sides),
        tuple(sides[side].name for side in "ABE"),
        a=lambda: read(sides["A"].name) * read(sides["E"].name),
        b=_door(sides["B"], read),
    )


def _kept(module: str, table: Mapping[str, Any], first: int) -> int:
    """How many of the ranks are left, by the mask that the config has for a module."""
    mask = values.table(table, "rank_pattern").get(f"{module}.lora_E")
    if mask is None:
        return first
    kept = cast("list[Any]", mask) if isinstance(mask, list) else []
    if len(kept) != first or any(type(one) is not bool for one in kept):
        raise FormatError("CONFIG", f"{values.FILE}: the mask of {module} is not {first} switches.")
    return sum(kept)


def _by_module(stored: Stores, side: str, kind: str) -> dict[str, dict[str, Stored]]:
    """The tensors of each module by the side that the expression captures, modules sorted."""
    key = re.compile(rf"{re.escape(PREFIX)}([\w.\-]+)\.{side}", re.ASCII)
    modules: dict[str, dict[str, Stored]] = {}
    for name in some(stored):
        match = key.fullmatch(name)
        if match is None:
            raise FormatError("NAME", f"{name} is no part of {kind}.")
        modules.setdefault(match[1], {})[match[2]] = stored[name]
    return modules


def _target(module: str, rank: int, wide: int, out: int, scaling: float, sides: Sides) -> Target:
    if not 1 <= rank <= RANK_MAX:
        raise UnsupportedAdapter(
            f"{module} comes to a product of rank {rank}, and more than {RANK_MAX} is not possible."
        )
    count = sum(int(np.prod(tensor.shape)) for tensor in sides.values())
    return Target(
        module=module, rank=rank, in_features=wide, out_features=out, scaling=scaling, count=count
    )


def _product(target: Target, names: tuple[str, ...], *, a: Door, b: Door) -> Part:
    return Part(target, product_of=names, factors=Factors(a, b))


def _over_rank(table: Mapping[str, Any]) -> float:
    return values.alpha(table.get("alpha"), "alpha") / values.rank(table.get("r"), "r")


def _same_rank(module: str, rank: int, table: Mapping[str, Any], field: str) -> None:
    if rank != values.rank(table.get(field), field):
        raise FormatError("CONFIG", f"{module} has rank {rank}, but {values.FILE} says otherwise.")


def _door(tensor: Stored, read: Read) -> Door:
    return lambda: read(tensor.name)


def _rows_times(first: Matrix, second: Matrix) -> Matrix:
    """Each row of one times each row of the other: (r, n) and (s, n) to (r·s, n)."""
    product = first[:, None, :] * second[None, :, :]
    return np.ascontiguousarray(product.reshape(-1, first.shape[1]))


def _matrix(tensor: Stored) -> tuple[int, int]:
    if len(tensor.shape) != 2:
        raise FormatError("SHAPE", f"{tensor.name} is not a matrix: {list(tensor.shape)}.")
    return tensor.shape[0], tensor.shape[1]
