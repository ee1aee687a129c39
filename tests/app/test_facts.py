"""What the details of an adapter say that it does."""

from veneer.adapters.model import Adapter, Target
from veneer.compose.plan import ContextSettings
from veneer.store.records import StoredAdapter
from veneer_app.library.facts import facts_of


def facts(*targets: Target, invocation: tuple[int, ...] = ()) -> dict[str, str]:
    adapter = Adapter(
        kind="dora",
        source_format="lone",
        targets=targets,
        base_model=None,
        base_revision=None,
        architecture=None,
        dtype="F32",
        weights=1,
        invocation_tokens=invocation,
    )
    digest = f"sha256:{'a' * 64}"
    stored = StoredAdapter(
        digest=digest, name="x", files={"x": digest}, size=1, adapter=adapter, added_at="2026-12-01"
    )
    return dict(facts_of(stored, ContextSettings()))


def test_every_operation_is_counted() -> None:
    low, magnitude = Target(module="a"), Target(module="a", operation="magnitude")
    found = facts(low, magnitude, Target(module="b"))
    assert found["What it does"] == "2 low-rank products, 1 magnitudes (DoRA)"
    assert found["Files"].startswith("safetensors")


def test_the_tokens_after_which_it_acts() -> None:
    assert facts(Target(module="a"), invocation=(5, 9))["Acts after tokens"] == "5, 9"
    assert "Acts after tokens" not in facts(Target(module="a"))
