"""Bases of several families that store modules together, apart, or as a stack of experts.

Width 16; four heads of queries over two of keys and values, each of 4 rows, so that a packed
projection has 16 rows of queries, 8 of keys and 8 of values; feed-forward of 24; four experts.
"""

import msgspec

from tests.engine.adapters import tiny
from veneer.adapters.base import read_base
from veneer.adapters.model import Adapter, Target

QUERIES, KEYS, VALUES, INNER, EXPERTS = 16, 8, 8, 24, 4
TOGETHER = QUERIES + KEYS + VALUES

ATTN_APART = {"attn_q": (16, QUERIES), "attn_k": (16, KEYS), "attn_v": (16, VALUES)}
ATTN_TOGETHER = {"attn_qkv": (16, TOGETHER)}
FFN_APART = {"ffn_gate": (16, INNER), "ffn_up": (16, INNER)}
FFN_TOGETHER = {"ffn_up": (16, 2 * INNER)}
EXPERTS_APART = {
    "ffn_gate_exps": (16, INNER, EXPERTS),
    "ffn_up_exps": (16, INNER, EXPERTS),
    "ffn_down_exps": (INNER, 16, EXPERTS),
}
EXPERTS_TOGETHER = {"ffn_gate_up_exps": (16, 2 * INNER, EXPERTS)}


def base_of(architecture, *roles, **changes):
    """A base of one layer with these tensors, given by role in ggml's order (in, out)."""
    tensors = {"token_embd.weight": (16, 12), "output.weight": (16, 12)}
    for group in roles:
        tensors |= {f"blk.0.{role}.weight": shape for role, shape in group.items()}
    small = read_base(tiny.base_file())
    return msgspec.structs.replace(
        small, architecture=architecture, n_layers=1, tensors=tensors, **changes
    )


def target(module, inner, out, rank=4, *, embedding=False):
    return Target(
        module=module, rank=rank, in_features=inner, out_features=out, embedding=embedding
    )


def adapter(*targets, source_format="peft", architecture=None):
    return Adapter(
        kind="lora",
        source_format=source_format,
        targets=targets,
        base_model=None,
        base_revision=None,
        architecture=architecture,
        dtype="F32",
        weights=1,
    )
