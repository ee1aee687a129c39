"""A two-layer base of the llama family, and adapters for it, made in memory."""

import io
import json
from contextlib import contextmanager

import numpy as np
from safetensors import numpy as safetensors

from veneer.formats.gguf_writer import NewTensor, write

WIDTH, HEADS, HEADS_KV, HEAD, INNER, VOCAB, LAYERS = 16, 4, 2, 4, 24, 12, 2

# Module -> (outputs, inputs), as in a Hugging Face state dict.
MODULES = {
    f"model.layers.{layer}.{path}": shape
    for layer in range(LAYERS)
    for path, shape in {
        "self_attn.q_proj": (HEADS * HEAD, WIDTH),
        "self_attn.k_proj": (HEADS_KV * HEAD, WIDTH),
        "self_attn.v_proj": (HEADS_KV * HEAD, WIDTH),
        "self_attn.o_proj": (WIDTH, HEADS * HEAD),
        "mlp.gate_proj": (INNER, WIDTH),
        "mlp.up_proj": (INNER, WIDTH),
        "mlp.down_proj": (WIDTH, INNER),
    }.items()
}
GGUF_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


class Files(dict):
    """A source in memory: {file name: bytes}."""

    def names(self):
        return tuple(self)

    @contextmanager
    def open(self, name):
        yield io.BytesIO(self[name])


def gguf_name(module):
    """The GGUF name of a module inside a layer."""
    _, _, layer, path = module.split(".", 3)
    return f"blk.{layer}.{GGUF_NAMES[path]}.weight"


def base_metadata():
    return {
        "general.architecture": "llama",
        "general.type": "model",
        "general.name": "Tiny",
        "general.basename": "tiny",
        "general.size_label": "5K",
        "general.license": "apache-2.0",
        "general.file_type": 0,
        "llama.block_count": LAYERS,
        "llama.context_length": 64,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS_KV,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": HEAD,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.merges": ["t 0"],
        "tokenizer.ggml.tokens": [f"t{i}" for i in range(VOCAB)],
        "tokenizer.ggml.scores": np.zeros(VOCAB, np.float32),
        "tokenizer.ggml.token_type": np.ones(VOCAB, np.int32),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": "{{ messages }}",
    }


def base_shapes(*, tied=False):
    """GGUF tensor name -> shape in numpy's order."""
    shapes = {"token_embd.weight": (VOCAB, WIDTH), "output_norm.weight": (WIDTH,)}
    if not tied:
        shapes["output.weight"] = (VOCAB, WIDTH)
    shapes |= {gguf_name(module): shape for module, shape in MODULES.items()}
    for layer in range(LAYERS):
        shapes |= {f"blk.{layer}.{norm}.weight": (WIDTH,) for norm in ("attn_norm", "ffn_norm")}
    return shapes


def gguf_bytes(metadata, arrays):
    out = io.BytesIO()
    kinds = {"float32": "F32", "float16": "F16", "uint16": "BF16"}
    new = [
        NewTensor(name, array.shape, kinds[str(array.dtype)], lambda array=array: array)
        for name, array in arrays.items()
    ]
    write(out, metadata, new)
    return out.getvalue()


def base_bytes(changes=None, shapes=None, *, tied=False):
    """A base; `changes` replaces metadata and shapes of tensors, None removes."""
    metadata = base_metadata() | (changes or {})
    metadata = {key: value for key, value in metadata.items() if value is not None}
    wanted = base_shapes(tied=tied) | (shapes or {})
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in wanted.items()
        if shape is not None
    }
    return gguf_bytes(metadata, arrays)


def base_file(*args, **options):
    return io.BytesIO(base_bytes(*args, **options))


def factors(modules=None, rank=4, dtype=np.float32, seed=1):
    """Random factors: {module: (A, B)}; `rank` may be a dict by module."""
    rng = np.random.default_rng(seed)
    made = {}
    for module, (out, inner) in (modules or MODULES).items():
        r = rank[module] if isinstance(rank, dict) else rank
        a, b = rng.standard_normal((r, inner)), rng.standard_normal((out, r))
        made[module] = (a.astype(dtype), b.astype(dtype))
    return made


def peft_files(made, more=None, **config):
    """A PEFT adapter of these factors; `more` adds tensors by their full name."""
    arrays = {}
    for module, (a, b) in made.items():
        arrays[f"base_model.model.{module}.lora_A.weight"] = np.ascontiguousarray(a)
        arrays[f"base_model.model.{module}.lora_B.weight"] = np.ascontiguousarray(b)
    fields = {
        "peft_type": "LORA",
        "r": 4,
        "lora_alpha": 8,
        "base_model_name_or_path": "org/Tiny-5K",
    }
    return Files(
        {
            "adapter_config.json": json.dumps(fields | config).encode(),
            "adapter_model.safetensors": safetensors.save(arrays | (more or {})),
        }
    )


def mlx_files(made, *, more=None, parameters=None, **config):
    """An mlx-lm adapter of the same factors, the other way round."""
    arrays = {}
    for module, (a, b) in made.items():
        arrays[f"{module}.lora_a"] = np.ascontiguousarray(a.T)
        arrays[f"{module}.lora_b"] = np.ascontiguousarray(b.T)
    fields = {
        "fine_tune_type": "lora",
        "num_layers": 16,
        "lora_parameters": {"rank": 4, "scale": 2.0, "dropout": 0.0} | (parameters or {}),
        "model": "org/Tiny-5K",
        "batch_size": 4,
    }
    return Files(
        {
            "adapter_config.json": json.dumps(fields | config).encode(),
            "adapters.safetensors": safetensors.save(arrays | (more or {})),
        }
    )


def lora_metadata(**changes):
    metadata = {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 8.0,
    } | {key.replace("__", "."): value for key, value in changes.items()}
    return {key: value for key, value in metadata.items() if value is not None}


def lora_file(pairs, **changes):
    """A GGUF LoRA of {GGUF tensor: (A, B)}."""
    arrays = {}
    for name, (a, b) in pairs.items():
        arrays |= {f"{name}.lora_a": a, f"{name}.lora_b": b}
    return Files({"lora.gguf": gguf_bytes(lora_metadata(**changes), arrays)})
