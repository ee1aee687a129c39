"""What a PEFT config says it trained beside the factors of a LoRA.

A tensor without its field, or the reverse, means that PEFT itself would not apply it as saved.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from veneer.errors import FormatError
from veneer.formats import peft_values as values
from veneer.formats.peft_keys import BesideKey

BESIDE_FIELDS: Final = frozenset(
    {"use_dora", "lora_bias", "bias", "modules_to_save", "trainable_token_indices"}
)
_EMBEDDING: Final = "embed_tokens"
_EMBEDDINGS: Final = ("embed_tokens", "lm_head")


@dataclass(frozen=True)
class Beside:
    """The fields about it. `tokens` has the ids of retrained tokens by the end of a module."""

    use_dora: bool
    lora_bias: bool
    biases: bool
    modules_to_save: tuple[str, ...]
    tokens: Mapping[str, tuple[int, ...]]

    def expects(self, key: BesideKey) -> bool:
        """Whether the config knows of this tensor. PEFT would drop it otherwise."""
        match key.operation:
            case "magnitude":
                return self.use_dora
            case "add_bias":
                return self.lora_bias
            case "rows":
                return self.tokens_of(key.module) != ()
            case "bias":
                return self.biases or self._saves(key.module)
            case "replace":
                # PEFT saves resized embeddings unasked.
                return self._saves(key.module) or _ends(key.module, _EMBEDDINGS)

    def tokens_of(self, module: str) -> tuple[int, ...]:
        """The retrained tokens of an embedding or head, in the order of the stored rows."""
        return next((ids for end, ids in self.tokens.items() if _ends(module, (end,))), ())

    def missing(self, found: Collection[tuple[str, str]]) -> str | None:
        """What the config lists and nothing among these (module, operation) is for."""
        kept = [module for module, op in found if op in ("bias", "replace")]
        for name in self.modules_to_save:
            if not any(_lies_in(module, name) for module in kept):
                return f"{name!r} (modules_to_save)"
        retrained = [module for module, op in found if op == "rows"]
        for end in self.tokens:
            if not any(_ends(module, (end,)) for module in retrained):
                return f"tokens of {end!r} (trainable_token_indices)"
        lacks_bias = self.lora_bias and not any(op == "add_bias" for _, op in found)
        return "biases (lora_bias)" if lacks_bias else None

    def _saves(self, module: str) -> bool:
        return any(_lies_in(module, name) for name in self.modules_to_save)


def read_beside(table: Mapping[str, Any]) -> Beside:
    """Read the fields. Raises `FormatError` CONFIG."""
    bias = table.get("bias") or "none"
    if bias not in ("none", "all", "lora_only"):
        raise FormatError("CONFIG", f"{values.FILE}: bias is {bias!r:.80}.")
    return Beside(
        use_dora=values.flag(table, "use_dora"),
        lora_bias=values.flag(table, "lora_bias"),
        biases=bias != "none",
        modules_to_save=values.names(table.get("modules_to_save") or [], "modules_to_save") or (),
        tokens=_tokens(table.get("trainable_token_indices")),
    )


def _tokens(value: Any) -> Mapping[str, tuple[int, ...]]:
    field = "trainable_token_indices"
    named = values.table({field: value}, field) if isinstance(value, dict) else {_EMBEDDING: value}
    return {name: values.numbers(ids, field) for name, ids in named.items() if ids}


def _lies_in(module: str, name: str) -> bool:
    """Whether PEFT saves the module under this name: it, or a block that it is in, ends so.

    "norm" means "input_layernorm" too.
    """
    parts = module.split(".")
    return any(".".join(parts[: n + 1]).endswith(name) for n in range(len(parts)))


def _ends(module: str, names: tuple[str, ...]) -> bool:
    return any(f".{module}".endswith(f".{name}") for name in names)
