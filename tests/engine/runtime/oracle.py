"""A forward pass of a tiny llama in numpy, from its weights as Hugging Face has them.

Nothing here uses the code under test: an adapter is tried by changing the weights themselves.
"""

import io

import numpy as np

from tests.engine.adapters import tiny

WORDS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
VOCAB = len(WORDS)
HEADS = {"self_attn.q_proj": tiny.HEADS, "self_attn.k_proj": tiny.HEADS_KV}
EPSILON, THETA = 1e-5, 10_000.0


def weights(*, tied, biased):
    """Random weights by module, (out, in); biases and norms by module, under `.bias`, `.norm`."""
    rng = np.random.default_rng(7)

    def normal(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    made = {module: normal(*shape) for module, shape in tiny.MODULES.items()}
    made["model.embed_tokens"] = normal(VOCAB, tiny.WIDTH) * 3
    if not tied:
        made["lm_head"] = normal(VOCAB, tiny.WIDTH) * 3
    for name in norm_names():
        made[name] = 1 + normal(tiny.WIDTH)
    if biased:
        for module in tiny.MODULES:
            if module.endswith(("q_proj", "k_proj", "v_proj")):
                made[f"{module}.bias"] = normal(len(made[module]))
    return made


def norm_names():
    inside = ("input_layernorm", "post_attention_layernorm")
    layers = range(tiny.LAYERS)
    return [
        "model.norm",
        *(f"model.layers.{layer}.{name}" for layer in layers for name in inside),
    ]


def turned(module, rows):
    """Rows in the order in which the converter writes them: the halves of each head in turns."""
    heads = next((n for end, n in HEADS.items() if module.removesuffix(".bias").endswith(end)), 0)
    if not heads:
        return rows
    result, size = np.empty_like(rows), len(rows) // heads
    for head in range(heads):
        for half in range(2):
            for i in range(size // 2):
                source = head * size + half * (size // 2) + i
                result[head * size + 2 * i + half] = rows[source]
    return result


def gguf_name(module):
    outer = {
        "model.embed_tokens": "token_embd.weight",
        "lm_head": "output.weight",
        "model.norm": "output_norm.weight",
    }
    if module in outer:
        return outer[module]
    if module.endswith(".bias"):
        return tiny.gguf_name(module.removesuffix(".bias")).replace(".weight", ".bias")
    for path, name in (
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
    ):
        if module.endswith(path):
            return f"blk.{module.split('.')[2]}.{name}.weight"
    return tiny.gguf_name(module)


def base_bytes(made):
    """The model as a GGUF file in F32."""
    metadata = tiny.base_metadata() | {
        "llama.context_length": 512,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": WORDS,
        "tokenizer.ggml.scores": np.zeros(VOCAB, np.float32),
        "tokenizer.ggml.token_type": np.array([2, 3, 3] + [6] * 256, np.int32),
    }
    return tiny.gguf_bytes(metadata, {gguf_name(m): turned(m, w) for m, w in made.items()})


def base_file(made):
    return io.BytesIO(base_bytes(made))


def logits(made, ids, directions=None):
    """The logits after these tokens; `directions` are added behind layers, by their number."""
    x = made["model.embed_tokens"][list(ids)].astype(np.float64)
    for layer in range(tiny.LAYERS):
        inside = f"model.layers.{layer}."
        x = x + _attention(made, f"{inside}self_attn.", _norm(x, made[f"{inside}input_layernorm"]))
        x = x + _feed_forward(
            made, f"{inside}mlp.", _norm(x, made[f"{inside}post_attention_layernorm"])
        )
        x = x + (directions or {}).get(layer, 0)
    head = made.get("lm_head", made["model.embed_tokens"])
    return _norm(x[-1], made["model.norm"]) @ head.T.astype(np.float64)


def _norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain


def _linear(made, module, x):
    return x @ made[module].T.astype(np.float64) + made.get(f"{module}.bias", 0)


def _attention(made, inside, x):
    q, k, v = (
        _linear(made, f"{inside}{name}_proj", x).reshape(len(x), -1, tiny.HEAD).swapaxes(0, 1)
        for name in "qkv"
    )
    q, k = _rotated(q), _rotated(k)
    k, v = (np.repeat(part, tiny.HEADS // tiny.HEADS_KV, axis=0) for part in (k, v))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(tiny.HEAD)
    scores[:, *np.triu_indices(len(x), 1)] = -np.inf
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    return _linear(made, f"{inside}o_proj", (shares @ v).swapaxes(0, 1).reshape(len(x), -1))


def _rotated(heads):
    """Dimension i together with i + d/2, as in the Hugging Face model."""
    half = tiny.HEAD // 2
    angles = np.arange(heads.shape[1])[:, None] * THETA ** (-np.arange(half) / half)
    one, other = heads[..., :half], heads[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([one * cos - other * sin, other * cos + one * sin], axis=-1)


def _feed_forward(made, inside, x):
    gate = _linear(made, f"{inside}gate_proj", x)
    inner = gate / (1 + np.exp(-gate)) * _linear(made, f"{inside}up_proj", x)
    return _linear(made, f"{inside}down_proj", inner)
