"""Tiny graphs of the real ggml, through ctypes, and the walk that its scheduler takes over them."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from veneer import _overlay

_FOLDER = Path(llama_cpp.__file__).parent / "lib"
LLAMA = str(next(p for p in _FOLDER.iterdir() if p.name.split(".")[0] in {"libllama", "llama"}))
_llama = ctypes.CDLL(LLAMA)
F32, F16, I32 = 0, 1, 26
_DTYPES = {F32: np.float32, F16: np.float16, I32: np.int32}
_MEMORY = 1 << 20


class _Parameters(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    )


def _function(name: str, result: object, *arguments: object) -> Callable[..., int]:
    found = getattr(_llama, name)
    found.restype, found.argtypes = result, arguments
    return found


_P, _I = ctypes.c_void_p, ctypes.c_int64
_init = _function("ggml_init", _P, _Parameters)
_free = _function("ggml_free", None, _P)
_new = _function("ggml_new_tensor", _P, _P, ctypes.c_int, ctypes.c_int, ctypes.POINTER(_I))
_data = _function("ggml_get_data", _P, _P)
_name = _function("ggml_set_name", _P, _P, ctypes.c_char_p)
_graph = _function("ggml_new_graph", _P, _P)
_expand = _function("ggml_build_forward_expand", None, _P, _P)
_cpu = _function("ggml_backend_cpu_init", _P)()
_allocate = _function("ggml_backend_alloc_ctx_tensors", _P, _P, _P)
_release = _function("ggml_backend_buffer_free", None, _P)
_set = _function("ggml_backend_tensor_set", None, _P, _P, ctypes.c_size_t, ctypes.c_size_t)
_compute = _function("ggml_backend_graph_compute", ctypes.c_int, _P, _P)
_threads = _function("ggml_backend_cpu_set_n_threads", None, _P, ctypes.c_int)
_sched = _function(
    "ggml_backend_sched_new", _P, ctypes.POINTER(_P), _P, ctypes.c_int, ctypes.c_size_t,
    ctypes.c_bool, ctypes.c_bool,
)  # fmt: skip
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_bool, _P, ctypes.c_bool, _P)
_sched_watch = _function("ggml_backend_sched_set_eval_callback", None, _P, _CALLBACK, _P)
_sched_compute = _function("ggml_backend_sched_graph_compute", ctypes.c_int, _P, _P)
_sched_free = _function("ggml_backend_sched_free", None, _P)
_n_nodes = _function("ggml_graph_n_nodes", ctypes.c_int, _P)
_node = _function("ggml_graph_node", _P, _P, ctypes.c_int)
_nbytes = _function("ggml_nbytes", ctypes.c_size_t, _P)
_OPERATIONS = {
    name: _function(f"ggml_{name}", _P, _P, *[_P] * inputs)
    for name, inputs in {
        "mul_mat": 2, "mul_mat_id": 3, "get_rows": 2, "mul": 2, "add": 2, "relu": 1, "cont": 1,
        "transpose": 1,
    }.items()
}  # fmt: skip
_reshape_3d = _function("ggml_reshape_3d", _P, _P, _P, _I, _I, _I)


class Graph:
    """Tensors and the nodes over them, in the order in which they are made."""

    def __init__(self) -> None:
        self._context = _init(_Parameters(_MEMORY, None, True))
        self._graph = _graph(self._context)
        self._leaves: dict[int, NDArray] = {}
        self._buffer = self._scheduler = 0

    def close(self) -> None:
        if self._scheduler:
            _sched_free(self._scheduler)
        if self._buffer:
            _release(self._buffer)
        _free(self._context)

    def tensor(self, array: NDArray, name: str = "") -> int:
        """A leaf with these numbers; the first dimension of ggml is the last of numpy."""
        kind = next(k for k, dtype in _DTYPES.items() if array.dtype == dtype)
        shape = (_I * array.ndim)(*reversed(array.shape))
        tensor = _new(self._context, kind, array.ndim, shape)
        self._called(tensor, name)
        self.put(tensor, array)
        return tensor

    def put(self, tensor: int, array: NDArray) -> None:
        """Give a leaf other numbers, from the next `compute` on."""
        self._leaves[tensor] = np.ascontiguousarray(array)

    def node(self, operation: str, *inputs: int, name: str = "") -> int:
        tensor = _OPERATIONS[operation](self._context, *inputs)
        return self._added(tensor, name)

    def reshape_3d(self, tensor: int, *shape: int) -> int:
        return self._added(_reshape_3d(self._context, tensor, *reversed(shape)), "")

    def _added(self, tensor: int, name: str) -> int:
        _expand(self._graph, self._called(tensor, name))
        return tensor

    def _called(self, tensor: int, name: str) -> int:
        if name:
            _name(tensor, name.encode())
        return tensor

    def compute(self) -> None:
        """Compute every node anew."""
        self._buffer = self._buffer or _allocate(self._context, _cpu)
        for tensor, data in self._leaves.items():
            _set(tensor, data.ctypes.data, 0, data.nbytes)
        assert _compute(_cpu, self._graph) == 0

    def schedule(self, overlay: _overlay.Overlay, threads: int) -> list[bool]:
        """Compute every node in ggml's own scheduler, which calls the overlay; what was wanted."""
        self._buffer = self._buffer or _allocate(self._context, _cpu)
        for tensor, data in self._leaves.items():
            _set(tensor, data.ctypes.data, 0, data.nbytes)
        self._scheduler = self._scheduler or _sched((_P * 1)(_cpu), None, 1, 64, False, False)
        edit, wanted = _CALLBACK(overlay.callback), []

        def called(node: int, ask: bool, data: int) -> bool:
            answer = edit(node, ask, data)
            if ask:
                wanted.append(answer)
            return answer

        _threads(_cpu, threads)
        _sched_watch(self._scheduler, _CALLBACK(called), overlay.user_data)
        assert _sched_compute(self._scheduler, self._graph) == 0
        return wanted

    def nodes(self) -> list[int]:
        return [_node(self._graph, i) for i in range(_n_nodes(self._graph))]


def numbers(tensor: int, *shape: int, dtype: type = np.float32) -> NDArray:
    """A copy of what is in a contiguous tensor."""
    count = int(np.prod(shape))
    kind = {4: ctypes.c_uint32, 2: ctypes.c_uint16}[np.dtype(dtype).itemsize]
    raw = (kind * count).from_address(_data(tensor))
    assert ctypes.sizeof(raw) == _nbytes(tensor)
    return np.frombuffer(bytes(raw), dtype).reshape(shape)


def walk(overlay: _overlay.Overlay, nodes: Sequence[int]) -> list[bool]:
    """What ggml's scheduler does with a callback, on a graph that is computed; what was wanted.

    No memory is used twice in these graphs, so that all may be computed before the first edit.
    """
    callback = ctypes.CFUNCTYPE(ctypes.c_bool, _P, ctypes.c_bool, _P)(overlay.callback)
    wanted = []
    for node in nodes:
        wanted.append(callback(node, True, overlay.user_data))
        if wanted[-1]:
            assert callback(node, False, overlay.user_data)
    return wanted


def overlay_with(plan: _overlay.Plan | None, **options) -> _overlay.Overlay:
    """An overlay on which the plan is published."""
    overlay = _overlay.Overlay(_overlay.probe(LLAMA), **options)
    overlay.publish(plan)
    return overlay


def edited(graph: Graph, *edits: _overlay.Edit, tokens: int = 1, **options) -> list[int]:
    """Compute a graph, then edit it as one decode of so many tokens; the hits of each edit."""
    plan = _overlay.Plan(edits)
    overlay = overlay_with(plan, **options)
    graph.compute()
    overlay.begin(np.zeros(tokens, np.int32))
    walk(overlay, graph.nodes())
    overlay.finish()
    return overlay.hits(plan).tolist()
