"""PEFT's two files: the config says how strongly, the weights say what.

Order: the config -> the pairs of factors -> the strength of each, compared with what is stored ->
what was trained beside them.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from veneer.adapters.beside import beside_part, check_beside
from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import Pair, low_rank
from veneer.adapters.model import Kind, Witness
from veneer.adapters.peft_experts import expert_part, split_experts
from veneer.adapters.peft_others import open_other
from veneer.adapters.source import PEFT_CONFIG, PEFT_WEIGHTS, Source
from veneer.errors import FormatError
from veneer.formats import peft, safetensors
from veneer.formats.peft_keys import PeftKeys, sort_keys
from veneer.formats.peft_kinds import KINDS
from veneer.formats.safetensors import SafetensorsHeader
from veneer.formats.witness import PREFIX, witnesses


@contextmanager
def open_peft(source: Source) -> Generator[Contents]:
    """Open a PEFT adapter. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(PEFT_CONFIG) as file:
        table = peft.read_table(file)
    with source.open(PEFT_WEIGHTS) as file:
        # AdaLoRA saves modules that it has cut to the rank 0.
        header = safetensors.read_header(file, empty=table.get("peft_type") == "ADALORA")
        stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}

        def read(name: str) -> Matrix:
            return safetensors.read_tensor(file, header, name)

        if table.get("peft_type") in KINDS:
            yield open_other(table, stored, read)
        else:
            yield lora_contents(table, stored, read, _witnesses(header))


def _witnesses(header: SafetensorsHeader) -> tuple[Witness, ...]:
    found = ((module, rows, PREFIX + module) for module, rows in witnesses(header).items())
    return tuple(
        Witness(module=module, tensor=name, rows=rows, width=header.tensors[name].shape[1])
        for module, rows, name in found
    )


def lora_contents(
    table: Mapping[str, Any],
    stored: Mapping[str, Stored],
    read: Callable[[str], Matrix],
    samples: tuple[Witness, ...] = (),
) -> Contents:
    """A LoRA by its config and its tensors, under PEFT's names. Raises as `open_peft`."""
    config = peft.judged(table)
    keys = sort_keys({*stored} - {sample.tensor for sample in samples})
    pairs, experts = split_experts(config, _pairs(keys, stored))
    named = (*(pair.module for pair in pairs), *(pair.parameter for pair in experts))
    strengths = peft.strengths(config, named)
    for pair in pairs:
        _check_config(config, pair, strengths[pair.module])
    return Contents(
        kind=_kind(config),
        parts=(
            *(low_rank(pair, strengths[pair.module].scaling, read) for pair in pairs),
            *(expert_part(pair, strengths[pair.parameter], read) for pair in experts),
            *_beside(config, keys, pairs, stored, strengths, read),
        ),
        tensors=stored,
        read=read,
        base_model=config.base_model,
        base_revision=config.revision,
        base_digest=config.base_digest,
        invocation_tokens=config.invocation_tokens,
        warnings=(*_missing_targets(config, named), *_left_out(samples)),
        witnesses=samples,
    )


def _kind(config: peft.PeftConfig) -> Kind:
    if config.invocation_tokens:
        return "alora"
    return "dora" if config.beside.use_dora else "lora"


def _pairs(keys: PeftKeys, stored: Mapping[str, Stored]) -> tuple[Pair, ...]:
    return tuple(
        Pair(pair.module, stored[pair.a], stored[pair.b], embedding=pair.embedding)
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


def _missing_targets(config: peft.PeftConfig, named: tuple[str, ...]) -> tuple[str, ...]:
    """Targets without weights: PEFT leaves them at their start, where they change nothing."""
    return tuple(
        f"The config lists {name!r} as a target, but there are no weights for it."
        for name in sorted({*(config.target_modules or ()), *config.target_parameters})
        if not any(f".{module}".endswith(f".{name}") for module in named)
    )


def _left_out(samples: tuple[Witness, ...]) -> Iterator[str]:
    for sample in samples:
        yield (
            f"It came with a copy of its base's {sample.module}, of which a sample is kept to tell "
            "whether it belongs on a base."
        )
