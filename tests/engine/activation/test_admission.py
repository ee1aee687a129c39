"""The estimate against what a real worker took, and the refusal against a budget."""

import sys
from pathlib import Path

import msgspec
import pytest

from veneer import Workspace
from veneer.activation.admission import Estimate, estimate, limit_of, require_fit
from veneer.activation.running import context_of
from veneer.errors import OverBudget
from veneer.runtime.protocol import ChatMessage, Sampling

MANY_WORDS = [ChatMessage("user", "hello " * 300)]


def peak_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's peak")
@pytest.mark.parametrize(
    ("n_ctx", "type_kv", "stack"),
    [
        (512, "f16", "plain"),
        (2048, "q8_0", "both"),
        (4096, "f16", "both"),
        (8192, "f16", "pirates"),
        # Small, since scores are held for F32 keys, and the more of them the fuller the context is.
        (1024, "f32", "plain"),
    ],
)
def test_the_estimate_is_within_a_tenth_of_the_peak(
    workspace: Workspace, n_ctx: int, type_kv: str, stack: str
):
    chosen = msgspec.structs.replace(workspace.settings, n_ctx=n_ctx, type_kv=type_kv)
    workspace.change_settings(chosen)
    workspace.activate(stack)
    workspace.talk.ask(MANY_WORDS, Sampling(temperature=0.0), max_tokens=2)
    pid = workspace._runtime.pid
    assert pid is not None
    base, adapters = workspace._compiler.validate(workspace.stacks.find(stack).manifest)
    expected = estimate(base, adapters, context_of(chosen)).total
    assert abs(expected - peak_bytes(pid)) < 0.1 * peak_bytes(pid)


def with_budget(workspace: Workspace, **chosen: int) -> None:
    workspace.change_settings(msgspec.structs.replace(workspace.settings, **chosen))


def make_active(workspace: Workspace, stack: str) -> None:
    """In the journal alone: no worker need run."""
    number = workspace.journal.request(workspace.stacks.find(stack).id, "api")
    workspace.journal.commit(number, {})


def test_a_context_that_cannot_fit_is_refused_when_it_is_chosen(workspace: Workspace):
    make_active(workspace, "both")
    with_budget(workspace, memory_budget=340 << 20)
    before = workspace.settings
    with pytest.raises(OverBudget) as caught:
        with_budget(workspace, n_ctx=8192, n_threads=1)
    # Two of f16 for each of 30 layers, 3 heads, 64 numbers and 8192 tokens: 180 MiB.
    for row in ("kv 180 MiB", "adapters", "compute", "budget is 340 MiB"):
        assert row in caught.value.message
    assert workspace.settings == before
    with_budget(workspace, n_ctx=6144)


def test_a_way_down_is_open_even_where_nothing_fits(workspace: Workspace):
    make_active(workspace, "both")
    with_budget(workspace, memory_budget=1 << 20)
    with_budget(workspace, n_ctx=2048)
    with_budget(workspace, kv_budget=0)
    with pytest.raises(OverBudget):
        with_budget(workspace, n_ctx=2049)


def test_without_anything_active_any_context_may_be_chosen(workspace: Workspace):
    with_budget(workspace, memory_budget=1 << 20, n_ctx=8192)
    assert workspace.settings.n_ctx == 8192


NEEDED = Estimate(base=500 << 20, kv=200 << 20, compute=50 << 20, adapters=50 << 20, scratch=0)


def test_what_fits_a_budget_exactly_is_let_in_and_a_byte_more_is_not():
    require_fit(NEEDED, limit_of(800 << 20, resident=0))
    with pytest.raises(OverBudget):
        require_fit(NEEDED, (800 << 20) - 1)


def test_a_refusal_shows_every_row_of_the_table():
    with pytest.raises(OverBudget) as caught:
        require_fit(NEEDED, 600 << 20)
    for row in ("base 500 MiB", "kv 200 MiB", "compute 50 MiB", "adapters 50 MiB", "800 MiB"):
        assert row in caught.value.message
    assert "budget is 600 MiB" in caught.value.message


def test_without_a_budget_what_is_free_and_what_is_shared_is_the_limit(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("veneer.activation.admission.free_memory", lambda: 300 << 20)
    require_fit(NEEDED, limit_of(0, resident=500 << 20))
    with pytest.raises(OverBudget, match="300 MiB"):
        require_fit(NEEDED, limit_of(0, resident=0))
