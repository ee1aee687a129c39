"""PEFT's two files: the config says how strongly, the weights say what.

Order: the config -> the pairs of factors -> the strength of each, compared with what is stored.
"""

from collections.abc import Generator
from contextlib import contextmanager

from veneer.adapters.contents import Contents, Matrix, Stored
from veneer.adapters.factors import Pair, checked, low_rank
from veneer.adapters.source import PEFT_CONFIG, PEFT_WEIGHTS, Source
from veneer.errors import FormatError
from veneer.formats import peft, safetensors
from veneer.formats.peft_keys import pair_keys


@contextmanager
def open_peft(source: Source) -> Generator[Contents]:
    """Open a PEFT adapter. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(PEFT_CONFIG) as file:
        config = peft.read_config(file)
    with source.open(PEFT_WEIGHTS) as file:
        header = safetensors.read_header(file)
        stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}
        pairs = _pairs(stored)
        strengths = peft.strengths(config, tuple(pair.module for pair in pairs))
        for pair in pairs:
            _check_config(config, pair, strengths[pair.module])

        def read(name: str) -> Matrix:
            return safetensors.read_tensor(file, header, name)

        yield Contents(
            kind="lora",
            parts=tuple(low_rank(pair, strengths[pair.module].scaling, read) for pair in pairs),
            tensors=stored,
            read=read,
            base_model=config.base_model,
            base_revision=config.revision,
            base_digest=config.base_digest,
            warnings=_missing_targets(config, pairs),
        )


def _pairs(stored: dict[str, Stored]) -> tuple[Pair, ...]:
    return tuple(
        checked(Pair(keys.module, stored[keys.a], stored[keys.b], embedding=keys.embedding))
        for keys in pair_keys(stored)
    )


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
