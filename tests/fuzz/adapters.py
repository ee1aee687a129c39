"""Edited adapters for the tiny models: GGUF LoRAs for all of them, PEFT folders for some."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import save

from tests.engine.adapters.tiny import Files
from tests.fuzz import edits
from tests.fuzz.models import NAMES, Model, Tensor, model, pack

RANK = 4
PEFT = ("llama", "qwen2", "qwen3", "gemma2", "olmo2", "mixtral", "phi3", "gptneox")
_LLAMA = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
          "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")  # fmt: skip
_ROLES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
FIELDS: dict[str, tuple[Any, ...]] = {
    "r": (0, 1, 3, 4, 5, 8, 65536, -1, 4.0, None, True),
    "lora_alpha": (0, -1, 8, 1e6, 1e7, float("nan"), None, "8", True),
    "use_rslora": (True, None, 1),
    "rank_pattern": ({"q_proj": 2}, {"(": 4}, {"a" * 500: 3}, [], {"q_proj": "4"}),
    "alpha_pattern": ({"q_proj": 2.5}, {".*": 3}, {"(a+)+$": 3}, None),
    "target_modules": (["q_proj"], ".*q_proj", "all-linear", [], None, [1], 3),
    "use_dora": (True,),
    "bias": ("all", "none", "lora_only", 5),
    "modules_to_save": (["lm_head"], [1], "x"),
    "peft_type": ("LORA", "LOHA", "IA3", "ADALORA", "VERA", "LOKR", "PROMPT_TUNING", 3, None),
    "fan_in_fan_out": (True,),
    "init_lora_weights": ("pissa", True, "gaussian"),
    "alora_invocation_tokens": ([1, 2], [1 << 40], "x"),
    "trainable_token_indices": ([1, 5], {"embed_tokens": [1, 400]}, [5, 5]),
    "base_model_name_or_path": ("x" * 5000, 3, None),
    "never_heard_of": (1, None),
}


def lora(name: str) -> Model:
    """A GGUF LoRA on every matrix inside the layers of a tiny model."""
    made = model(name)
    tensors: dict[str, Tensor] = {}
    for tensor, stored in made.tensors.items():
        if tensor.startswith("blk.") and len(stored.shape) >= 2:
            wide, rows, *more = stored.shape
            tensors[f"{tensor}.lora_a"] = Tensor((wide, RANK, *more))
            tensors[f"{tensor}.lora_b"] = Tensor((RANK, rows, *more))
    metadata = {
        "general.architecture": made.architecture,
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 8.0,
    }
    return Model(name, metadata, tensors)


def _rename(draw: Any, made: Model) -> Model:
    """Move a factor to another tensor, of this model or none."""
    if not made.tensors:
        return made
    tensors = dict(made.tensors)
    moved = tensors.pop(draw(st.sampled_from(sorted(tensors))))
    target = draw(st.sampled_from((*edits.TENSORS, *model(made.name).tensors)))
    tensors[f"{target}.lora_{draw(st.sampled_from('ab'))}"] = moved
    return replace(made, tensors=tensors)


def _alpha(draw: Any, made: Model) -> Model:
    return made.with_metadata(**{"adapter.lora.alpha": draw(edits.values())})


@st.composite
def gguf_loras(draw: Any) -> tuple[str, Files]:
    """The name of a tiny model, and an edited LoRA for it."""
    made = lora(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(0, 3))):
        made = draw(st.sampled_from((*edits.EDITS, _rename, _alpha)))(draw, made)
    return made.name, Files({"lora.gguf": pack(made)})


def _module_shapes(name: str) -> dict[str, tuple[int, int]]:
    """Module -> (out, in), for the modules that these models store one by one."""
    shapes = {}
    for layer in range(2):
        for path, role in zip(_LLAMA, _ROLES, strict=True):
            tensor = model(name).tensors.get(f"blk.{layer}.{role}.weight")
            if tensor is not None and len(tensor.shape) == 2:
                shapes[f"model.layers.{layer}.{path}"] = (tensor.shape[1], tensor.shape[0])
    return shapes or {"gpt_neox.layers.0.attention.dense": (64, 64)}


@st.composite
def peft_folders(draw: Any) -> tuple[str, Files]:
    """The name of a tiny model, and an edited PEFT adapter for it."""
    name = draw(st.sampled_from(PEFT))
    rng = np.random.default_rng(1)
    arrays: dict[str, np.ndarray] = {}
    for module, (out, wide) in _module_shapes(name).items():
        for side, shape in (("A", (RANK, wide)), ("B", (out, RANK))):
            key = f"base_model.model.{module}.lora_{side}.weight"
            arrays[key] = rng.standard_normal(shape).astype(np.float32)
    config: dict[str, Any] = {"peft_type": "LORA", "r": RANK, "lora_alpha": 8, "bias": "none"}
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            field = draw(st.sampled_from(sorted(FIELDS)))
            config[field] = draw(st.sampled_from(FIELDS[field]))
        elif arrays:
            _edit_array(draw, arrays)
    return name, Files(
        {
            "adapter_config.json": json.dumps(config).encode(),
            "adapter_model.safetensors": save(arrays),
        }
    )


def _edit_array(draw: Any, arrays: dict[str, np.ndarray]) -> None:
    name = draw(st.sampled_from(sorted(arrays)))
    array = arrays.pop(name)
    match draw(st.sampled_from(("drop", "rename", "cut", "turn", "type", "odd", "raise"))):
        case "rename":
            new = draw(st.sampled_from((
                name.replace("lora_A", "lora_B"), name.replace(".0.", ".1."),
                name.replace("q_proj", "k_proj"), name.replace(".weight", ""),
                name.replace("self_attn", "mlp"), "base_model.model.lm_head.lora_A.weight",
                "base_model.model.model.embed_tokens.lora_embedding_A", name.replace(".0.", ".9."),
                name.replace(".lora_A.weight", ".lora_magnitude_vector"), "x", name + ".weight",
            )))  # fmt: skip
            arrays[new] = array
        case "cut":
            arrays[name] = np.ascontiguousarray(array[: draw(st.sampled_from((1, 2, 3)))])
        case "turn":
            arrays[name] = np.ascontiguousarray(array.T)
        case "type":
            kinds = (np.float16, np.float64, np.int32, np.uint8, np.bool_)
            arrays[name] = array.astype(draw(st.sampled_from(kinds)))
        case "odd":
            array = array.copy()
            array.flat[0] = draw(st.sampled_from((np.nan, np.inf, 3e38, 0.0)))
            arrays[name] = array
        case "raise":
            arrays[name] = array[None]
        case _:
            pass
