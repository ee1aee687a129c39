"""Kinds of PEFT beside LoRA, as PEFT itself saves them, on the tiny model of the llama family."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch

from tests.parity.conftest import Report
from tests.parity.models import TINY, VOCAB
from veneer import Workspace
from veneer.adapters.compat import CompatReport

pytestmark = pytest.mark.parity
IDS = tuple((7 * i + 3) % VOCAB for i in range(24))
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
PRODUCTS: dict[str, Any] = {
    "LoHa": peft.LoHaConfig(r=3, alpha=5, target_modules=LINEAR),
    "LoKr": peft.LoKrConfig(r=2, alpha=3, target_modules=LINEAR),
    "LoKr of products": peft.LoKrConfig(r=1, alpha=2, decompose_both=True, target_modules=LINEAR),
    "VeRA": peft.VeraConfig(r=4, target_modules=LINEAR),
    "AdaLoRA": peft.AdaLoraConfig(
        init_r=4, target_r=2, total_step=10, lora_alpha=6, target_modules=LINEAR
    ),
}
BEYOND_STOCK: dict[str, Any] = {
    "dora": peft.LoraConfig(r=4, target_modules=LINEAR, use_dora=True),
    "lora bias": peft.LoraConfig(r=4, target_modules=LINEAR, lora_bias=True),
    "modules_to_save": peft.LoraConfig(r=4, target_modules=LINEAR, modules_to_save=["lm_head"]),
    "tokens": peft.LoraConfig(r=4, target_modules=LINEAR, trainable_token_indices=[5, 9]),
    "ia3": peft.IA3Config(target_modules=LINEAR, feedforward_modules=["down_proj"]),
}
IN_NO_LANE: dict[str, Any] = {
    "alora": peft.LoraConfig(
        r=4, target_modules=LINEAR, alora_invocation_tokens=[3, 4], task_type="CAUSAL_LM"
    ),
    "prompt": peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
    "prefix": peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
}


def save(config: Any, folder: Path) -> tuple[Any, dict[str, Any]]:
    """The tiny model with a random adapter of this config, saved; and what was saved."""
    torch.manual_seed(2)
    with warnings.catch_warnings(action="ignore"):
        made = peft.get_peft_model(TINY["llama"].model(), config).eval()
        with torch.no_grad():
            for name, parameter in made.named_parameters():
                if parameter.requires_grad:
                    parameter.copy_(torch.randn_like(parameter) * 0.3)
                    assert name
        made.save_pretrained(folder, save_embedding_layers=False)
        return made, peft.get_peft_model_state_dict(made, save_embedding_layers=False)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_products_as_peft_runs_them(kind: str, converted: Path, tmp_path: Path, report: Report):
    made, _ = save(PRODUCTS[kind], tmp_path / "product")
    with torch.no_grad():
        wanted = made(torch.tensor([IDS])).logits[0, -1].numpy()
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(converted / "llama" / "base.gguf", name="base")
        workspace.import_path(tmp_path / "product", name="style")
        workspace.compose("base", [("style", 1.0)], name="stack")
        alone, found = (
            workspace.logits(IDS, "base"),
            workspace.logits(IDS, "stack", confirm_base=True),
        )
    difference = float(np.abs(found - wanted).max())
    report.add("llama", f"logits, {kind} on all linears", difference)
    assert np.abs(alone - wanted).max() > 0.3
    assert difference < 0.03


def imported(config: Any, converted: Path, tmp_path: Path) -> CompatReport:
    """The verdict on what PEFT saved, which is kept to the last number."""
    _, saved = save(config, tmp_path / "adapter")
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(converted / "llama" / "base.gguf", name="base")
        done = workspace.import_path(tmp_path / "adapter", name="style").value
        adapter = workspace.library.adapter(done.id).adapter
        assert adapter.weights == sum(tensor.numel() for tensor in saved.values())
        assert sum(target.count for target in adapter.targets) == adapter.weights
        return workspace.check("style", "base")


@pytest.mark.parametrize("kind", BEYOND_STOCK)
def test_what_peft_saves_is_kept_whole_and_fits(kind: str, converted: Path, tmp_path: Path):
    report = imported(BEYOND_STOCK[kind], converted, tmp_path)
    assert report.ok
    assert {problem.code for problem in report.beyond_stock} == {"NEEDS_OVERLAY"}


@pytest.mark.parametrize("kind", IN_NO_LANE)
def test_what_no_lane_executes_is_kept_whole_and_refused(
    kind: str, converted: Path, tmp_path: Path
):
    report = imported(IN_NO_LANE[kind], converted, tmp_path)
    assert {problem.code for problem in report.problems} == {"NOT_EXECUTED"}
