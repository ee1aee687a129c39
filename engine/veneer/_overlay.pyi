"""The overlay lane's native runtime: llama.cpp's eval callback, in C++ (see native/).

Order of a worker: `probe` the loaded library -> `Overlay` per context, whose `callback` and
`user_data` go into the context's parameters (`cb_eval`, `cb_eval_user_data`) -> `LowRank`,
`SparseRows`, `DenseRows` per adapter, once -> `Plan` per composition -> `publish`; then for every
decode `begin`, `llama_decode`, `finish`. The context must be made with `kv_unified = true`.

What a targeted node gets, in this order, in F32:

    y = scale ∘ replace(y) + Σ gain_k ∘ B_k (A_k x) + Σ gain_k ∘ (S_k x) + bias

Arrays are C-contiguous; their numbers are float32, float16, or uint16 that hold BF16 bits. All are
copied: the caller may let go of them.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float32] | NDArray[np.float16] | NDArray[np.uint16]
Role: TypeAlias = Literal["mul_mat", "get_rows", "mul", "add", "node"]

class ProbeError(RuntimeError):
    """The layout of ggml's tensors could not be told for certain; the text says why."""

class OverlayError(RuntimeError):
    """A decode met something that the overlay does not know how to edit; the text names the node.

    The logits of that decode are worthless.
    """

@final
class Layout:
    """Where a `ggml_tensor` keeps its fields, and the numbers of the operations."""

    @property
    def fields(self) -> dict[str, int]:
        """Offsets in bytes by field: type, buffer, ne, nb, op, src, data, name."""
    @property
    def ops(self) -> dict[str, int]:
        """Numbers by operation: MUL_MAT, MUL_MAT_ID, GET_ROWS, MUL, ADD."""

def probe(library: str) -> Layout:
    """Find the layout in a library that is loaded already.

    `library`: the path of libllama as it was loaded, whose own libraries are searched too (several
    copies of libggml-base may lie about); on Windows, that of ggml-base.dll. Raises `ProbeError`.
    """

def kernels() -> str:
    """The instruction set chosen on this machine: avx512, avx2, neon or portable."""

def available_kernels() -> tuple[str, ...]:
    """Every instruction set that this build has and this machine runs, the best first."""

def use_kernels(name: str) -> None:
    """Choose an instruction set (tests and the self-test). Raises `ValueError` if not available."""

@final
class LowRank:
    """A product B A, packed for the kernels. Immutable; share it among plans.

    `a`: (rank, n_in), `b`: (n_out, rank); or for stacks of experts (n_expert, rank, n_in) and
    (n_expert, n_out, rank). In the role get_rows n_in is the vocabulary: the token's column of A is
    taken, and n_out is the embedding's width. Two objects made with the same `share` (any non-zero
    number, such as `id` of the array A) promise the same A: where they meet the same input, A x is
    computed once (q, k and v cut from one packed adapter). Raises `ValueError` for other shapes,
    types, or sizes.
    """

    def __init__(self, a: Numbers, b: Numbers, share: int = 0) -> None: ...
    def product(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """B A x for the rows of x: (n, n_in) to (n, n_out). Raises `ValueError` with experts."""
    @property
    def n_in(self) -> int: ...
    @property
    def n_out(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def n_expert(self) -> int:
        """0 where it is not a stack of experts."""
    @property
    def nbytes(self) -> int: ...

@final
class SparseRows:
    """A sparse delta S of a weight as `ne` has it reversed: shape (n_rows, n_cols), CSR.

    `indptr`: int64 (n_rows + 1,), rising from 0 to the number of values; `indices`: int32 columns;
    `values`: as many. In the role get_rows the token's row is added, so n_rows is the vocabulary.
    Raises `ValueError` if an index is out of range.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: Numbers,
        n_cols: int,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

@final
class DenseRows:
    """Whole rows of a weight that stand in for the base's: `values` (n_replaced, n_cols).

    `rows`: int32 (n_replaced,), rising, the numbers of the rows among `n_rows`; None where all
    n_rows are there. mul_mat: y[row] = values · x; get_rows: y = values of the token, if replaced.
    Raises `ValueError`.
    """

    def __init__(self, values: Numbers, rows: NDArray[np.int32] | None, n_rows: int) -> None: ...
    @property
    def nbytes(self) -> int: ...

@final
class Edit:
    """What is done to the output of one node.

    Found by role and name:
    mul_mat   MUL_MAT (or MUL_MAT_ID, with a stack of experts) whose weight is `name`;
    get_rows  GET_ROWS from the weight `name`, by token id;
    mul, add  MUL or ADD that has the weight `name` (a norm's gain, a norm's or linear's bias);
    node      the node called `name` itself (l_out-3 for a control vector, ffn_gelu-0, ...).
    mul, add and node take `scale` and `bias` only. A norm that is replaced is a `scale` of
    new / base gain in the role mul, a bias that is replaced a `bias` of new - base in the role
    mul_mat of its weight. With experts only `low_rank` is allowed.

    `scale`, `bias`: float32 (n_out,). A gain is a number, or float32 (n_out,) (DoRA's magnitude).
    Raises `ValueError` where shapes disagree or nothing is there to do.
    """

    def __init__(
        self,
        role: Role,
        name: str,
        *,
        low_rank: Sequence[tuple[LowRank, float | NDArray[np.float32]]] = (),
        sparse: Sequence[tuple[SparseRows, float | NDArray[np.float32]]] = (),
        replace: DenseRows | None = None,
        scale: NDArray[np.float32] | None = None,
        bias: NDArray[np.float32] | None = None,
    ) -> None: ...
    @property
    def role(self) -> Role: ...
    @property
    def name(self) -> str: ...

@final
class Plan:
    """Every edit of one composition. Immutable. Raises `ValueError` for two edits of one place."""

    def __init__(self, edits: Sequence[Edit]) -> None: ...
    @property
    def edits(self) -> tuple[Edit, ...]: ...
    @property
    def nbytes(self) -> int:
        """Bytes of its factors, each counted once."""

@final
class Overlay:
    """The callback of one context over one model. Not for several threads at once.

    `publish` may be called while a decode runs: that one keeps its plan.
    """

    def __init__(
        self, layout: Layout, n_threads: int = 1, copies: bool = False, rides: bool = False
    ) -> None:
        """`n_threads`: as many as the context has, no other number (they are the same threads).

        `copies`: reach every tensor by copying, as those on a device always are. `rides`: let nodes
        of the graph carry edits out in passing, which is right only where every node is computed by
        ggml's CPU backend; not together with `copies`.
        """
    @property
    def callback(self) -> int:
        """Address of the C function, for `cb_eval`."""
    @property
    def user_data(self) -> int:
        """Address for `cb_eval_user_data`; good for as long as this object lives."""
    def publish(self, plan: Plan | None) -> None:
        """From the next `begin` on, rows without their own plan run under it (None: base)."""
    def begin(
        self,
        tokens: NDArray[np.int32],
        plans: Sequence[Plan | None] | None = None,
        rows: NDArray[np.int32] | None = None,
    ) -> None:
        """Tell of the batch that is decoded next.

        `tokens`: (n_tokens,), in the batch's order. `plans` and `rows`, both or neither: `rows`
        (n_tokens,) gives for each token the index of its plan in `plans`. Without them every row
        has the published plan. Raises `ValueError`.
        """
    def finish(self) -> None:
        """End what `begin` began. Raises `OverlayError` with the first thing that went wrong.

        Also where rows were to be told apart and llama.cpp did not keep the batch's order.
        """
    def hits(self, plan: Plan) -> NDArray[np.int64]:
        """How often each edit of the plan was carried out since the last `begin`, (n_edits,)."""
