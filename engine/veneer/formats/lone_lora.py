"""The tensor names and the metadata of a LoRA that is one safetensors file without a config.

Two ways of writing one tell how strong it is. kohya's trainers put an `alpha` beside each
module's `lora_down` and `lora_up`. diffusers puts PEFT's config into the file's metadata, each
field after the name of the model it is for. Without either nobody can know. Both come from the
image world, so most of these files adapt an image model, and are refused as that.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats.module_names import split_module
from veneer.formats.strict_json import parse_object

_KEY: Final = re.compile(
    r"(?P<module>[\w.\-]+?)(?:\.lora|\.lora_linear_layer|)\."
    r"(?P<part>(?:lora_)?(?:down|up|A|B)\.weight|alpha)",
    re.ASCII,
)
_PARTS: Final = {
    "lora_down.weight": "a",
    "lora_A.weight": "a",
    "down.weight": "a",
    "lora_up.weight": "b",
    "lora_B.weight": "b",
    "up.weight": "b",
    "alpha": "alpha",
}
_CONFIG: Final = "lora_adapter_metadata"


@dataclass(frozen=True)
class LoneKeys:
    """The names of a module's A (r, in) and B (out, r), and of the one number alpha."""

    module: str
    a: str
    b: str
    alpha: str


def peft_config(metadata: Mapping[str, str]) -> tuple[str, Mapping[str, Any]] | None:
    """What stands before the names in a file of diffusers, and its PEFT config; None elsewhere.

    Raises `FormatError` JSON or CONFIG, `UnsupportedAdapter` for a file with several models.
    """
    if _CONFIG not in metadata:
        return None
    table = parse_object(metadata[_CONFIG].encode(), _CONFIG)
    prefixes = [key.removesuffix(".r") for key in table if key.endswith(".r")]
    if len(prefixes) != 1 or not all(key.startswith(f"{prefixes[0]}.") for key in table):
        if len(prefixes) > 1:
            raise _several(sorted(prefixes))
        raise FormatError("CONFIG", f"The metadata ({_CONFIG}) is no config of one model.")
    (prefix,) = prefixes
    return f"{prefix}.", {key.removeprefix(f"{prefix}."): value for key, value in table.items()}


def check_language(modules: Iterable[str]) -> None:
    """Raises `UnsupportedAdapter` if one of these is no module of a language model."""
    for module in modules:
        _split(module)


def sort_keys(names: Iterable[str]) -> tuple[LoneKeys, ...]:
    """Sort the tensor names of a file whose strengths are its alphas, ordered by module.

    Raises `UnsupportedAdapter` (it adapts an image model, or several models), `FormatError`
    CONFIG (no strength is stored), NAME (no such name, or one twice) or PAIR (a factor is missing).
    """
    found: dict[str, dict[str, str]] = {}
    strange: list[str] = []
    for name in names:
        match = _KEY.fullmatch(name)
        part = match and _PARTS.get(match["part"])
        if match is None or part is None:
            strange.append(name)
        elif found.setdefault(match["module"], {}).setdefault(part, name) != name:
            raise FormatError("NAME", f"{match['module']} has two tensors {part}.")
    if not any("a" in parts or "b" in parts for parts in found.values()):
        raise _no_factors(strange)
    modules = _spelled(found)
    if strange:
        raise UnsupportedAdapter(f"{strange[0][:120]} is no part of a LoRA that is known here.")
    return tuple(_keys(module, found[modules[module]]) for module in sorted(modules))


def _spelled(written: Iterable[str]) -> dict[str, str]:
    """The written module for each in Hugging Face's spelling."""
    split = {name: _split(name) for name in written}
    prefixes = {prefix for prefix, _ in split.values()}
    if len(prefixes) > 1:
        raise _several(sorted(prefixes))
    modules: dict[str, str] = {}
    for name, (_, module) in split.items():
        if modules.setdefault(module, name) != name:
            raise FormatError("NAME", f"{modules[module]} and {name} are the same module.")
    return modules


def _split(name: str) -> tuple[str, str]:
    found = split_module(name)
    if found is None:
        raise _image(name)
    return found


def _keys(module: str, parts: Mapping[str, str]) -> LoneKeys:
    for part in ("a", "b"):
        if part not in parts:
            raise FormatError("PAIR", f"{module} has no factor {part.upper()}.")
    if "alpha" not in parts:
        raise no_strength()
    return LoneKeys(module, parts["a"], parts["b"], parts["alpha"])


def no_strength() -> FormatError:
    """The refusal of factors that nothing says the strength of."""
    return FormatError(
        "CONFIG",
        "There are weights, but no adapter_config.json beside them and no alpha among them. "
        "Without it nobody can know how strongly they were meant to be applied.",
    )


def _no_factors(names: list[str]) -> FormatError:
    if not names:
        return FormatError("PAIR", "The file has no weights.")
    return FormatError(
        "PAIR",
        "There are weights but no LoRA factors here: this is a model or a part of one. A base "
        "comes as a GGUF file.",
    )


def _image(module: str) -> UnsupportedAdapter:
    return UnsupportedAdapter(
        f"This adapts {module[:120]!r}, which is no module of a language model that is known "
        "here. LoRAs for image models cannot be applied."
    )


def _several(prefixes: list[str]) -> UnsupportedAdapter:
    listed = ", ".join(repr(prefix[:40]) for prefix in prefixes[:6])
    return UnsupportedAdapter(f"This file adapts several models at once ({listed}).")
