"""What a GGUF adapter may be beside a LoRA: activated, or a control vector of either maker."""

import numpy as np
import pytest

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.errors import FormatError
from veneer.workspace import Workspace

PAIRS = {tiny.gguf_name(module): pair for module, pair in tiny.factors().items()}
TOKENS = "adapter__alora__invocation_tokens"
# As cvector-generator writes it, and as repeng does through gguf-py.
GENERATOR = {
    "general.architecture": "controlvector",
    "controlvector.model_hint": "llama",
    "controlvector.layer_count": 1,
}
REPENG = GENERATOR | {"controlvector.model_hint": "mistral", "general.name": "happy"}


def control_vector(directions, metadata=None):
    return tiny.Files({"happy.gguf": tiny.gguf_bytes(metadata or GENERATOR, directions)})


def directions(*layers, width=tiny.WIDTH, dtype=np.float32):
    return {f"direction.{layer}": np.arange(width).astype(dtype) - layer for layer in layers}


@pytest.mark.parametrize("metadata", [GENERATOR, REPENG])
def test_a_control_vector_is_one_direction_a_layer(metadata):
    adapter = read_adapter(control_vector(directions(10, 1), metadata))
    assert adapter.kind == "control_vector"
    found = [(t.module, t.operation, t.out_features) for t in adapter.targets]
    assert found == [("direction.1", "direction", 16), ("direction.10", "direction", 16)]
    assert (adapter.architecture, adapter.weights) == (None, 32)


def test_a_control_vector_waits_for_the_overlay_lane():
    report = check(read_adapter(control_vector(directions(1))), read_base(tiny.base_file()))
    assert report.ok
    assert [problem.code for problem in report.beyond_stock] == ["NEEDS_OVERLAY"]
    assert report.beyond_stock[0].message == (
        "direction.1 is pushed in a direction, which needs the overlay lane."
    )


@pytest.mark.parametrize("made", [directions(2), directions(1, width=8)])
def test_a_control_vector_for_another_model(made):
    report = check(read_adapter(control_vector(made)), read_base(tiny.base_file()))
    assert [problem.code for problem in report.problems] == ["OTHER_MODEL", "SHAPE"]


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        ({}, "SHAPE"),
        ({"direction.0": np.ones(16, np.float32)}, "NAME"),
        ({"direction.01": np.ones(16, np.float32)}, "NAME"),
        ({"direction.1": np.ones((2, 16), np.float32)}, "NAME"),
        ({"blk.0.attn_q.weight": np.ones(16, np.float32)}, "NAME"),
        (directions(1) | directions(2, width=8), "SHAPE"),
        ({"direction.1": np.full(16, np.nan, np.float32)}, "NONFINITE"),
    ],
)
def test_what_is_no_control_vector(made, rule):
    with pytest.raises(FormatError) as caught:
        read_adapter(control_vector(made))
    assert caught.value.rule == rule


def test_a_zero_direction_changes_nothing():
    made = directions(1) | {"direction.2": np.zeros(16, np.float32)}
    assert read_adapter(control_vector(made)).warnings == (
        "1 of 2 parts of this adapter are zero and change nothing.",
    )


def test_a_control_vector_is_imported_as_an_adapter(tmp_path):
    (tmp_path / "happy.gguf").write_bytes(control_vector(directions(1, 2))["happy.gguf"])
    with Workspace.open(tmp_path / "ws") as workspace:
        done = workspace.import_path(tmp_path / "happy.gguf").value
        assert (done.kind, done.name) == ("adapter", "happy")
        assert workspace.library.adapter(done.id).adapter.kind == "control_vector"


def test_an_activated_lora_keeps_its_tokens():
    adapter = read_adapter(tiny.lora_file(PAIRS, **{TOKENS: np.array([3, 4], np.uint32)}))
    assert (adapter.kind, adapter.invocation_tokens) == ("alora", (3, 4))
    (problem,) = check(adapter, read_base(tiny.base_file())).problems
    assert problem.code == "NOT_EXECUTED"
    assert "from its invocation tokens on and not before" in problem.message


@pytest.mark.parametrize(
    "tokens", [np.array([], np.uint32), np.array([-1], np.int32), "three", np.array([1.5])]
)
def test_invocation_tokens_that_are_none(tokens):
    with pytest.raises(FormatError) as caught:
        read_adapter(tiny.lora_file(PAIRS, **{TOKENS: tokens}))
    assert caught.value.rule in ("VALUE", "KEY", "ARRAY")
