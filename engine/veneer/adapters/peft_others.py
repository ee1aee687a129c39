"""PEFT's kinds beside LoRA: IA³, retrained tokens, trained prompts and prefixes, and products.

Those of `peft_products` come to a low-rank product exactly, and are one from here on. The others
become operations of their own, which the stock lane refuses.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from veneer.adapters import peft_products as products
from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import check_floats
from veneer.adapters.model import Kind, Operation, Target
from veneer.errors import FormatError
from veneer.formats import peft_values as values
from veneer.formats.peft_keys import PREFIX
from veneer.formats.peft_kinds import check_fields

Read = Callable[[str], Matrix]
Stores = Mapping[str, Stored]

_IA3: Final = re.compile(re.escape(PREFIX) + r"([\w.\-]+)\.ia3_l", re.ASCII)
_TOKENS: Final = re.compile(
    re.escape(PREFIX) + r"([\w.\-]+?)(?:\.token_adapter)?\.trainable_tokens_delta", re.ASCII
)
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
    inner = values.names(table.get("feedforward_modules") or [], "feedforward_modules") or ()
    return "ia3", tuple(_ia3_part(stored[name], inner, read) for name in products.some(stored))


def _ia3_part(tensor: Stored, feedforward: tuple[str, ...], read: Read) -> Part:
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
        ),
        values=lambda: read(tensor.name).reshape(-1),
    )


def _tokens(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, tuple[Part, ...]]:
    """The rows of the tokens that the config lists, in its order: (tokens, width)."""
    tokens = values.numbers(table.get("token_indices"), "token_indices")
    names = products.some(stored)
    return "tokens", tuple(_tokens_part(stored[name], tokens, read) for name in names)


def _tokens_part(tensor: Stored, tokens: tuple[int, ...], read: Read) -> Part:
    match = _TOKENS.fullmatch(tensor.name)
    if match is None:
        raise FormatError("NAME", f"{tensor.name} is no part of retrained tokens.")
    if len(tensor.shape) != 2 or tensor.shape[0] != len(tokens):
        message = f"{tensor.name} is {list(tensor.shape)} for {len(tokens)} tokens."
        raise FormatError("SHAPE", message)
    rows, width = tensor.shape
    return Part(
        Target(
            module=match[1], operation="rows", out_features=width, tokens=tokens, count=rows * width
        ),
        values=lambda: read(tensor.name),
    )


def _prompt(table: Mapping[str, Any], stored: Stores, read: Read) -> tuple[Kind, tuple[Part, ...]]:
    if [*stored] != [_PROMPT] or len(stored[_PROMPT].shape) != 2:
        raise FormatError("NAME", f"The only tensor of this kind is a matrix {_PROMPT}.")
    tokens, width = stored[_PROMPT].shape
    if table.get("num_virtual_tokens") != tokens:
        raise FormatError("CONFIG", f"{values.FILE} does not say {tokens} virtual tokens.")
    kind: Kind = "prompt" if table["peft_type"] == "PROMPT_TUNING" else "prefix"
    target = Target(
        module=_PROMPT, operation=kind, in_features=tokens, out_features=width, count=tokens * width
    )
    return kind, (Part(target, values=lambda: read(_PROMPT)),)


_Maker = Callable[[Mapping[str, Any], Stores, Read], tuple[Kind, tuple[Part, ...]]]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "IA3": _ia3,
    "LOHA": products.loha,
    "LOKR": products.lokr,
    "VERA": products.vera,
    "ADALORA": products.adalora,
    "TRAINABLE_TOKENS": _tokens,
    "PROMPT_TUNING": _prompt,
    "PREFIX_TUNING": _prompt,
}
