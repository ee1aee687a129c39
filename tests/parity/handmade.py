"""Models whose code is on the hub alone: their config, and random weights by name and shape.

There is nothing to run them with but llama.cpp, so their adapters are compared with the
converter's tensors and not by their logits.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file

from tests.parity.adapters import ALPHA, RANK
from tests.parity.models import COMMON, HEAD, HEADS, HEADS_KV, INNER, LAYERS, VOCAB, WIDTH

QUERIES, KEYS = HEADS * HEAD, HEADS_KV * HEAD
EXPERTS, NARROW = 4, 48


@dataclass(frozen=True)
class HandMade:
    """`inner` has the (outputs, inputs) of each matrix of a layer, `outer` those outside that take
    a LoRA; `norms` the paths of vectors of the model's width in each layer."""

    config: Mapping[str, Any]
    layers: str
    inner: Mapping[str, tuple[int, int]]
    norms: tuple[str, ...]
    outer: Mapping[str, tuple[int, int]]
    embedding: str
    last_norm: str

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Every matrix that takes a LoRA, by its module path."""
        inner = {
            f"{self.layers}{layer}.{path}": shape
            for layer in range(LAYERS)
            for path, shape in self.inner.items()
        }
        return inner | dict(self.outer)

    def save(self, folder: Path) -> None:
        """Write `model/` and `adapter/`."""
        torch.manual_seed(0)
        (folder / "model").mkdir(parents=True)
        (folder / "adapter").mkdir()
        (folder / "model" / "config.json").write_text(json.dumps(COMMON | dict(self.config)))
        weights = {f"{path}.weight": torch.randn(shape) for path, shape in self.matrices().items()}
        norms = [f"{self.layers}{i}.{norm}" for i in range(LAYERS) for norm in self.norms]
        weights |= {f"{norm}.weight": torch.randn(WIDTH) for norm in (*norms, self.last_norm)}
        weights[f"{self.embedding}.weight"] = torch.randn(VOCAB, WIDTH)
        save_file(weights, folder / "model" / "model.safetensors")
        self._save_adapter(folder / "adapter")

    def _save_adapter(self, folder: Path) -> None:
        lora: dict[str, Any] = {}
        for path, (out, inside) in self.matrices().items():
            lora[f"base_model.model.{path}.lora_A.weight"] = torch.randn(RANK, inside)
            lora[f"base_model.model.{path}.lora_B.weight"] = torch.randn(out, RANK)
        save_file(lora, folder / "adapter_model.safetensors")
        names = sorted({path.rpartition(".")[2] for path in self.matrices()})
        config = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": names}
        (folder / "adapter_config.json").write_text(json.dumps(config))


_GATED: Final = {
    "gate_proj": (NARROW, WIDTH),
    "up_proj": (NARROW, WIDTH),
    "down_proj": (WIDTH, NARROW),
}

HANDMADE: Final[Mapping[str, HandMade]] = {
    "internlm2": HandMade(
        config={"architectures": ["InternLM2ForCausalLM"], "model_type": "internlm2x",
                "rms_norm_eps": 1e-5, "rope_theta": 1e4},
        layers="model.layers.",
        inner={
            "attention.wqkv": (QUERIES + 2 * KEYS, WIDTH),
            "attention.wo": (WIDTH, QUERIES),
            "feed_forward.w1": (INNER, WIDTH),
            "feed_forward.w3": (INNER, WIDTH),
            "feed_forward.w2": (WIDTH, INNER),
        },
        norms=("attention_norm", "ffn_norm"),
        outer={"output": (VOCAB, WIDTH)},
        embedding="model.tok_embeddings",
        last_norm="model.norm",
    ),
    "exaone": HandMade(
        config={"architectures": ["ExaoneForCausalLM"], "model_type": "exaonex",
                "layer_norm_epsilon": 1e-5, "activation_function": "silu", "rope_theta": 1e4},
        layers="transformer.h.",
        inner={
            "attn.attention.q_proj": (QUERIES, WIDTH),
            "attn.attention.k_proj": (KEYS, WIDTH),
            "attn.attention.v_proj": (KEYS, WIDTH),
            "attn.attention.out_proj": (WIDTH, QUERIES),
            "mlp.c_fc_0": (INNER, WIDTH),
            "mlp.c_fc_1": (INNER, WIDTH),
            "mlp.c_proj": (WIDTH, INNER),
        },
        norms=("ln_1", "ln_2"),
        outer={"lm_head": (VOCAB, WIDTH)},
        embedding="transformer.wte",
        last_norm="transformer.ln_f",
    ),
    "deepseek": HandMade(
        config={"architectures": ["DeepseekForCausalLM"], "model_type": "deepseekx",
                "rms_norm_eps": 1e-5, "rope_theta": 1e4, "n_routed_experts": EXPERTS,
                "n_shared_experts": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 0,
                "moe_intermediate_size": NARROW},
        layers="model.layers.",
        inner={
            "self_attn.q_proj": (QUERIES, WIDTH),
            "self_attn.k_proj": (KEYS, WIDTH),
            "self_attn.v_proj": (KEYS, WIDTH),
            "self_attn.o_proj": (WIDTH, QUERIES),
            "mlp.gate": (EXPERTS, WIDTH),
            **{f"mlp.shared_experts.{name}": shape for name, shape in _GATED.items()},
            **{
                f"mlp.experts.{expert}.{name}": shape
                for expert in range(EXPERTS)
                for name, shape in _GATED.items()
            },
        },
        norms=("input_layernorm", "post_attention_layernorm"),
        outer={"lm_head": (VOCAB, WIDTH)},
        embedding="model.embed_tokens",
        last_norm="model.norm",
    ),
}  # fmt: skip
