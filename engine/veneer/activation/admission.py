"""Will it fit? An estimate in bytes before anything is loaded, against a budget."""

from dataclasses import dataclass
from typing import Literal

import psutil

from veneer.adapters.base import Base
from veneer.compose.plan import ContextSettings
from veneer.errors import OverBudget
from veneer.store.records import StoredAdapter, StoredBase

_KV_BYTES: dict[Literal["f16", "f32", "q8_0"], float] = {"f32": 4.0, "f16": 2.0, "q8_0": 1.0625}
_F32 = 4
_PROCESS = 120 * 1024 * 1024
"""The worker with llama.cpp loaded and nothing in it."""


@dataclass(frozen=True)
class Estimate:
    """Bytes a composition needs, by what needs them."""

    base: int
    kv: int
    compute: int
    adapters: int
    process: int = _PROCESS

    @property
    def total(self) -> int:
        """All of it."""
        return self.base + self.kv + self.compute + self.adapters + self.process

    def table(self) -> str:
        """The rows, for people."""
        rows = ("base", "kv", "compute", "adapters", "process", "total")
        return ", ".join(f"{name} {mebibytes(getattr(self, name))}" for name in rows)


def estimate(
    base: StoredBase, adapters: tuple[StoredAdapter, ...], context: ContextSettings
) -> Estimate:
    """What running these adapters on this base in this context will take."""
    n_ctx = min(context.n_ctx, base.base.n_ctx_train or context.n_ctx)
    return Estimate(
        base=base.base.bytes,
        kv=_kv_bytes(base.base, n_ctx, context),
        compute=_compute_bytes(base.base, n_ctx, context),
        adapters=sum(a.adapter.weights * _F32 for a in adapters),
    )


def require_fit(needed: Estimate, budget: int, resident: int = 0) -> None:
    """Raise `OverBudget`, with the table of bytes, unless it fits.

    With a budget of 0 the limit is what the system has free now, plus the `resident` bytes of
    the running composition that the new one will share.
    """
    limit = budget or free_memory() + resident
    if needed.total > limit:
        raise OverBudget(
            f"This needs {mebibytes(needed.total)} of memory and the budget is "
            f"{mebibytes(limit)} ({needed.table()}). Use a smaller context, fewer adapters or a "
            "smaller base, or raise the budget in the settings."
        )


def free_memory() -> int:
    """Bytes the system could give to us now."""
    return int(psutil.virtual_memory().available)


def mebibytes(count: int) -> str:
    """Bytes for people."""
    return f"{count / (1 << 20):,.0f} MiB"


def _kv_bytes(base: Base, n_ctx: int, context: ContextSettings) -> int:
    return int(base.kv_per_token * n_ctx * _KV_BYTES[context.type_kv])


def _compute_bytes(base: Base, n_ctx: int, context: ContextSettings) -> int:
    """Activations of one batch: logits, attention scores and a few rows of hidden state."""
    logits = base.n_vocab * context.n_batch
    scores = n_ctx * base.n_head * context.n_batch
    hidden = base.n_embd * context.n_batch * 8
    return _F32 * (logits + scores + hidden)
