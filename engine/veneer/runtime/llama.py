"""A thin binding to llama.cpp, the only module that imports it. Worker process only.

What callers must know: free adapters before their model; a NULL from ctypes is falsy but not
None; a callback that was handed over must be kept alive; some bad inputs abort the process.
Every function here raises `RuntimeRefused` where llama.cpp reports failure.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veneer.compose.plan import ContextSettings
from veneer.errors import (
    ContextFull,
    NonFinite,
    OverlayOff,
    RuntimeMissing,
    RuntimeRefused,
    VeneerError,
)
from veneer.runtime.devices import Devices
from veneer.runtime.overlay import ContextOverlay, OverlayLane

PINNED = "0.3.36"

try:
    import llama_cpp
    from llama_cpp import _ggml
    from llama_cpp import llama_cpp as lib
except (ImportError, OSError, RuntimeError) as error:
    raise RuntimeMissing(
        f"llama.cpp cannot be loaded ({error}). Install llama-cpp-python=={PINNED}."
    ) from error

api: Any = lib
ggml: Any = _ggml.libggml

_KV_TYPES = {"f32": 0, "f16": 1, "q8_0": 8}
_INFO = 2
_NEEDED = (
    "llama_set_adapters_lora",
    "llama_adapter_lora_init",
    "llama_adapter_lora_free",
    "llama_state_seq_get_data",
    "llama_state_seq_set_data",
    "llama_memory_clear",
    "llama_sampler_chain_init",
)


def assert_api() -> None:
    """Raise `RuntimeMissing` unless this is the llama.cpp that Veneer was written for."""
    if llama_cpp.__version__ != PINNED:
        raise RuntimeMissing(
            f"Veneer needs llama-cpp-python {PINNED}; {llama_cpp.__version__} is installed."
        )
    missing = [name for name in _NEEDED if not hasattr(lib, name)]
    if missing:
        raise RuntimeMissing(f"This build of llama.cpp lacks {', '.join(missing)}.")


def build_id() -> str:
    """Names the library and the CPU features it uses: what may change a bit of a result."""
    info = api.llama_print_system_info().decode("utf-8", "replace").strip()
    return f"llama-cpp-python {llama_cpp.__version__}; {info}"


def devices() -> Devices:
    """What this build can compute on."""
    return Devices(ggml)


def overlay_lane() -> OverlayLane:
    """The overlay over this llama.cpp. Raises `OverlayOff`."""
    if "cb_eval" not in {field for field, _ in api.llama_context_params._fields_}:
        raise OverlayOff("this build of llama.cpp calls nobody between its steps.")
    # Of the libraries that it stands on there may be copies in the folder that are not in use.
    names = {"darwin": "libllama.dylib", "win32": "ggml-base.dll"}
    name = names.get(sys.platform, "libllama.so")
    return OverlayLane(Path(llama_cpp.__file__).parent / "lib" / name, only_cpu=devices().only_cpu)


class Logging:
    """Routes what llama.cpp prints to a function, for as long as the process lives."""

    def __init__(self, write: Callable[[str], None]) -> None:
        def callback(level: int, text: bytes, user_data: object) -> None:
            if level >= _INFO:
                write(text.decode("utf-8", "replace"))

        self._kept_alive = api.llama_log_callback(callback)
        api.llama_log_set(self._kept_alive, None)


class Model:
    """A base in memory (mapped from its file), each of its weights a finite number."""

    def __init__(self, path: str, settings: ContextSettings) -> None:
        parameters = api.llama_model_default_params()
        parameters.n_gpu_layers = settings.n_gpu_layers
        chosen = devices().alone(settings.device) if settings.device else None
        parameters.devices = ctypes.cast(chosen, ctypes.c_void_p) if chosen else None
        parameters.check_tensors = True
        self.handle = api.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self.handle:
            raise _why_not_loaded(path, parameters)
        self._vocab = api.llama_model_get_vocab(self.handle)
        self.n_vocab = int(api.llama_vocab_n_tokens(self._vocab))
        self.n_ctx_train = int(api.llama_model_n_ctx_train(self.handle))

    def close(self) -> None:
        """Free it. Its adapters and contexts must be gone already."""
        api.llama_model_free(self.handle)

    def meta(self, key: str) -> str | None:
        """A metadata string of the file, or None."""
        buffer = ctypes.create_string_buffer(1 << 18)
        length = api.llama_model_meta_val_str(self.handle, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if length >= 0 else None

    def token_text(self, token: int) -> str:
        """A token as the vocabulary spells it; empty for none (id -1)."""
        if token < 0:
            return ""
        return api.llama_vocab_get_text(self._vocab, token).decode("utf-8", "replace")

    @property
    def bos(self) -> int:
        """The id of the beginning-of-sequence token, or -1."""
        return int(api.llama_vocab_bos(self._vocab))

    @property
    def eos(self) -> int:
        """The id of the end-of-sequence token, or -1."""
        return int(api.llama_vocab_eos(self._vocab))

    def ends_generation(self, token: int) -> bool:
        """Whether the token ends an answer."""
        return bool(api.llama_vocab_is_eog(self._vocab, token))

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> tuple[int, ...]:
        """Text to token ids."""
        data = text.encode()
        room = len(data) + 16
        for _ in range(2):
            tokens = (api.llama_token * room)()
            count = api.llama_tokenize(
                self._vocab, data, len(data), tokens, room, add_special, parse_special
            )
            if count >= 0:
                return tuple(tokens[:count])
            # A vocabulary without words spells every space in three bytes, and tells how many
            # tokens that takes.
            room = -count
        raise RuntimeRefused("llama.cpp could not tokenize this text.")

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; control tokens stand for none."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = api.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            size = -count


def _why_not_loaded(path: str, parameters: Any) -> VeneerError:
    parameters.check_tensors = False
    handle = api.llama_model_load_from_file(os.fsencode(path), parameters)
    if not handle:
        return RuntimeRefused(f"llama.cpp could not load the base {path}.")
    api.llama_model_free(handle)
    return NonFinite(f"The base {path} has weights that are not numbers (NaN or infinity).")


class LoadedAdapter:
    """A LoRA in memory, belonging to one model. `bytes` is about what it takes there."""

    def __init__(self, model: Model, path: str, name: str, size: int) -> None:
        self.bytes = size
        self.handle = api.llama_adapter_lora_init(model.handle, os.fsencode(path))
        if not self.handle:
            raise RuntimeRefused(f"llama.cpp could not load the adapter “{name}”.")

    def close(self) -> None:
        """Free it. No context may have it in its set."""
        api.llama_adapter_lora_free(self.handle)


class Context:
    """One sequence of tokens under one set of adapters.

    An overlay sees every decode, and edits nothing while it has no plan.
    """

    def __init__(
        self,
        model: Model,
        settings: ContextSettings,
        n_ctx: int,
        overlay: ContextOverlay | None = None,
    ) -> None:
        parameters = api.llama_context_default_params()
        parameters.n_ctx = n_ctx
        parameters.n_batch = parameters.n_ubatch = min(settings.n_batch, n_ctx)
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = settings.n_threads
        parameters.type_k = parameters.type_v = _KV_TYPES[settings.type_kv]
        if settings.type_kv == "f32":
            # Flash attention would round the keys and values to 16 bits all the same.
            parameters.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
        parameters.no_perf = True
        parameters.kv_unified = True
        self.overlay = overlay
        if overlay is not None:
            parameters.cb_eval = api.ggml_backend_sched_eval_callback(overlay.callback)
            parameters.cb_eval_user_data = overlay.user_data
        self._has_adapters = False
        self._n_vocab = model.n_vocab
        self.n_batch = int(parameters.n_batch)
        self.handle = api.llama_init_from_model(model.handle, parameters)
        if not self.handle:
            raise RuntimeRefused(f"llama.cpp could not make a context of {n_ctx} tokens.")
        self.n_ctx = int(api.llama_n_ctx(self.handle))
        self._memory = api.llama_get_memory(self.handle)

    def close(self) -> None:
        """Free it. Its adapter set must be empty."""
        api.llama_free(self.handle)

    def set_adapters(self, adapters: Sequence[tuple[LoadedAdapter, float]]) -> None:
        """Replace the whole set of llama.cpp's own adapters.

        Emptied first: equal-looking sets are otherwise kept as is. Does nothing where there was
        none and is none: llama.cpp would prepare its next decode anew.
        """
        if self._has_adapters:
            self._set(())
        if adapters:
            self._set(adapters)
        self._has_adapters = bool(adapters)

    def _set(self, adapters: Sequence[tuple[LoadedAdapter, float]]) -> None:
        count = len(adapters)
        handles = (api.llama_adapter_lora_p_ctypes * count)(*(a.handle for a, _ in adapters))
        scales = (ctypes.c_float * count)(*(scale for _, scale in adapters))
        if api.llama_set_adapters_lora(self.handle, handles, count, scales) != 0:
            raise RuntimeRefused("llama.cpp refused the set of adapters.")

    def clear(self) -> None:
        """Forget every token."""
        api.llama_memory_clear(self._memory, True)

    def decode(self, tokens: Sequence[int]) -> None:
        """Append at most `n_batch` tokens to the sequence and compute the last one's logits."""
        array = (api.llama_token * len(tokens))(*tokens)
        if self.overlay is not None:
            self.overlay.begin(tokens)
        code = api.llama_decode(self.handle, api.llama_batch_get_one(array, len(tokens)))
        if code == 1:
            raise ContextFull(f"The context of {self.n_ctx} tokens is full.")
        if code != 0:
            raise RuntimeRefused(f"llama.cpp could not decode (code {code}).")
        if self.overlay is not None:
            self.overlay.finish()

    def logits(self) -> NDArray[np.float32]:
        """The last decoded token's logits, float32 of shape (n_vocab,); a copy."""
        pointer = api.llama_get_logits_ith(self.handle, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._n_vocab,)).astype(np.float32)

    def save(self) -> bytes:
        """The sequence's state, to be restored in a context of the same execution only."""
        size = api.llama_state_seq_get_size(self.handle, 0)
        buffer = (ctypes.c_uint8 * size)()
        written = api.llama_state_seq_get_data(self.handle, buffer, size, 0)
        return bytes(memoryview(buffer)[:written])

    def restore(self, state: bytes) -> bool:
        """Replace the sequence by a saved one. False if llama.cpp would not have it."""
        self.clear()
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        return bool(api.llama_state_seq_set_data(self.handle, buffer, len(state), 0))
