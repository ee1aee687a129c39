"""Which module of a language model a name means, where the dots were lost or a prefix put before.

Trainers of the image world write `lora_te_model_layers_0_self_attn_q_proj` and
`text_encoder.model.layers.0.self_attn.q_proj`. A name is understood only if what is left of it is
a module in the table of `architectures`, and only one; nothing is guessed.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from veneer.formats.architectures import ARCHITECTURES, EXPERT, Architecture

# `transformer.` is a prefix to diffusers and a module to GPT-2, so a shorter one is tried as well.
_PREFIXES: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?:base_model\.model\.)?(?:transformer|text_encoder(?:_\d)?)\.",
        r"base_model\.model\.",
        r"(?:lora|lycoris)_(?:te\d?|unet|transformer)_",
        r"(?:lora|lycoris)_",
    )
)
_NUMBER: Final = re.compile(r"(?<![^._])(?:0|[1-9]\d{0,3})(?![^._])", re.ASCII)
_ANY_NUMBER: Final = "#"


def split_module(name: str) -> tuple[str, str] | None:
    """What stands before the module in `name`, and the module's path in Hugging Face's spelling.

    None if no language model of the table has such a module, or if it could be two.
    """
    matches = (pattern.match(name) for pattern in _PREFIXES)
    for prefix in ("", *(match[0] for match in matches if match)):
        found = _spelled(name.removeprefix(prefix))
        if found is not None:
            return prefix, found
    return None


def _spelled(path: str) -> str | None:
    numbers = _NUMBER.findall(path)
    templates = _templates().get(_NUMBER.sub(_ANY_NUMBER, path), ())
    spelled = {_filled(template, numbers) for template in templates} - {None}
    return spelled.pop() if len(spelled) == 1 else None


def _filled(template: str, numbers: list[str]) -> str | None:
    """The template with its open numbers replaced, unless a fixed one of it (as in `c_fc_0`)
    is another in the name."""
    given = iter(numbers)
    words: list[str] = []
    for word in re.split(r"([._])", template):
        if word == _ANY_NUMBER:
            words.append(next(given))
        elif word.isdigit() and next(given) != word:
            return None
        else:
            words.append(word)
    return "".join(words)


@cache
def _templates() -> dict[str, frozenset[str]]:
    """Every module, under its own spelling and the one without dots; numbers are left open."""
    found: dict[str, set[str]] = {}
    for entry in ARCHITECTURES.values():
        for template in _modules(entry):
            dotted = _NUMBER.sub(_ANY_NUMBER, template)
            for spelling in (dotted, dotted.replace(".", "_")):
                found.setdefault(spelling, set()).add(template)
    return {spelling: frozenset(templates) for spelling, templates in found.items()}


def _modules(entry: Architecture) -> Iterator[str]:
    yield from entry.outer
    for layers in (entry.layers, *entry.aliases):
        for path in entry.inner:
            yield f"{layers}{_ANY_NUMBER}.{path.replace(EXPERT, f'experts.{_ANY_NUMBER}.')}"
