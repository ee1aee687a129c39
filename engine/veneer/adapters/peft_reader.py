"""PEFT's two files: the config says how strongly, the weights say what.

Order: the config -> the pairs of factors -> the strength of each, compared with what is stored ->
what was trained beside them.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from veneer.adapters.beside import beside_part, check_beside
from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import Pair, checked, low_rank
from veneer.adapters.model import Kind
from veneer.adapters.peft_others import open_other
from veneer.adapters.source import PEFT_CONFIG, PEFT_WEIGHTS, Source
from veneer.errors import FormatError
from veneer.formats import peft, safetensors
from veneer.formats.peft_keys import PeftKeys, sort_keys
from veneer.formats.peft_kinds import KINDS


@contextmanager
def open_peft(source: Source) -> Generator[Contents]:
    """Open a PEFT adapter. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(PEFT_CONFIG) as file:
        table = peft.read_table(file)
    with source.open(PEFT_WEIGHTS) as file:
        header = safetensors.read_header(file)
        stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}

        def read(name: str) -> Matrix:
            return safetensors.read_tensor(file, header, name)

        make = open_other if table.get("peft_type") in KINDS else lora_contents
        yield make(table, stored, read)


def lora_contents(
    table: Mapping[str, Any], stored: Mapping[str, Stored], read: Callable[[str], Matrix]
) -> Contents:
    """A LoRA by its config and its tensors, under PEFT's names. Raises as `open_peft`."""
    config = peft.judged(table)
    keys = sort_keys(stored)
    pairs = _pairs(keys, stored)
    strengths = peft.strengths(config, tuple(pair.module for pair in pairs))
    for pair in pairs:
        _check_config(config, pair, strengths[pair.module])
    return Contents(
        kind=_kind(config),
        parts=(
            *(low_rank(pair, strengths[pair.module].scaling, read) for pair in pairs),
            *_beside(config, keys, pairs, stored, strengths, read),
        ),
        tensors=stored,
        read=read,
        base_model=config.base_model,
        base_revision=config.revision,
        base_digest=config.base_digest,
        invocation_tokens=config.invocation_tokens,
        warnings=_missing_targets(config, pairs),
    )


def _kind(config: peft.PeftConfig) -> Kind:
    if config.invocation_tokens:
        return "alora"
    return "dora" if config.beside.use_dora else "lora"


def _pairs(keys: PeftKeys, stored: Mapping[str, Stored]) -> tuple[Pair, ...]:
    return tuple(
        checked(Pair(pair.module, stored[pair.a], stored[pair.b], embedding=pair.embedding))
        for pair in keys.pairs
    )


def _beside(
    config: peft.PeftConfig,
    keys: PeftKeys,
    pairs: tuple[Pair, ...],
    stored: Mapping[str, Stored],
    strengths: Mapping[str, peft.Strength],
    read: Callable[[str], Matrix],
) -> tuple[Part, ...]:
    parts = tuple(
        beside_part(key, stored[key.name], config.beside, _scaling(strengths, key.module), read)
        for key in keys.beside
    )
    check_beside(parts, {pair.module: pair for pair in pairs}, config.beside)
    return parts


def _scaling(strengths: Mapping[str, peft.Strength], module: str) -> float:
    return strengths[module].scaling if module in strengths else 1.0


def _check_config(config: peft.PeftConfig, pair: Pair, strength: peft.Strength) -> None:
    if strength.rank != pair.rank:
        message = f"{pair.module} has rank {pair.rank}, but {PEFT_CONFIG} says {strength.rank}."
        raise FormatError("CONFIG", message)
    if not peft.is_targeted(config, pair.module):
        message = f"{pair.module} has weights, but {PEFT_CONFIG} does not list it as a target."
        raise FormatError("CONFIG", message)


def _missing_targets(config: peft.PeftConfig, pairs: tuple[Pair, ...]) -> tuple[str, ...]:
    """Targets without weights: PEFT leaves them at their start, where they change nothing."""
    modules = [f".{pair.module}" for pair in pairs]
    return tuple(
        f"The config lists {name!r} as a target, but there are no weights for it."
        for name in sorted(config.target_modules or ())
        if not any(module.endswith(f".{name}") for module in modules)
    )
