"""The demo base in F32: what `veneer check` and `veneer probe` say of real PEFT adapters of each
kind that the stock lane runs, against transformers with PEFT."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import peft
import pytest
import torch

from tests.parity.conftest import Report
from veneer.formats.gguf_writer import NewTensor, write

pytestmark = pytest.mark.parity
TOLERANCE = 0.03
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
VENEER = [sys.executable, "-c", "from veneer_app.entry import main; main()"]
TEXT = "The lighthouse keeper counted the ships, wrote their names in a book, and"

# What goes into PEFT's LoraConfig, beside all seven linears, and the strength it is run at.
KINDS: dict[str, tuple[dict[str, Any], float]] = {
    "lora": ({"r": 8, "lora_alpha": 16}, 1.0),
    "lora, strength -1.5": ({"r": 8, "lora_alpha": 8}, -1.5),
    "rslora": ({"r": 16, "lora_alpha": 16, "use_rslora": True}, 1.0),
    "float alpha": ({"r": 4, "lora_alpha": 6.5}, 0.8),
    "patterns": (
        {
            "r": 4,
            "lora_alpha": 8,
            "rank_pattern": {"q_proj": 12, r"layers\.[0-4]\..*down_proj": 2},
            "alpha_pattern": {"v_proj": 20, r"^model\.layers\.7\.mlp\.up_proj": 3},
        },
        1.0,
    ),
    "patterns, rslora": (
        {"r": 4, "lora_alpha": 4, "use_rslora": True, "rank_pattern": {"k_proj": 16}},
        1.0,
    ),
    "some layers": ({"r": 8, "lora_alpha": 16, "layers_to_transform": [3, 11, 29]}, 2.0),
    "regex targets": (
        {"r": 8, "lora_alpha": 16, "target_modules": r".*\.(1|12|20)\.mlp\.(up|down)_proj"},
        3.0,
    ),
    "all-linear": ({"r": 4, "lora_alpha": 4, "target_modules": "all-linear"}, 1.0),
}


def dequantized(source: Path, target: Path) -> None:
    """The same model with every tensor in F32."""
    reader = gguf.GGUFReader(source)
    metadata = {
        name: _value(field)
        for name, field in reader.fields.items()
        if not name.startswith("GGUF.") and name != "general.file_type"
    }
    tensors = [
        NewTensor(tensor.name, tuple(map(int, tensor.shape[::-1])), "F32", _matrix(tensor))
        for tensor in reader.tensors
    ]
    with target.open("w+b") as file:
        write(file, metadata | {"general.file_type": 0}, tensors)


def _value(field: gguf.ReaderField) -> Any:
    value = field.contents()
    if isinstance(value, list) and not isinstance(value[0], str):
        return np.array(value, field.parts[field.data[0]].dtype)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return field.parts[field.data[0]].dtype.type(value)
    return value


def _matrix(tensor: gguf.ReaderTensor) -> Any:
    shape = tuple(map(int, tensor.shape[::-1]))
    return lambda: (
        gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape).astype(np.float32)
    )


@pytest.fixture(scope="module")
def root(base_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    dequantized(base_path, folder / "smol-f32.gguf")
    ask(folder / "ws", "import", str(folder / "smol-f32.gguf"), "--name", "smol")
    return folder / "ws"


def ask(root: Path, *words: str) -> Any:
    done = subprocess.run(
        [*VENEER, "--workspace", str(root), *words, "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def save_adapter(model: Any, config: dict[str, Any], folder: Path) -> None:
    torch.manual_seed(1)
    options = {"target_modules": ALL, "init_lora_weights": False} | config
    with warnings.catch_warnings(action="ignore"):
        made = peft.get_peft_model(model, peft.LoraConfig(**options))
        with torch.no_grad():
            for name, parameter in made.named_parameters():
                if "lora_B" in name:
                    parameter.mul_(0.1)
        made.save_pretrained(folder)
        made.unload()


def peft_logits(model: Any, folder: Path, strength: float, ids: list[int]) -> Any:
    with warnings.catch_warnings(action="ignore"):
        made = peft.PeftModel.from_pretrained(model, str(folder)).eval()
    for module in made.modules():
        if isinstance(module, peft.tuners.lora.LoraLayer):
            module.scale_layer(strength)
    with torch.no_grad():
        logits = made(torch.tensor([ids])).logits[0, -1].numpy()
    made.unload()
    return logits


@pytest.mark.parametrize("kind", KINDS)
def test_check_and_probe_agree_with_peft(
    kind: str, model: Any, root: Path, tmp_path: Path, report: Report
):
    config, strength = KINDS[kind]
    folder = tmp_path / kind.replace(" ", "-").replace(",", "")
    save_adapter(model, config, folder)
    name = ask(root, "import", str(folder))["name"]
    checked = ask(root, "check", name, "--base", "smol")
    assert checked["ok"]
    assert checked["applies"] == checked["of"] > 0
    ask(root, "compose", f"{name}-stack", "--base", "smol", "--adapter", f"{name}={strength}")
    out = tmp_path / "logits.npy"
    ids = ask(root, "probe", "--text", TEXT, "--composition", "smol")["token_ids"]
    words = ["probe", "--ids", ",".join(map(str, ids)), "--out", str(out)]
    ask(root, *words, "--composition", f"{name}-stack", "--confirm-base")
    found = np.load(out)
    wanted = peft_logits(model, folder, strength, ids)
    with torch.no_grad():
        plain = model(torch.tensor([ids])).logits[0, -1].numpy()
    difference = float(np.abs(found - wanted).max())
    report.add("SmolLM2-135M F32", f"logits, {kind}", difference)
    assert np.abs(wanted - plain).max() > 10 * TOLERANCE
    assert difference < TOLERANCE
