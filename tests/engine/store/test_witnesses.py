"""An adapter that came with a copy of its base's embedding belongs over that embedding alone."""

import json
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, quants
from safetensors.numpy import save_file

from tests.engine.adapters import tiny
from veneer import Workspace

EMBED, HEAD = "model.embed_tokens", "lm_head"
RANK = 4


def adapter(folder: Path, copies: dict[str, np.ndarray]) -> Path:
    """A LoRA on the modules of these copies, as PEFT saves it: with the copies."""
    folder.mkdir()
    tensors = {}
    for module, copy in copies.items():
        rows, width = copy.shape
        key = f"base_model.model.{module}"
        tensors[f"{key}.base_layer.weight"] = copy
        if module == HEAD:
            tensors[f"{key}.lora_A.weight"] = np.ones((RANK, width), np.float32)
            tensors[f"{key}.lora_B.weight"] = np.ones((rows, RANK), np.float32)
        else:
            tensors[f"{key}.lora_embedding_A"] = np.ones((RANK, rows), np.float32)
            tensors[f"{key}.lora_embedding_B"] = np.ones((width, RANK), np.float32)
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": 8,
        "target_modules": sorted(module.rpartition(".")[2] for module in copies),
        "base_model_name_or_path": "org/Tiny-5K",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def tiny_base(path: Path) -> dict[str, np.ndarray]:
    path.write_bytes(tiny.base_bytes())
    named = {tensor.name: tensor.data for tensor in GGUFReader(path).tensors}
    return {EMBED: np.array(named["token_embd.weight"]), HEAD: np.array(named["output.weight"])}


@pytest.fixture(scope="module")
def demo_embedding(base_path: Path) -> np.ndarray:
    (stored,) = (t for t in GGUFReader(base_path).tensors if t.name == "token_embd.weight")
    return quants.dequantize(stored.data, stored.tensor_type)


def problems(workspace: Workspace, ref: str, base: str) -> list[tuple[str, str]]:
    return [(p.code, p.message) for p in workspace.check(ref, base).problems]


def test_over_its_own_base_it_is_applied(tmp_path: Path):
    copies = tiny_base(tmp_path / "tiny.gguf")
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "tiny.gguf", name="tiny")
        done = workspace.import_path(adapter(tmp_path / "both", copies), name="both").value
        report = workspace.check("both", "tiny")
        assert (report.ok, report.applies, report.of, report.fit) == (True, 2, 2, "named")
        stored = workspace.library.adapter(done.id).adapter
        assert stored.warnings == tuple(
            f"It came with a copy of its base's {module}, of which a sample is kept to tell "
            "whether it belongs on a base."
            for module in (HEAD, EMBED)
        )
        assert stored.weights == 2 * RANK * (tiny.VOCAB + tiny.WIDTH)


@pytest.mark.parametrize("module", [EMBED, HEAD])
def test_over_other_weights_it_is_refused(tmp_path: Path, module: str):
    copies = tiny_base(tmp_path / "tiny.gguf")
    copies[module][3] *= 1.1
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "tiny.gguf", name="tiny")
        workspace.import_path(adapter(tmp_path / "both", copies), name="both")
        message = (
            f"It was trained over a {module} that it brought a sample of, and this base has other "
            "weights there."
        )
        assert problems(workspace, "both", "tiny") == [("OTHER_BASE", message)]


def test_another_size_is_refused_with_both(tmp_path: Path):
    copies = tiny_base(tmp_path / "tiny.gguf")
    longer = {HEAD: np.vstack([copies[HEAD], copies[HEAD]])}
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "tiny.gguf", name="tiny")
        workspace.import_path(adapter(tmp_path / "long", longer), name="long")
        message = (
            "It was trained over a lm_head that it brought a sample of, and it is 24 x 16 there "
            "and 12 x 16 here."
        )
        assert ("SHAPE", message) in problems(workspace, "long", "tiny")


def test_a_base_that_cannot_be_read_is_no_proof(tmp_path: Path):
    copies = tiny_base(tmp_path / "tiny.gguf")
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "tiny.gguf", name="tiny")
        workspace.import_path(adapter(tmp_path / "both", copies), name="both")
        (tmp_path / "tiny.gguf").rename(tmp_path / "moved.gguf")
        ((code, message),) = problems(workspace, "both", "tiny")
        assert code == "OTHER_BASE"
        assert message.startswith("Its sample of the base's weights cannot be compared: ")
        (tmp_path / "moved.gguf").rename(tmp_path / "tiny.gguf")
        assert problems(workspace, "both", "tiny") == []


def test_a_quantized_base_differs_by_what_its_type_loses(workspace: Workspace, demo_embedding):
    """It is Q8_0; what stands for the original is as far from it as rounding goes."""
    rng = np.random.default_rng(0)
    blocks = demo_embedding.reshape(-1, 32)
    step = np.abs(blocks).max(1) / 127
    original = blocks + rng.uniform(-0.5, 0.5, blocks.shape) * step[:, None]
    original = original.reshape(demo_embedding.shape).astype(np.float16)
    folder = workspace.root.parent
    workspace.import_path(adapter(folder / "own", {EMBED: original}), name="own")
    own = problems(workspace, "own", "smol")
    assert own == []
    shuffled = np.ascontiguousarray(original[::-1])
    workspace.import_path(adapter(folder / "other", {EMBED: shuffled}), name="other")
    assert [code for code, _ in problems(workspace, "other", "smol")] == ["OTHER_BASE"]


def test_the_copy_is_not_kept(workspace: Workspace, demo_embedding):
    folder = adapter(workspace.root.parent / "big", {EMBED: demo_embedding.astype(np.float16)})
    whole = (folder / "adapter_model.safetensors").stat().st_size
    first = workspace.import_path(folder, name="big").value
    kept = workspace.library.adapter(first.id).size
    assert whole - kept == pytest.approx((49152 - 128) * 576 * 2, abs=2048)
    again = workspace.import_path(folder).value
    assert (again.id, again.already) == (first.id, True)
    assert list((workspace.root / "tmp").iterdir()) == []
