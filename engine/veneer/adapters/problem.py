"""A reason why an adapter does not go with a base, with a code and in words."""

from typing import Literal

from msgspec import Struct

from veneer.adapters.model import Target

ProblemCode = Literal[
    "ARCHITECTURE",
    "UNSUPPORTED_ARCHITECTURE",
    "OTHER_MODEL",
    "OTHER_BASE",
    "TOKENIZER",
    "VOCABULARY",
    "UNKNOWN_MODULE",
    "MISSING_TENSOR",
    "SHAPE",
    "DUPLICATE",
    "NEEDS_OVERLAY",
    "NOT_EXECUTED",
]


class Problem(Struct, frozen=True, kw_only=True):
    """One reason against. `tensor` is the first target concerned, as its source names it."""

    code: ProblemCode
    message: str
    tensor: str | None = None


def problem(code: ProblemCode, target: Target, what: str) -> Problem:
    """The reason that a target has: `what` follows its module's name."""
    return Problem(code=code, message=f"{target.module} {what}", tensor=target.module)
