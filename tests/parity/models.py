"""Tiny models with random weights, one for each architecture that adapters can be placed on.

Most are transformers' own classes. Three architectures have code on the hub alone; of those there
is a config and the names and shapes of the weights.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers as hf

WIDTH, INNER, VOCAB, LAYERS, HEADS, HEADS_KV, HEAD = 64, 96, 320, 2, 4, 2, 16

COMMON: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS_KV,
    "max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
EXPERTS: dict[str, Any] = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 48,
}


@dataclass(frozen=True)
class Tiny:
    """How to make one model, and what to adapt in it.

    `architecture` is GGUF's name for it; `converts` is false where llama.cpp's converter makes
    nonsense of its adapters, so that PEFT alone can tell what is right. `extra` goes into
    config.json, where the converter looks
    for what transformers has renamed. `untouched` linear modules get no LoRA. `experts` names the
    gate, up and down matrix of one expert, for a LoRA on each of them by hand.
    """

    architecture: str
    make: Callable[[], Any]
    extra: Mapping[str, Any] = field(default_factory=dict)
    untouched: tuple[str, ...] = ()
    experts: tuple[str, str, str] | None = None
    converts: bool = True

    def model(self) -> Any:
        """The model, float32, the same at every call."""
        torch.manual_seed(0)
        return _shaken(self.make())


def _causal(
    architecture: str,
    config: type,
    *,
    extra: Mapping[str, Any] | None = None,
    untouched: tuple[str, ...] = (),
    experts: tuple[str, str, str] | None = None,
    converts: bool = True,
    **options: Any,
) -> Tiny:
    def make() -> Any:
        return hf.AutoModelForCausalLM.from_config(config(**COMMON | options))

    return Tiny(architecture, make, extra or {}, untouched, experts, converts)


def _shaken(model: Any) -> Any:
    """Norms and biases start as ones and zeros, where a mistake would not show."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model.float().eval()


_APART: dict[str, Any] = {"tie_word_embeddings": False}
_TIED: dict[str, Any] = {"untouched": ("lm_head",)}
_PROJ = tuple(
    f"model.layers.{{layer}}.mlp.experts.{{expert}}.{n}_proj" for n in ("gate", "up", "down")
)
_W = tuple(
    f"model.layers.{{layer}}.block_sparse_moe.experts.{{expert}}.{n}" for n in ("w1", "w3", "w2")
)

TINY: dict[str, Tiny] = {
    "llama": _causal("llama", hf.LlamaConfig, **_APART),
    "mistral": _causal("llama", hf.MistralConfig, **_APART),
    "mixtral": _causal(
        "llama",
        hf.MixtralConfig,
        num_local_experts=4,
        num_experts_per_tok=2,
        experts=_W,
        untouched=("gate",),
        **_APART,
    ),
    "smollm3": _causal("smollm3", hf.SmolLM3Config, **_APART),
    "granite": _causal("granite", hf.GraniteConfig, attention_multiplier=0.25, **_APART),
    "olmo": _causal("olmo", hf.OlmoConfig, **_APART),
    "arcee": _causal("arcee", hf.ArceeConfig, **_APART),
    "qwen2": _causal("qwen2", hf.Qwen2Config, **_APART),
    "qwen3": _causal("qwen3", hf.Qwen3Config, head_dim=32, **_APART),
    "gemma": _causal("gemma", hf.GemmaConfig, head_dim=32, **_TIED),
    "gemma2": _causal("gemma2", hf.Gemma2Config, head_dim=32, query_pre_attn_scalar=32, **_TIED),
    "gemma3": _causal(
        "gemma3", hf.Gemma3TextConfig, head_dim=32, query_pre_attn_scalar=32, **_TIED
    ),
    "olmo2": _causal("olmo2", hf.Olmo2Config, **_APART),
    "stablelm": _causal("stablelm", hf.StableLmConfig, **_APART),
    "command-r": _causal("command-r", hf.CohereConfig, **_TIED),
    "cohere2": _causal("cohere2", hf.Cohere2Config, extra={"rotary_pct": 1.0}, **_TIED),
    "exaone4": _causal(
        "exaone4", hf.Exaone4Config, sliding_window=32, sliding_window_pattern=4, **_APART
    ),
    "seed_oss": _causal("seed_oss", hf.SeedOssConfig, head_dim=16, **_APART),
    "qwen2moe": _causal(
        "qwen2moe",
        hf.Qwen2MoeConfig,
        shared_expert_intermediate_size=40,
        experts=_PROJ,
        **EXPERTS,
        **_APART,
    ),
    "qwen3moe": _causal(
        "qwen3moe",
        hf.Qwen3MoeConfig,
        head_dim=16,
        norm_topk_prob=True,
        experts=_PROJ,
        **EXPERTS,
        **_APART,
    ),
    "olmoe": _causal(
        "olmoe", hf.OlmoeConfig, num_key_value_heads=HEADS, experts=_PROJ, **EXPERTS, **_APART
    ),
    "phi2": _causal(
        "phi2", hf.PhiConfig, num_key_value_heads=HEADS, intermediate_size=4 * WIDTH, **_APART
    ),
    "phi3": _causal("phi3", hf.Phi3Config, **_APART),
    "glm4": _causal("glm4", hf.Glm4Config, head_dim=16, **_APART),
    "starcoder2": _causal("starcoder2", hf.Starcoder2Config, **_APART),
    "gptneox": _causal("gptneox", hf.GPTNeoXConfig, extra={"rotary_pct": 0.25}, **_APART),
    "falcon": _causal(
        "falcon",
        hf.FalconConfig,
        num_kv_heads=2,
        new_decoder_architecture=True,
        alibi=False,
        ffn_hidden_size=4 * WIDTH,
        **_APART,
    ),
    "bloom": _causal("bloom", hf.BloomConfig, n_layer=LAYERS, n_head=HEADS, **_TIED),
    "gpt2": _causal(
        "gpt2",
        hf.GPT2Config,
        converts=False,
        extra={"n_ctx": 256},
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
        n_positions=256,
        **_TIED,
    ),
    "deepseek2": _causal(
        "deepseek2",
        hf.DeepseekV2Config,
        q_lora_rank=24,
        kv_lora_rank=32,
        qk_nope_head_dim=16,
        qk_rope_head_dim=8,
        v_head_dim=16,
        n_routed_experts=4,
        n_shared_experts=1,
        num_experts_per_tok=2,
        moe_intermediate_size=48,
        first_k_dense_replace=1,
        num_key_value_heads=HEADS,
        experts=_PROJ,
        untouched=(
            *("lm_head", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"),
            # PEFT would take these for all experts together.
            *("gate_proj", "up_proj", "down_proj"),
        ),
        **_APART,
    ),
}
