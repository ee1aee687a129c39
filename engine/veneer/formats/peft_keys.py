"""The tensor names in a PEFT adapter: which module, which factor.

A name is the prefix `base_model.model.`, the module's path, and a suffix. The suffixes of
plain LoRA are paired; every other one belongs to something that is not executed, and is refused
with what it is. PEFT's own loader would drop an unexpected tensor with a log line.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from veneer.errors import FormatError, UnsupportedAdapter

_PREFIX: Final = "base_model.model."
_KEY: Final = re.compile(
    r"(?P<module>[\w.\-]+)\.lora_(?P<embedding>embedding_)?(?P<side>[AB])"
    r"(?:\.(?P<adapter>[\w\-]+))??(?P<weight>\.weight)?",
    re.ASCII,
)

_FOREIGN: Final = (
    (".lora_magnitude_vector", "a DoRA magnitude, which rescales the base's weights"),
    (".lora_B.bias", "a trained bias of a LoRA layer (lora_bias)"),
    (".modules_to_save", "a whole module trained beside the LoRA (modules_to_save)"),
    (".original_module", "a copy of a module of the base (modules_to_save)"),
    (".token_adapter", "retrained tokens (trainable_token_indices)"),
    (".trainable_tokens", "retrained tokens (trainable_token_indices)"),
    (".base_layer", "a copy of the base's own embedding, which may have been resized"),
    ("norm.weight", "a trained normalisation"),
    (".bias", "a trained bias of the base"),
    (".weight", "a whole weight of the base (modules_to_save, or a resized embedding)"),
)


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
class _Parsed:
    module: str
    side: str
    embedding: bool


def pair_keys(names: Iterable[str]) -> tuple[FactorKeys, ...]:
    """Pair the tensor names of an adapter, ordered by module.

    Raises `FormatError` NAME (no PEFT name, or two names for one factor) or PAIR (a factor is
    missing, or there is none at all), `UnsupportedAdapter` naming a tensor of another kind.
    """
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for name in names:
        parsed = _parse(name)
        if (parsed.module, parsed.side) in found:
            message = f"{parsed.module} has two factors {parsed.side}; it must be one adapter only."
            raise FormatError("NAME", message)
        found[parsed.module, parsed.side] = (name, parsed.embedding)
    if not found:
        raise FormatError("PAIR", "The adapter has no weights.")
    return tuple(_pair(found, module) for module in sorted({module for module, _ in found}))


def _pair(found: dict[tuple[str, str], tuple[str, bool]], module: str) -> FactorKeys:
    for side, other in (("A", "B"), ("B", "A")):
        if (module, side) not in found:
            message = f"{module} has a LoRA factor {other} but no factor {side}."
            raise FormatError("PAIR", message)
    (a, embedding), (b, also) = found[module, "A"], found[module, "B"]
    if embedding != also:
        raise FormatError("PAIR", f"{module} mixes the factors of an embedding and of a layer.")
    return FactorKeys(module, a, b, embedding)


def _parse(name: str) -> _Parsed:
    if not name.startswith(_PREFIX):
        message = f"The tensor {name[:120]!r} is not named as PEFT names them ({_PREFIX}…)."
        raise FormatError("NAME", message)
    match = _KEY.fullmatch(name, len(_PREFIX))
    # An embedding's factors are bare parameters, a layer's are modules with a weight.
    if match is None or bool(match["embedding"]) == bool(match["weight"]):
        raise _foreign(name)
    return _Parsed(match["module"], match["side"], bool(match["embedding"]))


def _foreign(name: str) -> UnsupportedAdapter:
    plain = name.replace(".default", "")
    what = next((what for part, what in _FOREIGN if part in plain), "of a kind that is unknown")
    return UnsupportedAdapter(
        f"This adapter cannot be applied exactly: the tensor {name[:120]!r} is {what}."
    )
