"""The tensor names in a PEFT adapter: which module, which factor.

A name is the prefix `base_model.model.`, the module's path, and a suffix. The suffixes of plain
LoRA are paired; those of what PEFT trains beside it say which operation they belong to; every
other one is refused with what it is. PEFT's own loader would drop it with a log line.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from veneer.errors import FormatError, UnsupportedAdapter

PREFIX: Final = "base_model.model."
_KEY: Final = re.compile(
    r"(?P<module>[\w.\-]+)\.lora_(?P<embedding>embedding_)?(?P<side>[AB])"
    r"(?:\.(?P<adapter>[\w\-]+))??(?P<weight>\.weight)?",
    re.ASCII,
)

_Found = TypeVar("_Found")
_NAME: Final = r"(?:\.[\w\-]+)??"
_BESIDE: Final[tuple[tuple["BesideOperation", re.Pattern[str]], ...]] = (
    ("magnitude", re.compile(rf"(.+)\.lora_magnitude_vector{_NAME}(?:\.weight)?", re.ASCII)),
    ("add_bias", re.compile(rf"(.+)\.lora_B{_NAME}\.bias", re.ASCII)),
    ("rows", re.compile(rf"(.+)\.token_adapter\.trainable_tokens_delta{_NAME}", re.ASCII)),
    ("bias", re.compile(rf"(.+?)(?:\.base_layer|\.modules_to_save{_NAME})?\.bias", re.ASCII)),
    ("replace", re.compile(rf"(.+?)(?:\.modules_to_save{_NAME})?\.weight", re.ASCII)),
)
_FOREIGN: Final = (
    (".original_module", "a copy of a module of the base (modules_to_save)"),
    (
        ".base_layer.weight",
        "a copy of the base's own weight, and of a kind that PEFT does not save by itself",
    ),
)

BesideOperation = Literal["magnitude", "add_bias", "rows", "bias", "replace"]


@dataclass(frozen=True)
class BesideKey:
    """A tensor trained beside the factors, and what it does to its module."""

    module: str
    operation: BesideOperation
    name: str


@dataclass(frozen=True)
class FactorKeys:
    """The names of a module's two factors.

    Linear: A is (r, in), B is (out, r). Embedding: A is (r, vocabulary), B is (width, r).
    """

    module: str
    a: str
    b: str
    embedding: bool


@dataclass(frozen=True)
class PeftKeys:
    """The tensors of an adapter: at least one pair of factors, and what was trained beside."""

    pairs: tuple[FactorKeys, ...]
    beside: tuple[BesideKey, ...]


@dataclass(frozen=True)
class _Parsed:
    module: str
    side: str
    embedding: bool


def sort_keys(names: Iterable[str]) -> PeftKeys:
    """Sort the tensor names of an adapter, pairs and the rest each ordered by module.

    Raises `FormatError` NAME (no PEFT name, or two names for one thing) or PAIR (a factor is
    missing, or there is none at all), `UnsupportedAdapter` naming a tensor of another kind.
    """
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    beside: dict[tuple[str, str], BesideKey] = {}
    for name in names:
        parsed = _parse(name)
        if isinstance(parsed, BesideKey):
            _add(beside, (parsed.module, parsed.operation), parsed)
        else:
            _add(found, (parsed.module, parsed.side), (name, parsed.embedding))
    if not found:
        raise _no_factors(beside)
    pairs = tuple(_pair(found, module) for module in sorted({module for module, _ in found}))
    return PeftKeys(pairs, tuple(beside[key] for key in sorted(beside)))


def _add(found: dict[tuple[str, str], _Found], key: tuple[str, str], value: _Found) -> None:
    if key in found:
        message = f"{key[0]} has two tensors {key[1]}; it must be one adapter only."
        raise FormatError("NAME", message)
    found[key] = value


def _no_factors(beside: Mapping[tuple[str, str], BesideKey]) -> FormatError:
    if not beside:
        return FormatError("PAIR", "The adapter has no weights.")
    return FormatError(
        "PAIR",
        "There are whole weights but no LoRA factors here: this is a model, or an adapter that is "
        "merged into one already.",
    )


def _pair(found: dict[tuple[str, str], tuple[str, bool]], module: str) -> FactorKeys:
    for side, other in (("A", "B"), ("B", "A")):
        if (module, side) not in found:
            message = f"{module} has a LoRA factor {other} but no factor {side}."
            raise FormatError("PAIR", message)
    (a, embedding), (b, also) = found[module, "A"], found[module, "B"]
    if embedding != also:
        raise FormatError("PAIR", f"{module} mixes the factors of an embedding and of a layer.")
    return FactorKeys(module, a, b, embedding)


def _parse(name: str) -> _Parsed | BesideKey:
    if not name.startswith(PREFIX):
        message = f"The tensor {name[:120]!r} is not named as PEFT names them ({PREFIX}…)."
        raise FormatError("NAME", message)
    match = _KEY.fullmatch(name, len(PREFIX))
    # An embedding's factors are bare parameters, a layer's are modules with a weight.
    if match is None or bool(match["embedding"]) == bool(match["weight"]):
        return _parse_beside(name)
    return _Parsed(match["module"], match["side"], bool(match["embedding"]))


def _parse_beside(name: str) -> BesideKey:
    if not any(part in name for part, _ in _FOREIGN):
        for operation, pattern in _BESIDE:
            match = pattern.fullmatch(name, len(PREFIX))
            if match is not None and "lora_" not in match[1]:
                return BesideKey(match[1], operation, name)
    raise _foreign(name)


def _foreign(name: str) -> UnsupportedAdapter:
    what = next((what for part, what in _FOREIGN if part in name), "of a kind that is unknown")
    return UnsupportedAdapter(
        f"This adapter cannot be applied exactly: the tensor {name[:120]!r} is {what}."
    )
