"""PEFT's kinds beside LoRA that can be read: which fields of their configs mean something.

As for LoRA, a field that is overlooked changes what an adapter does without a trace; so every
field that is neither read here nor without effect must be off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import peft_values as values

OFF: Final[tuple[Any, ...]] = (None, False, [], {}, "", "none")


@dataclass(frozen=True)
class PeftKind:
    """`read` are the fields that are looked at, `idle` those that cannot matter after training."""

    read: frozenset[str]
    idle: frozenset[str]


_ALWAYS_READ: Final = frozenset({"peft_type", "base_model_name_or_path", "revision", "task_type"})
_ALWAYS_IDLE: Final = frozenset({"auto_mapping", "inference_mode", "peft_version"})
_PROMPT: Final = PeftKind(
    _ALWAYS_READ | {"num_virtual_tokens", "num_transformer_submodules"},
    _ALWAYS_IDLE
    | {
        # How the vectors came about, and sizes that the vectors have themselves.
        *("prompt_tuning_init", "prompt_tuning_init_text", "tokenizer_name_or_path"),
        *("tokenizer_kwargs", "encoder_hidden_size", "prefix_projection"),
        *("num_attention_heads", "num_layers", "token_dim"),
    },
)
KINDS: Final[Mapping[str, PeftKind]] = {
    "IA3": PeftKind(
        _ALWAYS_READ | {"target_modules", "feedforward_modules"},
        _ALWAYS_IDLE | {"exclude_modules", "fan_in_fan_out", "init_ia3_weights"},
    ),
    "LOHA": PeftKind(
        _ALWAYS_READ | {"r", "alpha", "target_modules"},
        _ALWAYS_IDLE
        | {
            *("exclude_modules", "init_weights", "layers_pattern", "layers_to_transform"),
            *("module_dropout", "rank_dropout"),
        },
    ),
    "LOKR": PeftKind(
        _ALWAYS_READ | {"r", "alpha", "target_modules"},
        _ALWAYS_IDLE
        | {
            *("exclude_modules", "init_weights", "layers_pattern", "layers_to_transform"),
            *("module_dropout", "rank_dropout", "rank_dropout_scale"),
            # Which of the two factors is a product itself is seen from the tensors.
            *("decompose_both", "decompose_factor"),
        },
    ),
    "VERA": PeftKind(
        _ALWAYS_READ | {"r", "save_projection", "target_modules"},
        _ALWAYS_IDLE
        | {
            *("d_initial", "fan_in_fan_out", "init_weights", "layers_pattern"),
            *("layers_to_transform", "projection_prng_key", "vera_dropout"),
        },
    ),
    "ADALORA": PeftKind(
        _ALWAYS_READ | {"init_r", "lora_alpha", "rank_pattern", "target_modules"},
        _ALWAYS_IDLE
        | {
            # How the budget of ranks was shared out; `r` is that of plain LoRA, which is not read.
            *("beta1", "beta2", "deltaT", "orth_reg_weight", "r", "target_r", "tfinal", "tinit"),
            *("total_step", "exclude_modules", "fan_in_fan_out", "init_lora_weights"),
            *("layers_pattern", "layers_to_transform", "lora_dropout", "megatron_core"),
            "qalora_group_size",
        },
    ),
    "TRAINABLE_TOKENS": PeftKind(
        _ALWAYS_READ | {"token_indices", "target_modules"}, _ALWAYS_IDLE | {"init_weights"}
    ),
    "PROMPT_TUNING": _PROMPT,
    "PREFIX_TUNING": _PROMPT,
}


def check_fields(table: Mapping[str, Any]) -> None:
    """Refuse a config of one of these kinds that asks for more. Raises `UnsupportedAdapter`."""
    kind = KINDS[table["peft_type"]]
    for field, value in table.items():
        if field not in kind.read | kind.idle and value not in OFF:
            message = f"{values.FILE} sets {field[:80]!r}, which this Veneer does not know."
            raise UnsupportedAdapter(message)
    if table.get("task_type") not in (None, "", "CAUSAL_LM"):
        raise UnsupportedAdapter(
            "This adapter cannot be applied exactly: it was not made to generate text (task_type)."
        )
    if table.get("num_transformer_submodules") not in (None, 1):
        raise FormatError("CONFIG", f"{values.FILE} is for a model of two parts.")
