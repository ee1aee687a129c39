"""The chat template that lies beside an adapter: how its trainer spoke to the model.

`chat_template.jinja` is where newer versions of transformers keep it, `tokenizer_config.json`
where older ones did, there with several by name if there are several. Only read, never rendered.
"""

from typing import BinaryIO, Final

import msgspec

TEMPLATE: Final = "chat_template.jinja"
CONFIG: Final = "tokenizer_config.json"
_TEMPLATE_MAX: Final = 64 << 10
_CONFIG_MAX: Final = 16 << 20


class _Named(msgspec.Struct):
    name: str
    template: str


class _Config(msgspec.Struct):
    chat_template: str | list[_Named] | None = None


def read_template(file: BinaryIO) -> str | None:
    """An open `chat_template.jinja`; None for one that is none, or larger than 64 KiB."""
    return _bounded(file.read(_TEMPLATE_MAX + 1).decode("utf-8", "replace"))


def read_config(file: BinaryIO) -> str | None:
    """The template in an open `tokenizer_config.json`; None if it has none."""
    raw = file.read(_CONFIG_MAX + 1)
    try:
        found = msgspec.json.decode(raw, type=_Config).chat_template
    except (msgspec.DecodeError, RecursionError):
        return None
    if isinstance(found, list):
        found = next((each.template for each in found if each.name == "default"), None)
    return _bounded(found or "")


def is_another(one: str, other: str) -> bool:
    """Whether two templates differ in more than their white space."""
    return one.split() != other.split()


def _bounded(template: str) -> str | None:
    return template if 0 < len(template) <= _TEMPLATE_MAX else None
