"""PEFT's kinds beside LoRA: IA³, LoHa, and trained prompts and prefixes.

A LoHa comes to a low-rank product exactly, and is one from here on. The others become operations
of their own, which the stock lane refuses.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from veneer.adapters.contents import Contents, Factors, Matrix, Part, Stored
from veneer.adapters.factors import RANK_MAX, check_floats
from veneer.adapters.model import Kind, Operation, Target
from veneer.errors import FormatError
from veneer.formats import peft_values as values
from veneer.formats.peft_keys import PREFIX
from veneer.formats.peft_kinds import check_fields

Read = Callable[[str], Matrix]
Stores = Mapping[str, Stored]

_IA3: Final = re.compile(re.escape(PREFIX) + r"([\w.\-]+)\.ia3_l", re.ASCII)
_HADA: Final = re.compile(re.escape(PREFIX) + r"([\w.\-]+)\.hada_(w[12]_[ab])", re.ASCII)
_HADA_SIDES: Final = ("w1_a", "w1_b", "w2_a", "w2_b")
_PROMPT: Final = "prompt_embeddings"


def open_other(table: Mapping[str, Any], stored: Stores, read: Read) -> Contents:
    """An adapter of one of `peft_kinds.KINDS`. Raises `FormatError` and `UnsupportedAdapter`."""
    check_fields(table)
    for tensor in stored.values():
        check_floats(tensor)
    kind, parts = _MAKERS[table["peft_type"]](table, stored, read)
    return Contents(
        kind=kind,
        parts=parts,
        tensors=stored,
        read=read,
        base_model=values.text(table, "base_model_name_or_path"),
        base_revision=values.text(table, "revision"),
    )


def _ia3(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, tuple[Part, ...]]:
    del read
    inner = values.names(table.get("feedforward_modules") or [], "feedforward_modules") or ()
    return "ia3", tuple(_ia3_part(stored[name], inner) for name in _some(stored))


def _ia3_part(tensor: Stored, feedforward: tuple[str, ...]) -> Part:
    """A scale of the outputs is stored as (out, 1), one of a feed-forward's inputs as (1, in)."""
    match = _IA3.fullmatch(tensor.name)
    if match is None:
        raise FormatError("NAME", f"{tensor.name} is no part of an IA³ adapter.")
    of_inputs = any(f".{match[1]}".endswith(f".{name}") for name in feedforward)
    length = max(tensor.shape, default=0)
    if tensor.shape != ((1, length) if of_inputs else (length, 1)):
        raise FormatError("SHAPE", f"{tensor.name} has the shape {list(tensor.shape)}.")
    operation: Operation = "scale_inputs" if of_inputs else "scale_outputs"
    return Part(
        Target(
            module=match[1],
            operation=operation,
            in_features=length if of_inputs else 0,
            out_features=0 if of_inputs else length,
            count=length,
        )
    )


def _prompt(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, tuple[Part, ...]]:
    del read
    if [*stored] != [_PROMPT] or len(stored[_PROMPT].shape) != 2:
        raise FormatError("NAME", f"The only tensor of this kind is a matrix {_PROMPT}.")
    tokens, width = stored[_PROMPT].shape
    if table.get("num_virtual_tokens") != tokens:
        raise FormatError("CONFIG", f"{values.FILE} does not say {tokens} virtual tokens.")
    kind: Kind = "prompt" if table["peft_type"] == "PROMPT_TUNING" else "prefix"
    target = Target(
        module=_PROMPT, operation=kind, in_features=tokens, out_features=width, count=tokens * width
    )
    return kind, (Part(target),)


def _loha(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, tuple[Part, ...]]:
    modules: dict[str, dict[str, Stored]] = {}
    for name in _some(stored):
        match = _HADA.fullmatch(name)
        if match is None:
            raise FormatError("NAME", f"{name} is no part of a LoHa adapter for linear layers.")
        modules.setdefault(match[1], {})[match[2]] = stored[name]
    return "loha", tuple(_loha_part(m, modules[m], table, read) for m in sorted(modules))


def _loha_part(
    module: str, sides: Mapping[str, Stored], table: Mapping[str, Any], read: Read
) -> Part:
    """ΔW = (w1_a·w1_b) ∘ (w2_a·w2_b), whose rank is at most the square of theirs.

    Source: Hyeon-Woo et al., FedPara (2021), the product of two low-rank matrices entry by entry;
    written here as one product of row-wise and column-wise Kronecker products.
    """
    if {*sides} != {*_HADA_SIDES}:
        raise FormatError("PAIR", f"{module} has only some of its four LoHa factors.")
    out, rank = _matrix(sides["w1_a"])
    wide = _matrix(sides["w1_b"])[1]
    shapes = [_matrix(sides[side]) for side in _HADA_SIDES]
    if shapes != [(out, rank), (rank, wide)] * 2 or not 1 <= rank * rank <= RANK_MAX:
        raise FormatError("SHAPE", f"{module} has LoHa factors that do not fit each other.")
    if rank != values.rank(table.get("r"), "r"):
        raise FormatError("CONFIG", f"{module} has rank {rank}, but {values.FILE} says otherwise.")
    names = tuple(sides[side].name for side in _HADA_SIDES)
    target = Target(
        module=module,
        rank=rank * rank,
        in_features=wide,
        out_features=out,
        scaling=values.alpha(table.get("alpha"), "alpha") / rank,
        count=2 * rank * (out + wide),
    )
    factors = Factors(
        a=lambda: _rows_times(read(names[1]), read(names[3])),
        b=lambda: _rows_times(read(names[0]).T, read(names[2]).T).T,
    )
    return Part(target, product_of=names, factors=factors)


def _rows_times(first: Matrix, second: Matrix) -> Matrix:
    """Each row of one times each row of the other: (r, n) and (s, n) to (r·s, n)."""
    product = first[:, None, :] * second[None, :, :]
    return np.ascontiguousarray(product.reshape(-1, first.shape[1]))


def _matrix(tensor: Stored) -> tuple[int, int]:
    if len(tensor.shape) != 2:
        raise FormatError("SHAPE", f"{tensor.name} is not a matrix: {list(tensor.shape)}.")
    return tensor.shape[0], tensor.shape[1]


def _some(stored: Stores) -> list[str]:
    if not stored:
        raise FormatError("PAIR", "The adapter has no weights.")
    return sorted(stored)


_Maker = Callable[[Mapping[str, Any], Stores, Read], tuple[Kind, tuple[Part, ...]]]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "IA3": _ia3,
    "LOHA": _loha,
    "PROMPT_TUNING": _prompt,
    "PREFIX_TUNING": _prompt,
}
