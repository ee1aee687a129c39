"""What the overlay lane runs, on the demo base in F32, against transformers with PEFT.

Each kind is a real adapter that PEFT saved; stacks are PEFT's own, by `set_adapter`, where PEFT
adds up as Veneer does, and otherwise the weights themselves, changed one after the other.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import peft
import pytest
import torch
from safetensors.numpy import save_file

from tests.parity.conftest import Report
from tests.parity.test_demo_base import ALL, TOLERANCE, dequantized
from veneer import Workspace
from veneer.activation import running

pytestmark = pytest.mark.parity
TEXT = "The lighthouse keeper counted the ships, wrote their names in a book, and "
LENGTHS = (5, 60, 300)


@dataclass(frozen=True)
class Kind:
    """PEFT's config, and what it is run at. `size` scales the random numbers that are trained."""

    config: Callable[[], Any]
    strength: float = 1.0
    size: float = 1.0


def lora(**options: Any) -> Callable[[], Any]:
    wanted = {"r": 8, "lora_alpha": 8, "target_modules": ALL, "init_lora_weights": False}
    return lambda: peft.LoraConfig(**wanted | options)


KINDS: dict[str, Kind] = {
    "lora": Kind(lora()),
    "rslora, strength -1.5": Kind(lora(use_rslora=True), -1.5, 0.5),
    "patterns": Kind(
        lora(rank_pattern={"q_proj": 12}, alpha_pattern={r"layers\.[0-4]\..*down_proj": 3})
    ),
    "dora": Kind(lora(use_dora=True)),
    "dora, strength -0.5": Kind(lora(use_dora=True), -0.5),
    "lora_bias": Kind(lora(lora_bias=True, init_lora_weights=True)),
    "lm_head": Kind(lora(target_modules=["q_proj", "lm_head"])),
    "embed_tokens": Kind(lora(target_modules=["q_proj", "embed_tokens"])),
    "lm_head and embed_tokens": Kind(lora(target_modules=["lm_head", "embed_tokens"])),
    "modules_to_save head": Kind(lora(modules_to_save=["lm_head"])),
    "modules_to_save norms": Kind(lora(modules_to_save=["norm", "input_layernorm"])),
    "ia3": Kind(
        lambda: peft.IA3Config(
            target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"]
        )
    ),
    "tokens": Kind(lambda: peft.TrainableTokensConfig(token_indices=[28, 198, 260, 338, 3000])),
    "tokens beside": Kind(lora(trainable_token_indices=[28, 198, 260, 338])),
}
STACKS: dict[str, tuple[tuple[str, float], ...]] = {
    "two": (("lora", 1.0), ("rslora, strength -1.5", -0.6)),
    "three": (("lora", 1.0), ("patterns", -1.0), ("lm_head and embed_tokens", 0.7)),
}


def shaken(made: Any, size: float) -> None:
    """Random numbers for all that PEFT would train, of a size that shows and does not explode."""
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if not parameter.requires_grad:
                continue
            noise = torch.randn_like(parameter) * size
            if "lora_A" in name or "lora_B" in name or "lora_embedding" in name:
                parameter.copy_(noise * 0.05)
            elif "trainable_tokens" in name:
                parameter.copy_(noise * 0.1)
            else:
                parameter.mul_(1 + 0.1 * noise)


def save(model: Any, kind: Kind, folder: Path) -> None:
    torch.manual_seed(len(str(folder.name)))
    with warnings.catch_warnings(action="ignore"):
        # PEFT leaves what it has saved of a module in the model that it is taken off from.
        made = peft.get_peft_model(deepcopy(model), kind.config())
        shaken(made, kind.size)
        made.save_pretrained(folder, save_embedding_layers=False)


def peft_logits(model: Any, layers: list[tuple[Path, float]], prompts: list[list[int]]) -> Any:
    """The last position's logits of each prompt under a stack of saved adapters."""
    names = [f"layer{number}" for number in range(len(layers))]
    with warnings.catch_warnings(action="ignore"):
        made = peft.PeftModel.from_pretrained(
            deepcopy(model), str(layers[0][0]), adapter_name=names[0]
        )
        for name, (folder, _) in zip(names[1:], layers[1:], strict=True):
            made.load_adapter(str(folder), adapter_name=name)
        made.base_model.set_adapter(names if len(names) > 1 else names[0])
    for module in made.eval().modules():
        if isinstance(module, peft.tuners.lora.LoraLayer):
            for name, (_, strength) in zip(names, layers, strict=True):
                if name in module.scaling:
                    module.scaling[name] *= strength
    with torch.no_grad():
        return [made(torch.tensor([ids])).logits[0, -1].numpy() for ids in prompts]


@pytest.fixture(scope="module")
def workspace(base_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("overlay")
    dequantized(base_path, folder / "smol-f32.gguf")
    with Workspace.open(folder / "ws") as opened:
        opened.change_settings(
            msgspec.structs.replace(opened.settings, n_ctx=512, type_kv="f32", lane="overlay")
        )
        opened.import_path(folder / "smol-f32.gguf", name="smol")
        opened.activate("smol")
        yield opened


@pytest.fixture(scope="module")
def prompts(workspace: Workspace) -> list[list[int]]:
    ids = list(workspace.tokenize(TEXT * 20))
    return [ids[:length] for length in LENGTHS]


@pytest.fixture(scope="module")
def saved(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("adapters")

    def folder(name: str) -> Path:
        path = root / name.replace(" ", "-").replace(",", "")
        if not path.exists():
            save(model, KINDS[name], path)
        return path

    return folder


def run(workspace: Workspace, folders: list[tuple[Path, float]], prompts: list[list[int]]) -> Any:
    names = []
    for folder, strength in folders:
        name = workspace.import_path(folder).value.name
        names.append((name, strength))
    workspace.compose("smol", names, name="stack")
    workspace.activate("stack", confirm_base=True)
    return [workspace.logits(tuple(ids)) for ids in prompts]


def compare(report: Report, what: str, found: Any, wanted: Any, plain: Any) -> None:
    each = [float(np.abs(f - w).max()) for f, w in zip(found, wanted, strict=True)]
    difference = max(each)
    report.add("SmolLM2-135M F32, overlay", what, difference)
    for one, other in zip(wanted, plain, strict=True):
        assert np.abs(one - other).max() > 10 * TOLERANCE
    assert difference < TOLERANCE


@pytest.fixture(scope="module")
def plain(model: Any, prompts: list[list[int]]) -> Any:
    with torch.no_grad():
        return [model(torch.tensor([ids])).logits[0, -1].numpy() for ids in prompts]


def test_the_base_alone(workspace: Workspace, prompts: list[list[int]], plain: Any, report: Report):
    found = run(workspace, [], prompts)
    difference = max(float(np.abs(f - p).max()) for f, p in zip(found, plain, strict=True))
    report.add("SmolLM2-135M F32, overlay", "the base alone", difference)
    assert difference < TOLERANCE


@pytest.fixture
def agrees(
    workspace: Workspace, model: Any, prompts: list[list[int]], plain: Any, report: Report
) -> Callable[[str, list[tuple[Path, float]]], None]:
    """Runs saved adapters at strengths in the overlay and under PEFT, and compares them."""

    def check(what: str, layers: list[tuple[Path, float]]) -> None:
        wanted = peft_logits(model, layers, prompts)
        compare(report, what, run(workspace, layers, prompts), wanted, plain)

    return check


@pytest.mark.parametrize("name", KINDS)
def test_a_kind(name: str, saved: Callable[[str], Path], agrees: Callable[..., None]):
    agrees(name, [(saved(name), KINDS[name].strength)])


@pytest.mark.parametrize(
    "name", ["lora", "dora", "ia3", "lm_head and embed_tokens", "modules_to_save norms"]
)
def test_a_prompt_in_batches_of_seven(
    name: str,
    workspace: Workspace,
    saved: Callable[[str], Path],
    agrees: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
):
    context_of = running.context_of
    monkeypatch.setattr(
        running, "context_of", lambda chosen: msgspec.structs.replace(context_of(chosen), n_batch=7)
    )
    agrees(f"{name}, batches of 7", [(saved(name), KINDS[name].strength)])
    plan = workspace._running.plan
    assert plan is not None
    assert plan.context.n_batch == 7


@pytest.mark.parametrize("name", STACKS)
def test_a_stack(name: str, saved: Callable[[str], Path], agrees: Callable[..., None]):
    agrees(f"stack of {name}", [(saved(kind), strength) for kind, strength in STACKS[name]])


def test_a_sparse_delta(
    workspace: Workspace, model: Any, prompts: list[list[int]], plain: Any, tmp_path: Path,
    report: Report,
):  # fmt: skip
    rng = np.random.default_rng(5)
    modules = [f"model.layers.{layer}.self_attn.{name}_proj" for layer in (0, 9) for name in "qkv"]
    modules += [f"model.layers.{layer}.mlp.down_proj" for layer in range(30)]
    arrays, shapes, deltas = {}, {}, {}
    for module in modules:
        shape = tuple(model.get_submodule(module).weight.shape)
        delta = np.where(rng.random(shape) < 0.01, rng.standard_normal(shape) * 0.2, 0)
        deltas[module] = torch.tensor(delta.astype(np.float32))
        indices = np.ascontiguousarray(np.argwhere(delta), np.int32)
        arrays[f"{module}.indices"] = indices
        arrays[f"{module}.values"] = delta[tuple(indices.T)].astype(np.float32)
        shapes[module] = shape
    metadata = {"format": "veneer.sparse_delta", "version": "1", "shapes": json.dumps(shapes)}
    save_file(arrays, tmp_path / "delta.safetensors", metadata=metadata)
    with torch.no_grad():
        for module, delta in deltas.items():
            model.get_submodule(module).weight.add_(delta)
        wanted = [model(torch.tensor([ids])).logits[0, -1].numpy() for ids in prompts]
        for module, delta in deltas.items():
            model.get_submodule(module).weight.sub_(delta)
    found = run(workspace, [(tmp_path / "delta.safetensors", 1.0)], prompts)
    compare(report, "sparse delta", found, wanted, plain)
