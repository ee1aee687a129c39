"""Why the overlay lane may be off, and that nothing is lost where it is."""

from pathlib import Path

import llama_cpp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from veneer import Workspace
from veneer.errors import NeedsOverlay, OverlayOff
from veneer.runtime import overlay
from veneer.runtime.overlay import OverlayLane


def test_a_library_that_tells_nothing_turns_the_lane_off(tmp_path: Path):
    with pytest.raises(OverlayOff, match="cannot be told apart for certain"):
        OverlayLane(tmp_path / "libllama.so", only_cpu=True)


def test_arithmetic_that_is_wrong_turns_the_lane_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overlay, "wrong_product", lambda: "float16 factors are off by 3")
    with pytest.raises(OverlayOff, match=r"is wrong on this machine \(float16 factors are off"):
        OverlayLane(Path(llama_cpp.__file__).parent / "lib" / "libllama.so", only_cpu=True)


@pytest.fixture
def dora(stranger: Path) -> Path:
    """The pirate with random magnitudes around those of the base."""
    weights = load_file(stranger / "adapter_model.safetensors")
    for name in [name for name in weights if "lora_B" in name]:
        key = name.replace("lora_B.weight", "lora_magnitude_vector")
        weights[key] = np.full(weights[name].shape[0], 1.5, np.float32)
    save_file(weights, stranger / "adapter_model.safetensors")
    config = stranger / "adapter_config.json"
    config.write_text(config.read_text().replace('"use_dora": false', '"use_dora": true'))
    assert '"use_dora": true' in config.read_text()
    return stranger


def test_the_lane_is_chosen_and_kept_and_refused_in_words(workspace: Workspace, dora: Path):
    workspace.import_path(dora, name="dora")
    workspace.compose("smol", [("dora", 1.0)], name="dora")
    ids = workspace.tokenize("Tell me of the sea.", "smol")
    workspace.activate("pirates", lane="stock")
    before = workspace.logits(ids)
    with pytest.raises(NeedsOverlay, match=r"“dora” cannot run: .*DoRA.* The settings ask for"):
        workspace.activate("dora", confirm_base=True)
    with pytest.raises(NeedsOverlay):
        workspace.activate("dora", confirm_base=True, lane="stock")
    np.testing.assert_array_equal(workspace.logits(ids), before)
    workspace.activate("dora", confirm_base=True, lane="auto")
    assert workspace.settings.lane == "auto"
    assert np.abs(workspace.logits(ids) - before).max() > 1


def test_a_lane_that_was_not_taken_does_not_become_the_setting(workspace: Workspace, dora: Path):
    workspace.import_path(dora, name="dora")
    workspace.compose("smol", [("dora", 1.0)], name="dora")
    with pytest.raises(NeedsOverlay):
        workspace.activate("dora", confirm_base=True, lane="stock")
    assert workspace.settings.lane == "auto"


def test_both_lanes_run_a_lora_and_agree(workspace: Workspace):
    ids = workspace.tokenize("Tell me of the sea.", "smol")
    workspace.activate("both")
    overlay = workspace.logits(ids)
    workspace.activate("both", lane="stock")
    stock = workspace.logits(ids)
    # Quantized activations make last bits larger, so what is compared is what is said. Here it is
    # one position; tests/parity has the mean of 2,000.
    shares = [np.exp(logits - np.log(np.exp(logits).sum())) for logits in (overlay, stock)]
    assert float((shares[0] * np.log(shares[0] / shares[1])).sum()) < 1e-2
