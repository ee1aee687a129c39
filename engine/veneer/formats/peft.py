"""PEFT's `adapter_config.json`: what it says about strength, and what it asks for besides.

A config has some forty fields, and a field that is overlooked changes what the adapter does
without a trace. So every field is in one of three tables: those that are read (`PeftConfig`),
those that cannot matter once training is over (`_WITHOUT_EFFECT`), and those that are refused
unless they are off, each with its reason (`_REFUSED`). A field in none of them must be off.

Reading another field means moving its line from `_REFUSED` into `PeftConfig`. That a field is read
does not mean that it runs: `compat` refuses what the lane cannot execute.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import peft_values as values
from veneer.formats.patterns import Pattern, compile_pattern, is_plain
from veneer.formats.peft_beside import BESIDE_FIELDS, Beside, read_beside
from veneer.formats.strict_json import parse_object
from veneer.identity import Digest, digest_from

_CONFIG_MAX = 1 << 20
BASE_DIGEST_KEY = "veneer.base_sha256"
"""Under it an adapter of any format may name the very file it was trained on."""
_EXPRESSIONS_MAX = 256
_STEPS_MAX = 10_000_000
_COMPARISONS_MAX = 5_000_000


@dataclass(frozen=True)
class PeftConfig:
    """The part of a config that is read.

    `fan_in_fan_out` tells PEFT in which order the base stores its matrix (GPT-2's Conv1D keeps
    the transpose). A and B have the same orientation either way, and a GGUF base stores every
    matrix the usual way round, so the field is kept but changes nothing.
    """

    r: int
    lora_alpha: float
    use_rslora: bool
    fan_in_fan_out: bool
    rank_pattern: Mapping[str, int]
    alpha_pattern: Mapping[str, float]
    target_modules: tuple[str, ...] | None
    base_model: str | None
    revision: str | None
    base_digest: Digest | None
    invocation_tokens: tuple[int, ...]
    beside: Beside
    target_parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Strength:
    """A module's rank, and the factor PEFT multiplies B·A by."""

    rank: int
    scaling: float


@dataclass(frozen=True)
class _Refusal:
    field: str
    off: tuple[Any, ...]
    reason: str


_OFF: Final[tuple[Any, ...]] = (None, False, [], {}, "")
_REFUSED: Final = (
    _Refusal(
        "init_lora_weights",
        (None, True, False, "gaussian", "orthogonal", "eva"),
        "its training changed the base's own weights or their start (init_lora_weights); convert "
        "it with PEFT's path_initial_model_for_weight_conversion first",
    ),
    _Refusal("layer_replication", _OFF, "it repeats layers of the base (layer_replication)"),
    _Refusal("invocation_string", _OFF, "it is an activated LoRA (aLoRA) of an early form"),
    _Refusal("megatron_config", _OFF, "it was trained with Megatron's parallel layers"),
    _Refusal("use_qalora", _OFF, "it is a QALoRA adapter, which groups its inputs"),
    _Refusal("use_bdlora", _OFF, "it is block-diagonal (use_bdlora)"),
    _Refusal("velora_config", _OFF, "it is a VeLoRA adapter"),
    _Refusal("monteclora_config", _OFF, "it is a MonteCLoRA adapter, which samples its weights"),
    _Refusal("arrow_config", _OFF, "it is an Arrow router over other adapters"),
    _Refusal("kasa_config", _OFF, "it is a KaSA adapter, which also changes the base's weights"),
    _Refusal("ensure_weight_tying", _OFF, "it ties its embedding and head (ensure_weight_tying)"),
    _Refusal("task_type", (None, "", "CAUSAL_LM"), "it was not made to generate text (task_type)"),
)

_READ: Final = frozenset(
    {
        "peft_type",
        "r",
        "lora_alpha",
        "use_rslora",
        "fan_in_fan_out",
        "rank_pattern",
        "alpha_pattern",
        "target_modules",
        "target_parameters",
        "base_model_name_or_path",
        "revision",
        "alora_invocation_tokens",
        *BESIDE_FIELDS,
        BASE_DIGEST_KEY,
    }
)
_WITHOUT_EFFECT: Final = frozenset(
    {
        "auto_mapping",
        "corda_config",  # read only while init_lora_weights says so, as the next ones
        "eva_config",
        "exclude_modules",  # the saved tensors are what remained after exclusion
        "inference_mode",
        "layers_pattern",  # the saved tensors are the layers that were chosen
        "layers_to_transform",
        "loftq_config",
        "lora_dropout",
        "lora_ga_config",
        "megatron_core",  # the name of a library, used together with megatron_config
        "merge_weights",
        "peft_version",
        "qalora_group_size",  # used together with use_qalora
        "runtime_config",
    }
)


def read_table(file: BinaryIO) -> Mapping[str, Any]:
    """An open `adapter_config.json` as it is. Raises `FormatError` SIZE or JSON."""
    raw = file.read(_CONFIG_MAX + 1)
    if len(raw) > _CONFIG_MAX:
        raise FormatError("SIZE", f"{values.FILE} is larger than {_CONFIG_MAX >> 20} MB.")
    return parse_object(raw, values.FILE)


def read_config(file: BinaryIO) -> PeftConfig:
    """Read and judge the open config of a LoRA.

    Raises `FormatError` SIZE, JSON or CONFIG for a bad file, `UnsupportedAdapter` with the reason
    for a good one that asks for more than is known.
    """
    return judged(read_table(file))


def judged(table: Mapping[str, Any]) -> PeftConfig:
    """What the config of a LoRA says. Raises as `read_config`."""
    _refuse_other_kinds(table)
    _refuse_other_fields(table)
    return PeftConfig(
        r=values.rank(table.get("r"), "r"),
        lora_alpha=values.alpha(table.get("lora_alpha"), "lora_alpha"),
        use_rslora=values.flag(table, "use_rslora"),
        fan_in_fan_out=values.flag(table, "fan_in_fan_out"),
        rank_pattern=values.ranks(table, "rank_pattern"),
        alpha_pattern={
            k: values.alpha(v, k) for k, v in values.table(table, "alpha_pattern").items()
        },
        target_modules=values.names(table.get("target_modules"), "target_modules"),
        base_model=values.text(table, "base_model_name_or_path"),
        revision=values.text(table, "revision"),
        base_digest=_base_digest(table),
        invocation_tokens=values.numbers(
            table.get("alora_invocation_tokens"), "alora_invocation_tokens"
        ),
        beside=read_beside(table),
        target_parameters=_parameters(table),
    )


def strengths(config: PeftConfig, modules: Sequence[str]) -> Mapping[str, Strength]:
    """Rank and scaling of each module, by PEFT's rules: the first pattern that matches wins.

    Raises `UnsupportedAdapter` for patterns that cannot be evaluated exactly and in time.
    """
    texts = (*config.rank_pattern, *config.alpha_pattern)
    if sum(not is_plain(text) for text in texts) > _EXPRESSIONS_MAX:
        raise _too_many()
    ranks = [compile_pattern(text) for text in config.rank_pattern]
    alphas = [compile_pattern(text) for text in config.alpha_pattern]
    steps = sum(map(len, modules)) * sum(p.cost for p in (*ranks, *alphas) if p.states)
    if steps > _STEPS_MAX or len(modules) * len(texts) > _COMPARISONS_MAX:
        raise _too_many()
    return {module: _strength(config, module, ranks, alphas) for module in modules}


def is_targeted(config: PeftConfig, module: str) -> bool:
    """Whether PEFT would adapt this module. Always true where targets are a regular expression."""
    listed = config.target_modules
    return listed is None or module in listed or any(module.endswith(f".{t}") for t in listed)


def _strength(
    config: PeftConfig, module: str, ranks: Iterable[Pattern], alphas: Iterable[Pattern]
) -> Strength:
    rank = config.rank_pattern.get(_pattern_key(ranks, module), config.r)
    alpha = config.alpha_pattern.get(_pattern_key(alphas, module), config.lora_alpha)
    return Strength(rank, alpha / (math.sqrt(rank) if config.use_rslora else rank))


def _too_many() -> UnsupportedAdapter:
    return UnsupportedAdapter("The adapter has too many rank and alpha patterns to evaluate.")


def _pattern_key(patterns: Iterable[Pattern], module: str) -> str:
    return next((pattern.text for pattern in patterns if pattern.matches(module)), module)


def _refuse_other_kinds(table: Mapping[str, Any]) -> None:
    kind = table.get("peft_type")
    if kind is None and "lora_parameters" in table:
        raise UnsupportedAdapter("This is the config of an MLX adapter, but not its weights.")
    if not isinstance(kind, str):
        raise FormatError(
            "CONFIG", f"{values.FILE} does not say what kind of adapter it is (peft_type)."
        )
    if kind != "LORA":
        message = f"This is an adapter of the kind {kind[:40]!r}, which cannot be applied exactly."
        raise UnsupportedAdapter(message)


def _refuse_other_fields(table: Mapping[str, Any]) -> None:
    for refusal in _REFUSED:
        value = table.get(refusal.field)
        if value not in refusal.off:
            raise UnsupportedAdapter(f"This adapter cannot be applied exactly: {refusal.reason}.")
    listed = _READ | _WITHOUT_EFFECT | {refusal.field for refusal in _REFUSED}
    for field, value in table.items():
        if field not in listed and value not in _OFF:
            message = f"{values.FILE} sets {field[:80]!r}, which this Veneer does not know."
            raise UnsupportedAdapter(message)


def _parameters(table: Mapping[str, Any]) -> tuple[str, ...]:
    field = "target_parameters"
    return values.names(table.get(field) or [], field) or ()


def _base_digest(table: Mapping[str, Any]) -> Digest | None:
    said = values.text(table, BASE_DIGEST_KEY)
    digest = None if said is None else digest_from(said)
    if said is not None and digest is None:
        raise FormatError("CONFIG", f"{values.FILE}: {BASE_DIGEST_KEY} is not a SHA-256 digest.")
    return digest
