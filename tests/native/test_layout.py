"""The layout of ggml's tensors, as the probe finds it in the library that is loaded."""

import ctypes
import ctypes.util

import llama_cpp.llama_cpp as llama
import pytest

from tests.native.ggml import F16, LLAMA, Graph
from veneer import _overlay


def _at(tensor: int, offset: int, kind: type) -> int:
    return kind.from_address(tensor + offset).value


def test_the_fields_hold_what_ggml_was_told(graph: Graph, normal):
    fields = _overlay.probe(LLAMA).fields
    w = graph.tensor(normal(5, 3), "weight")
    x = graph.tensor(normal(2, 3))
    y = graph.node("mul_mat", w, x, name="product")
    assert [_at(y, fields["ne"] + 8 * i, ctypes.c_int64) for i in range(4)] == [5, 2, 1, 1]
    assert [_at(y, fields["nb"] + 8 * i, ctypes.c_int64) for i in range(2)] == [4, 20]
    assert [_at(y, fields["src"] + 8 * i, ctypes.c_uint64) for i in range(2)] == [w, x]
    assert ctypes.string_at(y + fields["name"]) == b"product"
    half = graph.tensor(normal(4).astype("float16"))
    assert _at(half, fields["type"], ctypes.c_int32) == F16


def test_the_numbers_of_operations_are_those_that_ggml_writes_down(graph: Graph, normal):
    layout = _overlay.probe(LLAMA)
    x = graph.tensor(normal(2, 3))
    for name in ("MUL_MAT", "ADD", "MUL"):
        node = graph.node(name.lower(), x, x)
        assert _at(node, layout.fields["op"], ctypes.c_int32) == layout.ops[name]


def test_a_library_that_is_not_loaded_is_refused_by_name(tmp_path):
    with pytest.raises(_overlay.ProbeError, match=r"nowhere\.so is not loaded in this process"):
        _overlay.probe(str(tmp_path / "nowhere.so"))


def test_a_library_that_is_not_ggml_is_refused_with_what_it_lacks():
    with pytest.raises(_overlay.ProbeError, match="has no function ggml_init"):
        _overlay.probe(ctypes.util.find_library("m") or "libm.so.6")


def test_the_callback_has_the_form_that_llama_takes():
    parameters = llama.llama_context_default_params()
    overlay = _overlay.Overlay(_overlay.probe(LLAMA))
    parameters.cb_eval = ctypes.cast(overlay.callback, type(parameters.cb_eval))
    assert ctypes.cast(parameters.cb_eval, ctypes.c_void_p).value == overlay.callback
