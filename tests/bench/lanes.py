"""Contexts over one model that decode in turn: the base, llama.cpp's own LoRA, and the overlay."""

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import gguf
import llama_cpp.llama_cpp as llama
import numpy as np

from tests.native.ggml import LLAMA
from veneer._overlay import Edit, LowRank, Overlay, Plan, probe

RANK, THREADS = 16, 2
Factors = dict[str, tuple[np.ndarray, np.ndarray]]


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _unheard(level: int, text: bytes, data: int) -> None:
    pass


class Shape:
    """The linears of a llama: by name, inputs and outputs."""

    def __init__(self, layers: int, width: int, hidden: int, kv: int) -> None:
        self.layers = layers
        self.linears = {
            "attn_q": (width, width), "attn_k": (width, kv), "attn_v": (width, kv),
            "attn_output": (width, width), "ffn_gate": (width, hidden),
            "ffn_up": (width, hidden), "ffn_down": (hidden, width),
        }  # fmt: skip


DEMO = Shape(layers=30, width=576, hidden=1536, kv=192)
LARGER = Shape(layers=16, width=2048, hidden=8192, kv=512)


Packed = dict[str, LowRank]


def _each(shape: Shape, seed: int) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Rank 16 on all seven linears of each layer, F16."""
    rng = np.random.default_rng(seed)

    def half(*size: int) -> np.ndarray:
        return (rng.standard_normal(size, np.float32) * 0.02).astype(np.float16)

    for layer in range(shape.layers):
        for name, (n_in, n_out) in shape.linears.items():
            yield f"blk.{layer}.{name}.weight", (half(RANK, n_in), half(n_out, RANK))


def random_factors(shape: Shape, seed: int) -> Factors:
    return dict(_each(shape, seed))


def packed_factors(shape: Shape, seed: int) -> Packed:
    """The same, of which nothing but what the overlay keeps is ever in memory at once."""
    return {name: LowRank(*ab) for name, ab in _each(shape, seed)}


def write_lora(path: Path, factors: Factors) -> None:
    """The factors as llama.cpp's own adapters have them."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(RANK))
    for name, (a, b) in factors.items():
        writer.add_tensor(f"{name}.lora_a", a)
        writer.add_tensor(f"{name}.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def merged_plan(packed: Sequence[Packed]) -> Plan:
    return Plan([Edit("mul_mat", n, low_rank=[(p[n], 1.0) for p in packed]) for n in packed[0]])


def overlay_plan(adapters: Sequence[Factors]) -> Plan:
    return merged_plan([{n: LowRank(*ab) for n, ab in factors.items()} for factors in adapters])


class Model:
    def __init__(self, path: Path) -> None:
        llama.llama_log_set(_unheard, None)
        self.handle = llama.llama_model_load_from_file(
            str(path).encode(), llama.llama_model_default_params()
        )
        assert self.handle

    def lora(self, path: Path):
        return llama.llama_adapter_lora_init(self.handle, str(path).encode())


class Lane:
    """A context; with adapters of llama.cpp's own, or with the overlay."""

    def __init__(self, model: Model, loras: Sequence = (), overlay: bool = False) -> None:
        settings = llama.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = 1024, 512, 512
        settings.n_threads = settings.n_threads_batch = THREADS
        settings.n_seq_max, settings.kv_unified, settings.no_perf = 4, True, True
        self.overlay = Overlay(probe(LLAMA), THREADS, rides=True) if overlay else None
        if self.overlay:
            settings.cb_eval = ctypes.cast(self.overlay.callback, type(settings.cb_eval))
            settings.cb_eval_user_data = self.overlay.user_data
        self._context = llama.llama_init_from_model(model.handle, settings)
        self.set_loras(loras)

    def set_loras(self, loras: Sequence) -> None:
        handles = (llama.llama_adapter_lora_p_ctypes * len(loras))(*loras)
        scales = (ctypes.c_float * len(loras))(*[1.0] * len(loras))
        llama.llama_set_adapters_lora(self._context, handles, len(loras), scales)

    def clear(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self._context), True)

    def decode(
        self, tokens: Sequence[int], first: int, sequences: Sequence[int], plans=None
    ) -> float:
        """Seconds for a batch: each token at position `first` of its sequence, or on from there."""
        batch = llama.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        single = len(set(sequences)) == 1
        for i, (token, sequence) in enumerate(zip(tokens, sequences, strict=True)):
            batch.token[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, 1, sequence
            batch.pos[i] = first + (i if single else 0)
            batch.logits[i] = not single or i == len(tokens) - 1
        started = perf_counter()
        if self.overlay:
            rows = None if plans is None else np.array(sequences, np.int32)
            self.overlay.begin(np.array(tokens, np.int32), plans, rows)
        assert llama.llama_decode(self._context, batch) == 0
        if self.overlay:
            self.overlay.finish()
        took = perf_counter() - started
        llama.llama_batch_free(batch)
        return took


def write_random_model(path: Path, shape: Shape, vocabulary: int = 128_256) -> None:
    """A llama in Q4_0 whose weights mean nothing, for what depends on sizes alone."""
    rng = np.random.default_rng(0)
    width, hidden = shape.linears["ffn_up"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(shape.layers)
    writer.add_context_length(2048)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(width // 64)
    writer.add_head_count_kv(shape.linears["attn_k"][1] // 64)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("no_vocab")

    def weight(name: str, n_in: int, n_out: int) -> None:
        blocks = np.empty((n_out, n_in // 32, 18), np.uint8)
        blocks[..., :2] = np.frombuffer(np.float16(0.005).tobytes(), np.uint8)
        blocks[..., 2:] = rng.integers(0, 256, (n_out, n_in // 32, 16), np.uint8)
        kind = gguf.GGMLQuantizationType.Q4_0
        writer.add_tensor(name, blocks.reshape(n_out, -1), raw_dtype=kind)

    weight("token_embd.weight", width, vocabulary)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    for layer in range(shape.layers):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(width, np.float32))
        for name, size in shape.linears.items():
            weight(f"blk.{layer}.{name}.weight", *size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
