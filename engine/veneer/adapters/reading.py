"""Read an adapter, whatever it is stored as, into an `Adapter`.

Order: the names of the files decide the format; then the description (config or metadata), the
pairs of factors and their shapes, and last every single weight, which must be finite. Pickles
are never opened.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

import numpy as np

from veneer.adapters.factors import Factors, Pair, gguf_factors, peft_factors
from veneer.adapters.model import Adapter, SourceFormat, Target
from veneer.errors import FormatError, PickleRefused, UnsupportedAdapter
from veneer.formats import gguf, peft
from veneer.formats.gguf import GgufHeader

PEFT_CONFIG: Final = "adapter_config.json"
PEFT_WEIGHTS: Final = "adapter_model.safetensors"
_PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_GGUF_KEYS: Final = frozenset(
    {"adapter.type", "adapter.lora.alpha", "adapter.lora.task_name", "adapter.lora.prompt_prefix"}
)


class Source(Protocol):
    """The files of one adapter, wherever they are. Names are plain file names."""

    def names(self) -> tuple[str, ...]:
        """The names of all files."""
        ...

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open one file for reading: seekable, at its start."""
        ...


def read_adapter(source: Source) -> Adapter:
    """Read an adapter completely: its description, and every weight once.

    Raises `FormatError` (the files are broken or incomplete), `PickleRefused`, and
    `UnsupportedAdapter` (a good adapter that cannot be applied exactly).
    """
    if source_format(source) == "peft":
        return _read_peft(source)
    return _read_gguf(source)


def source_format(source: Source) -> SourceFormat:
    """How the adapter is stored, by the names of its files. Raises as `read_adapter`."""
    names = source.names()
    if PEFT_CONFIG in names and PEFT_WEIGHTS in names:
        return "peft"
    ggufs = [name for name in names if name.lower().endswith(".gguf")]
    if len(ggufs) == 1:
        return "gguf"
    if ggufs:
        raise FormatError("COUNT", f"There are {len(ggufs)} GGUF files here; import one at a time.")
    raise _no_adapter(names)


def gguf_name(source: Source) -> str:
    """The name of the one GGUF file of a source whose format is "gguf"."""
    return next(name for name in source.names() if name.lower().endswith(".gguf"))


def _no_adapter(names: tuple[str, ...]) -> FormatError | PickleRefused | UnsupportedAdapter:
    lower = [name.lower() for name in names]
    if any(name.endswith(_PICKLES) for name in lower):
        return PickleRefused(
            "The weights are stored as a Python pickle, which can run any program when it is "
            "opened, so Veneer never opens one. Load it where it was trained and save it again "
            "with PEFT's save_pretrained(..., safe_serialization=True)."
        )
    if "adapters.safetensors" in lower:
        return UnsupportedAdapter("This is an MLX adapter, which Veneer cannot read yet.")
    if any(name.startswith("adapter_model-") for name in lower):
        return UnsupportedAdapter("The adapter is split into several files; save it as one.")
    if any(name.endswith(".safetensors") for name in lower):
        return FormatError(
            "CONFIG",
            f"There are weights, but no {PEFT_CONFIG} beside them. Without it nobody can know how "
            "strongly they were meant to be applied.",
        )
    if PEFT_CONFIG in names:
        return FormatError("CONFIG", f"There is a {PEFT_CONFIG}, but no {PEFT_WEIGHTS}.")
    return FormatError("MAGIC", "There is no adapter here.")


def _read_peft(source: Source) -> Adapter:
    with source.open(PEFT_CONFIG) as file:
        config = peft.read_config(file)
    with source.open(PEFT_WEIGHTS) as file:
        factors = peft_factors(file)
        strengths = peft.strengths(config, tuple(factors.pairs))
        for pair in factors.pairs.values():
            _check_config(config, pair, strengths[pair.module])
        scalings = {module: strength.scaling for module, strength in strengths.items()}
        targets = _targets(factors, scalings)
        warnings = (*_check_weights(factors, targets), *_missing_targets(config, targets))
    return _adapter(
        _Origin("peft", config.base_model, config.revision, None), factors, targets, warnings
    )


def _read_gguf(source: Source) -> Adapter:
    with source.open(gguf_name(source)) as file:
        header = gguf.read_header(file)
        architecture = _check_gguf_kind(header)
        factors = gguf_factors(file, header)
        alpha = _gguf_alpha(header)
        # llama.cpp takes an alpha of 0 to mean "no alpha": the factors as they are.
        scalings = {
            pair.module: alpha / pair.rank if alpha else 1.0 for pair in factors.pairs.values()
        }
        targets = _targets(factors, scalings)
        warnings = _check_weights(factors, targets)
    declared = header.text("general.base_model.0.name")
    return _adapter(_Origin("gguf", declared, None, architecture), factors, targets, warnings)


@dataclass(frozen=True)
class _Origin:
    format: SourceFormat
    base_model: str | None
    base_revision: str | None
    architecture: str | None


def _adapter(
    origin: _Origin, factors: Factors, targets: tuple[Target, ...], warnings: tuple[str, ...]
) -> Adapter:
    dtypes = {stored.dtype for pair in factors.pairs.values() for stored in (pair.a, pair.b)}
    return Adapter(
        kind="lora",
        source_format=origin.format,
        targets=targets,
        base_model=origin.base_model,
        base_revision=origin.base_revision,
        architecture=origin.architecture,
        dtype=dtypes.pop() if len(dtypes) == 1 else "mixed",
        weights=sum(t.rank * (t.in_features + t.out_features) for t in targets),
        warnings=warnings,
    )


def _targets(factors: Factors, scalings: Mapping[str, float]) -> tuple[Target, ...]:
    return tuple(
        Target(
            module=pair.module,
            rank=pair.rank,
            in_features=pair.in_features,
            out_features=pair.out_features,
            scaling=scalings[pair.module],
            embedding=pair.embedding,
        )
        for pair in factors.pairs.values()
    )


def _check_config(config: peft.PeftConfig, pair: Pair, strength: peft.Strength) -> None:
    if strength.rank != pair.rank:
        message = f"{pair.module} has rank {pair.rank}, but {PEFT_CONFIG} says {strength.rank}."
        raise FormatError("CONFIG", message)
    if not peft.is_targeted(config, pair.module):
        message = f"{pair.module} has weights, but {PEFT_CONFIG} does not list it as a target."
        raise FormatError("CONFIG", message)


def _missing_targets(config: peft.PeftConfig, targets: tuple[Target, ...]) -> tuple[str, ...]:
    """Targets without weights: PEFT leaves them at their start, where they change nothing."""
    modules = [f".{target.module}" for target in targets]
    return tuple(
        f"The config lists {name!r} as a target, but there are no weights for it."
        for name in sorted(config.target_modules or ())
        if not any(module.endswith(f".{name}") for module in modules)
    )


def _check_gguf_kind(header: GgufHeader) -> str:
    """The architecture of a GGUF LoRA, after making sure that it is one."""
    if header.text("general.type") != "adapter":
        raise FormatError(
            "VALUE", "This GGUF file is a model, not an adapter. Import it as a base."
        )
    kind = header.text("adapter.type")
    if kind != "lora":
        raise UnsupportedAdapter(
            f"This GGUF adapter is of the kind {kind!r}; only 'lora' is known."
        )
    if "adapter.alora.invocation_tokens" in header.metadata:
        raise UnsupportedAdapter("This is an activated LoRA (aLoRA), which is not supported yet.")
    for key in header.metadata:
        if key.startswith("adapter.") and key not in _GGUF_KEYS:
            raise UnsupportedAdapter(f"The adapter sets {key!r}, which this Veneer does not know.")
    architecture = header.text("general.architecture")
    if not architecture:
        raise FormatError("KEY", "The adapter does not say for which architecture it was made.")
    return architecture


def _gguf_alpha(header: GgufHeader) -> float:
    alpha = header.metadata.get("adapter.lora.alpha")
    if not isinstance(alpha, float):
        raise FormatError("KEY", "The adapter does not say how strong it is (adapter.lora.alpha).")
    if abs(alpha) > peft.ALPHA_MAX:
        raise FormatError("VALUE", f"The adapter's alpha of {alpha} is not believable.")
    return alpha


def _check_weights(factors: Factors, targets: tuple[Target, ...]) -> tuple[str, ...]:
    idle = sum(_is_idle(factors, target) for target in targets)
    if idle == len(targets):
        return ("This adapter changes nothing: all its weights are zero.",)
    if idle:
        return (f"{idle} of {len(targets)} parts of this adapter are zero and change nothing.",)
    return ()


def _is_idle(factors: Factors, target: Target) -> bool:
    pair = factors.pairs[target.module]
    used = target.scaling != 0.0
    for stored in (pair.a, pair.b):
        values = factors.read(stored.name)
        if not np.isfinite(values).all():
            raise FormatError("NONFINITE", f"{stored.name} has values that are not numbers.")
        used = bool(values.any()) and used
    return not used
