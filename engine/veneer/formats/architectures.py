"""The architectures whose adapters can be placed: one small entry each.

A table, because a wrong guess here applies an adapter to the wrong rows and nothing complains.
An entry says where the model keeps its layers, which of its modules take a LoRA in llama.cpp's
graph, and what the converter did to their rows. The GGUF names come from gguf's own map. Every
entry is compared with llama.cpp's converter and with PEFT in tests/parity.

Adding an architecture is adding an entry, and a tiny model of it there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from veneer.formats.rows import RowOrder

EXPERT: Final = "experts.*."
"""Where a module path has the number of an expert."""


@dataclass(frozen=True)
class Module:
    """What one module of the model is in a GGUF.

    `blocks` are the GGUF roles of its blocks of rows, where it has more than one; otherwise
    gguf's map has the one name. `deaf` modules are multiplied by llama.cpp without a look at
    its adapters, so that a LoRA on them would be dropped without a word.
    """

    rows: RowOrder = "same"
    blocks: tuple[str, ...] = ()
    deaf: bool = False


@dataclass(frozen=True)
class Architecture:
    """`layers` is the module path before the layer number, `aliases` what else it may be in
    models with more than text; `inner` are the modules of a layer by their path after the
    number, `outer` those outside the layers."""

    inner: Mapping[str, Module]
    outer: Mapping[str, Module]
    layers: str = "model.layers."
    aliases: tuple[str, ...] = ()

    @property
    def packs_gate(self) -> bool:
        """Whether a GGUF may keep the gate's rows in ffn_up, before its own."""
        return any(module.blocks == _GATE_UP for module in self.inner.values())


def _plain(*paths: str) -> dict[str, Module]:
    return {path: Module() for path in paths}


def _experts(prefix: str, paths: Iterable[str]) -> dict[str, Module]:
    """Experts as modules of their own, and as the two parameters that hold them all."""
    return _plain(*(f"{prefix}{EXPERT}{path}" for path in paths)) | {
        "mlp.experts.gate_up_proj": Module(blocks=_GATE_UP_EXPERTS),
        "mlp.experts.down_proj": Module(blocks=("ffn_down_exps",)),
    }


_GATE_UP_EXPERTS: Final = ("ffn_gate_exps", "ffn_up_exps")
_SEE_AND_SAY: Final = ("model.language_model.layers.", "language_model.model.layers.")
_QKV: Final = ("attn_q", "attn_k", "attn_v")
_GATE_UP: Final = ("ffn_gate", "ffn_up")

_OUTER: Final = _plain("model.embed_tokens", "lm_head")
_ATTENTION: Final = _plain(*(f"self_attn.{name}_proj" for name in "qkvo"))
_ROTATED: Final = _ATTENTION | {
    "self_attn.q_proj": Module("rope_q"),
    "self_attn.k_proj": Module("rope_k"),
}
_SIDES: Final = ("gate_proj", "up_proj", "down_proj")
_GATED: Final = _plain(*(f"mlp.{side}" for side in _SIDES))
_MIXTURE: Final = _plain("mlp.gate") | _experts("mlp.", _SIDES)
_MIXTRAL: Final = _plain("block_sparse_moe.gate") | _experts(
    "block_sparse_moe.", ("w1", "w2", "w3")
)
_NEOX: Final = {
    "attention.query_key_value": Module("grouped", _QKV),
    **_plain("attention.dense", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"),
}
_FALCON: Final = {
    "self_attention.query_key_value": Module("grouped", _QKV),
    **_plain("self_attention.dense", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"),
}
_LATENT: Final = {
    f"self_attn.{name}": Module(deaf=True)
    for name in ("q_proj", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj")
} | _plain("self_attn.o_proj")
_SHARED: Final = _plain(*(f"mlp.shared_experts.{side}" for side in _SIDES))

_LLAMA: Final = Architecture(inner=_ROTATED | _GATED, outer=_OUTER)
_QWEN: Final = Architecture(inner=_ATTENTION | _GATED, outer=_OUTER)
_TIED: Final = replace(_QWEN, outer=_plain("model.embed_tokens"))
_BLOOM: Final = Architecture(
    layers="transformer.h.",
    inner=_FALCON,
    outer=_plain("transformer.word_embeddings", "lm_head"),
)

ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    # Llama, Mistral, Mixtral, SmolLM2 and others that were converted under this name.
    "llama": replace(_LLAMA, inner=_ROTATED | _GATED | _MIXTRAL),
    "smollm3": _LLAMA,
    "granite": _LLAMA,
    "olmo": _LLAMA,
    "arcee": Architecture(inner=_ROTATED | _plain("mlp.up_proj", "mlp.down_proj"), outer=_OUTER),
    "deepseek": Architecture(inner=_ROTATED | _GATED | _MIXTURE | _SHARED, outer=_OUTER),
    "qwen2": _QWEN,
    "qwen3": _QWEN,
    "gemma": _TIED,
    "gemma2": _TIED,
    "gemma3": replace(_QWEN, aliases=_SEE_AND_SAY),
    "olmo2": _QWEN,
    "stablelm": _QWEN,
    "command-r": _TIED,
    "cohere2": _TIED,
    "exaone4": _QWEN,
    "seed_oss": _QWEN,
    "qwen2moe": Architecture(
        inner=_ATTENTION
        | _MIXTURE
        | _plain(*(f"mlp.shared_expert.{side}" for side in _SIDES), "mlp.shared_expert_gate"),
        outer=_OUTER,
    ),
    "qwen3moe": Architecture(inner=_ATTENTION | _MIXTURE, outer=_OUTER),
    "olmoe": Architecture(inner=_ATTENTION | _MIXTURE, outer=_OUTER),
    "phi2": Architecture(
        inner=_plain(*(f"self_attn.{name}_proj" for name in "qkv"))
        | _plain("self_attn.dense", "mlp.fc1", "mlp.fc2"),
        outer=_OUTER,
    ),
    "phi3": Architecture(
        inner={
            "self_attn.qkv_proj": Module(blocks=_QKV),
            "mlp.gate_up_proj": Module(blocks=_GATE_UP),
            **_plain("self_attn.o_proj", "mlp.down_proj"),
        },
        outer=_OUTER,
    ),
    # GLM-4V is converted under this name with other rows; its longer paths have no alias here.
    "glm4": Architecture(
        inner=_ATTENTION | {"mlp.gate_up_proj": Module(blocks=_GATE_UP), **_plain("mlp.down_proj")},
        outer=_OUTER,
    ),
    "starcoder2": Architecture(inner=_ATTENTION | _plain("mlp.c_fc", "mlp.c_proj"), outer=_OUTER),
    "gptneox": Architecture(
        layers="gpt_neox.layers.",
        inner=_NEOX,
        outer=_plain("gpt_neox.embed_in", "embed_out", "lm_head"),
    ),
    "falcon": _BLOOM,
    "bloom": _BLOOM,
    "gpt2": Architecture(
        layers="transformer.h.",
        inner={
            "attn.c_attn": Module(blocks=_QKV),
            **_plain("attn.c_proj", "mlp.c_fc", "mlp.c_proj"),
        },
        outer=_plain("transformer.wte", "lm_head"),
    ),
    "exaone": Architecture(
        layers="transformer.h.",
        inner=_plain(
            *(f"attn.attention.{name}_proj" for name in ("q", "k", "v", "out")),
            "mlp.c_fc_0",
            "mlp.c_fc_1",
            "mlp.c_proj",
        ),
        outer=_plain("transformer.wte", "lm_head"),
    ),
    "internlm2": Architecture(
        inner={
            "attention.wqkv": Module("grouped_rope", _QKV),
            **_plain("attention.wo", "feed_forward.w1", "feed_forward.w2", "feed_forward.w3"),
        },
        outer=_plain("model.tok_embeddings", "output"),
    ),
    "deepseek2": Architecture(
        inner=_LATENT | _GATED | _MIXTURE | _SHARED,
        outer={"model.embed_tokens": Module(), "lm_head": Module(deaf=True)},
    ),
}
