"""Will it fit? An estimate in bytes before anything is loaded, against a budget.

What is estimated is the peak of the worker's resident memory: what llama.cpp touches, which is
less than what it reserves (it reserves logits for a whole batch and computes one row of them).
The constants were measured on Linux; tests hold them to within a tenth on the demo base.
"""

from dataclasses import dataclass
from typing import Literal

import psutil

from veneer.adapters.base import Base
from veneer.compose.plan import ContextSettings
from veneer.errors import OverBudget
from veneer.store.records import StoredAdapter, StoredBase

_KV_BYTES: dict[Literal["f16", "f32", "q8_0"], float] = {"f32": 4.0, "f16": 2.0, "q8_0": 1.0625}
_F32 = 4
PROCESS = 48 << 20
"""The worker with llama.cpp loaded and nothing in it."""
_PER_TOKEN_OF_VOCABULARY = 530
"""Text, score and lookup tables of one entry, and its share of the graphs."""
_PROBE_TOKENS = 256
"""The context of the prober, see `runtime.resident`."""


@dataclass(frozen=True)
class Estimate:
    """Bytes a composition needs, by what needs them.

    `scratch` is the worker itself, the vocabulary and the prober: what is there without a chat.
    """

    base: int
    kv: int
    compute: int
    adapters: int
    scratch: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.base + self.kv + self.compute + self.adapters + self.scratch

    def table(self) -> str:
        """The rows, for people."""
        rows = ("base", "kv", "compute", "adapters", "scratch", "total")
        return ", ".join(f"{name} {mebibytes(getattr(self, name))}" for name in rows)


def estimate(
    base: StoredBase, adapters: tuple[StoredAdapter, ...], context: ContextSettings
) -> Estimate:
    """What running these adapters on this base in this context will take."""
    model = base.base
    n_ctx = min(context.n_ctx, model.n_ctx_train or context.n_ctx)
    prober = _kv_bytes(model, min(_PROBE_TOKENS, n_ctx), context)
    return Estimate(
        base=model.bytes,
        kv=_kv_bytes(model, n_ctx, context),
        compute=_compute_bytes(model, n_ctx, context),
        adapters=sum(a.adapter.weights * _F32 for a in adapters),
        scratch=PROCESS + _PER_TOKEN_OF_VOCABULARY * model.n_vocab + prober,
    )


def limit_of(budget: int, resident: int) -> int:
    """The bytes that may be used.

    With a budget of 0 that is what the system has free now, plus the `resident` bytes of the
    running composition that the new one will share.
    """
    return budget or free_memory() + resident


def require_fit(needed: Estimate, limit: int) -> None:
    """Raise `OverBudget`, with the table of bytes, unless it fits."""
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
    """Activations of one batch: hidden state, feed-forward, and the mask in both its types.

    Attention scores are among them only with keys in F32: flash attention never holds any.
    """
    rows = min(context.n_batch, n_ctx)
    _, n_ff = base.tensors.get("blk.0.ffn_up.weight", (base.n_embd, 4 * base.n_embd))
    row = 8 * base.n_embd + 2 * n_ff
    mask = n_ctx * (_F32 + 2)
    scores = _F32 * base.n_head * n_ctx if context.type_kv == "f32" else 0
    return rows * (_F32 * row + mask + scores)
