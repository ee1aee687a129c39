"""Every architecture of the table: the runtime form against llama.cpp's converter, bit for bit,
and the logits of the running model against transformers with PEFT."""

import io
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from tests.engine.adapters.tiny import Files
from tests.parity.adapters import SCALING, adapted, save_parameters
from tests.parity.conftest import Report
from tests.parity.handmade import HANDMADE
from tests.parity.models import TINY, VOCAB
from veneer import Workspace
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.formats.architectures import ARCHITECTURES

pytestmark = pytest.mark.parity
TOLERANCE = 0.03


def tensors(path: Path) -> dict[str, np.ndarray]:
    return {tensor.name: np.array(tensor.data) for tensor in gguf.GGUFReader(path).tensors}


def folder_of(converted: Path, name: str) -> Path:
    failed = converted / name / "failed"
    assert not failed.exists(), failed.read_text()
    return converted / name


CONVERTED = (*(name for name, tiny in TINY.items() if tiny.converts), *HANDMADE)


@pytest.mark.parametrize("name", CONVERTED)
def test_the_runtime_form_is_the_converters(name: str, converted: Path, tmp_path: Path):
    folder = folder_of(converted, name)
    with (folder / "base.gguf").open("rb") as file:
        base = read_base(file)
    assert base.architecture == (TINY[name].architecture if name in TINY else name)
    source = Files({path.name: path.read_bytes() for path in (folder / "adapter").iterdir()})
    adapter = read_adapter(source)
    assert check(adapter, base).problems == ()
    out = io.BytesIO()
    write_runtime_form(adapter, source, base, out)
    (tmp_path / "form.gguf").write_bytes(out.getvalue())
    ours, theirs = tensors(tmp_path / "form.gguf"), tensors(folder / "lora.gguf")
    assert ours.keys() == theirs.keys()
    for key, matrix in theirs.items():
        wanted = matrix * np.float32(SCALING) if key.endswith("lora_b") else matrix
        np.testing.assert_array_equal(ours[key], wanted, err_msg=key)


@pytest.mark.parametrize("name", TINY)
def test_the_logits_are_those_of_peft(name: str, converted: Path, tmp_path: Path, report: Report):
    folder = folder_of(converted, name)
    ids = tuple((7 * i + 3) % VOCAB for i in range(24))
    with torch.no_grad():
        plain = TINY[name].model()(torch.tensor([ids])).logits[0, -1].numpy()
        wanted = adapted(TINY[name], folder)(torch.tensor([ids])).logits[0, -1].numpy()
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(folder / "base.gguf", name="base")
        workspace.import_path(folder / "adapter", name="style")
        workspace.compose("base", [("style", 1.0)], name="stack")
        alone = workspace.logits(ids, "base")
        found = workspace.logits(ids, "stack", confirm_base=True)
    report.add(name, "logits, base alone", float(np.abs(alone - plain).max()))
    report.add(name, "logits, LoRA on everything", float(np.abs(found - wanted).max()))
    assert np.abs(alone - plain).max() < TOLERANCE
    assert np.abs(wanted - plain).max() > 3 * TOLERANCE
    assert np.abs(found - wanted).max() < TOLERANCE


@pytest.mark.parametrize("name", [name for name, tiny in TINY.items() if tiny.experts is not None])
def test_all_experts_in_two_parameters(name: str, converted: Path, tmp_path: Path, report: Report):
    folder = folder_of(converted, name)
    ids = tuple((7 * i + 3) % VOCAB for i in range(24))
    with torch.no_grad():
        made = save_parameters(TINY[name], folder)
        wanted = made(torch.tensor([ids])).logits[0, -1].numpy()
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(folder / "base.gguf", name="base")
        workspace.import_path(folder / "parameters", name="style")
        workspace.compose("base", [("style", 1.0)], name="stack")
        alone = workspace.logits(ids, "base")
        found = workspace.logits(ids, "stack", confirm_base=True)
    report.add(name, "logits, LoRA on expert parameters", float(np.abs(found - wanted).max()))
    assert np.abs(wanted - alone).max() > 3 * TOLERANCE
    assert np.abs(found - wanted).max() < TOLERANCE


def test_every_entry_of_the_table_is_compared():
    compared = {tiny.architecture for tiny in TINY.values()}
    assert {*ARCHITECTURES} == compared | {*HANDMADE}
