"""Random PEFT adapters on the tiny models, and the same change made to the models themselves."""

import json
import warnings
from pathlib import Path
from typing import Any

import peft
import torch
from safetensors.torch import load_file, save_file

from tests.parity.models import VOCAB, Tiny

RANK, ALPHA = 4, 6
SCALING = ALPHA / RANK


def linear_names(model: Any, untouched: tuple[str, ...]) -> list[str]:
    """The paths of everything that gets a LoRA. Whole paths, since PEFT takes a short name that
    fits an expert for all the experts together."""
    linear = {
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D"
    }
    return sorted(name for name in linear if name.rpartition(".")[2] not in untouched)


def save_adapter(tiny: Tiny, folder: Path) -> None:
    """Write `model/` and `adapter/`, a random LoRA on all its linear modules and experts."""
    model = tiny.model()
    model.save_pretrained(folder / "model")
    _add_to(folder / "model" / "config.json", tiny.extra)
    # Gemma's conversion counts the tokens there.
    tokens = {"added_tokens": [], "model": {"vocab": {f"t{i}": i for i in range(VOCAB)}}}
    (folder / "model" / "tokenizer.json").write_text(json.dumps(tokens))
    with warnings.catch_warnings(action="ignore"):
        _with_lora(tiny, model).save_pretrained(folder / "adapter", save_embedding_layers=False)
    if tiny.experts is not None:
        _add_experts(tiny, model, folder / "adapter")


def adapted(tiny: Tiny, folder: Path) -> Any:
    """The tiny model with its adapter, by PEFT and, for the experts, by adding up."""
    model = tiny.model()
    weights = load_file(folder / "adapter" / "adapter_model.safetensors")
    for name, parameter in model.named_parameters():
        if parameter.dim() == 3 and tiny.experts is not None:
            _add_deltas(tiny, name, parameter, weights)
    with warnings.catch_warnings(action="ignore"):
        made = _with_lora(tiny, model)
        own = {key: value for key, value in weights.items() if ".experts." not in key}
        unused = peft.set_peft_model_state_dict(made, own).unexpected_keys
    assert not unused
    return made.eval()


def _with_lora(tiny: Tiny, model: Any) -> Any:
    names = linear_names(model, tiny.untouched)
    config = peft.LoraConfig(
        r=RANK, lora_alpha=ALPHA, target_modules=names, init_lora_weights=False
    )
    return peft.get_peft_model(model, config)


def _add_to(path: Path, more: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | dict(more)))


def _add_experts(tiny: Tiny, model: Any, folder: Path) -> None:
    weights = load_file(folder / "adapter_model.safetensors")
    for name, parameter in model.named_parameters():
        if parameter.dim() == 3:
            for key, (out, inside) in _expert_shapes(tiny, name, parameter).items():
                weights[f"{key}.lora_A.weight"] = torch.randn(RANK, inside)
                weights[f"{key}.lora_B.weight"] = torch.randn(out, RANK) * 0.1
    save_file(weights, folder / "adapter_model.safetensors")
    path = folder / "adapter_config.json"
    config = json.loads(path.read_text())
    assert tiny.experts is not None
    last = {template.rpartition(".")[2] for template in tiny.experts}
    _add_to(path, {"target_modules": sorted({*config["target_modules"], *last})})


def _expert_shapes(tiny: Tiny, name: str, parameter: Any) -> dict[str, tuple[int, int]]:
    """The LoRA keys of the matrices that a stack of experts holds, with their sides."""
    gate, up, down = _templates(tiny, name)
    experts, out, inside = parameter.shape
    found: dict[str, tuple[int, int]] = {}
    for expert in range(experts):
        if name.endswith("gate_up_proj"):
            found[gate.format(expert=expert)] = (out // 2, inside)
            found[up.format(expert=expert)] = (out // 2, inside)
        else:
            found[down.format(expert=expert)] = (out, inside)
    return found


def _templates(tiny: Tiny, name: str) -> tuple[str, str, str]:
    assert tiny.experts is not None
    layer = name.split("layers.")[1].split(".")[0]
    gate, up, down = (
        "base_model.model." + template.replace("{layer}", layer) for template in tiny.experts
    )
    return gate, up, down


def _add_deltas(tiny: Tiny, name: str, parameter: Any, weights: dict[str, Any]) -> None:
    gate, up, down = _templates(tiny, name)
    with torch.no_grad():
        for expert in range(len(parameter)):
            keys = [gate, up] if name.endswith("gate_up_proj") else [down]
            deltas = [_delta(key.format(expert=expert), weights) for key in keys]
            parameter[expert] += torch.cat(deltas)


def _delta(key: str, weights: dict[str, Any]) -> Any:
    return SCALING * weights[f"{key}.lora_B.weight"] @ weights[f"{key}.lora_A.weight"]


def save_parameters(tiny: Tiny, folder: Path) -> Any:
    """Write `parameters/`, a random LoRA on the parameters that hold the experts; the model."""
    config = peft.LoraConfig(
        r=RANK,
        lora_alpha=ALPHA,
        target_modules=["q_proj"],
        target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
        rank_pattern={"experts.down_proj": RANK + 1},
        init_lora_weights=False,
    )
    with warnings.catch_warnings(action="ignore"):
        made = peft.get_peft_model(tiny.model(), config)
        made.save_pretrained(folder / "parameters")
    return made.eval()
