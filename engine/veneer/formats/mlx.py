"""mlx-lm's `adapter_config.json` and the names of its tensors.

mlx-lm writes all its training options into the config; only those read here change what the
adapter does. A layer computes y = x·W + scale · (x·lora_a)·lora_b, so A and B are stored the
other way round than PEFT's, and `scale` is the whole factor. Early versions had an `alpha`
besides, and multiplied by scale · alpha / rank.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, cast

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats.strict_json import parse_object

_CONFIG_MAX = 1 << 20
_RANK_MAX = 65_536
_SCALING_MAX = 1e6
_FILE = "adapter_config.json"
_PARAMETERS: Final = frozenset({"rank", "scale", "alpha", "dropout", "keys"})
_SIDES: Final = {"lora_a": "a", "lora_b": "b"}


@dataclass(frozen=True)
class MlxConfig:
    """What a config says about strength and base. `scaling` is the factor of A·B as a whole."""

    rank: int
    scaling: float
    base_model: str | None


@dataclass(frozen=True)
class MlxKeys:
    """The names of a module's factors: lora_a is (in, rank), lora_b is (rank, out)."""

    module: str
    a: str
    b: str

    @property
    def embedding(self) -> bool:
        """Whether the module looks tokens up; `in` is then the size of the vocabulary."""
        return self.module.rpartition(".")[2] == "embed_tokens"


def read_config(file: BinaryIO) -> MlxConfig:
    """Read an open config. Raises `FormatError` SIZE, JSON or CONFIG, `UnsupportedAdapter`."""
    raw = file.read(_CONFIG_MAX + 1)
    if len(raw) > _CONFIG_MAX:
        raise FormatError("SIZE", f"{_FILE} is larger than {_CONFIG_MAX >> 20} MB.")
    table = parse_object(raw, _FILE)
    kind = table.get("fine_tune_type", "lora")
    if kind != "lora":
        raise UnsupportedAdapter(
            f"This MLX adapter is of the kind {str(kind)[:40]!r}; only lora can be applied exactly."
        )
    parameters = _parameters(table)
    rank, model = parameters.get("rank"), table.get("model")
    if type(rank) is not int or not 1 <= rank <= _RANK_MAX:
        raise FormatError("CONFIG", f"{_FILE}: the rank is {rank!r:.80}.")
    return MlxConfig(rank, _scaling(parameters, rank), model if isinstance(model, str) else None)


def pair_keys(names: Iterable[str]) -> tuple[MlxKeys, ...]:
    """Pair the tensor names, ordered by module.

    Raises `FormatError` PAIR, and `UnsupportedAdapter` naming a tensor of another kind.
    """
    found: dict[str, dict[str, str]] = {}
    for name in names:
        module, _, leaf = name.rpartition(".")
        if leaf not in _SIDES or not module:
            message = f"This adapter cannot be applied exactly: {name[:120]!r} is no LoRA factor."
            raise UnsupportedAdapter(message)
        found.setdefault(module, {})[_SIDES[leaf]] = name
    if not found:
        raise FormatError("PAIR", "The adapter has no weights.")
    return tuple(_pair(module, found[module]) for module in sorted(found))


def _pair(module: str, sides: Mapping[str, str]) -> MlxKeys:
    if len(sides) != len(_SIDES):
        raise FormatError("PAIR", f"{module[:120]} has only one of its two LoRA factors.")
    return MlxKeys(module, sides["a"], sides["b"])


def _parameters(table: Mapping[str, Any]) -> Mapping[str, Any]:
    value: Any = table.get("lora_parameters")
    if not isinstance(value, dict):
        raise FormatError("CONFIG", f"{_FILE} does not say how strong the adapter is.")
    parameters = cast("dict[str, Any]", value)
    unknown = sorted(set(parameters) - _PARAMETERS)
    if unknown:
        message = f"{_FILE} sets {unknown[0][:80]!r}, which this Veneer does not know."
        raise UnsupportedAdapter(message)
    return parameters


def _scaling(parameters: Mapping[str, Any], rank: int) -> float:
    scale = _number(parameters, "scale")
    if "alpha" not in parameters:
        return scale
    return scale * (_number(parameters, "alpha") / rank)


def _number(parameters: Mapping[str, Any], field: str) -> float:
    value = parameters.get(field)
    if type(value) not in (int, float) or not abs(cast("float", value)) <= _SCALING_MAX:
        raise FormatError("CONFIG", f"{_FILE}: {field} is {value!r:.80}.")
    return float(cast("float", value))
