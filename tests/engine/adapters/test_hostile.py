"""Mutated files: nothing but a `VeneerError` escapes, and what is accepted can be written."""

import io
import struct

import pytest
from hypothesis import given

from tests.engine.adapters import tiny
from tests.engine.formats.mutate import COMMON, mutations
from veneer.adapters.base import read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, Incompatible, UnsupportedAdapter
from veneer.formats.gguf import read_header

SOME = {module: tiny.MODULES[module] for module in sorted(tiny.MODULES)[:3]}
BASE = tiny.base_bytes()
PEFT = tiny.peft_files(tiny.factors(SOME))
CONFIG, WEIGHTS = PEFT["adapter_config.json"], PEFT["adapter_model.safetensors"]
LORA = tiny.lora_file({tiny.gguf_name(m): pair for m, pair in tiny.factors(SOME).items()})[
    "lora.gguf"
]


def gguf_parts(raw):
    """Header and data; only headers are mutated, since any data is a valid weight."""
    start = read_header(io.BytesIO(raw)).data_start
    return raw[:start], raw[start:]


BASE_HEAD, BASE_DATA = gguf_parts(BASE)
LORA_HEAD, LORA_DATA = gguf_parts(LORA)
WEIGHTS_HEAD = WEIGHTS[: 8 + struct.unpack("<Q", WEIGHTS[:8])[0]]
WEIGHTS_DATA = WEIGHTS[len(WEIGHTS_HEAD) :]


@pytest.fixture(scope="module")
def base():
    return read_base(io.BytesIO(BASE))


def read_and_write(files, base):
    try:
        adapter = read_adapter(files)
    except (FormatError, UnsupportedAdapter):
        return
    report = check(adapter, base)
    assert report.ok is (report.applies == report.of and not report.problems)
    try:
        write_runtime_form(adapter, files, base, io.BytesIO())
    except (FormatError, Incompatible):
        return
    assert report.ok


@COMMON
@given(mutations(BASE_HEAD))
def test_bases(head):
    try:
        read = read_base(io.BytesIO(head + BASE_DATA))
    except FormatError:
        return
    assert 1 <= read.n_layers <= 512


@COMMON
@given(mutations(WEIGHTS_HEAD))
def test_peft_weights(base, head):
    files = {"adapter_config.json": CONFIG, "adapter_model.safetensors": head + WEIGHTS_DATA}
    read_and_write(tiny.Files(files), base)


@COMMON
@given(mutations(CONFIG))
def test_peft_configs(base, config):
    files = {"adapter_config.json": config, "adapter_model.safetensors": WEIGHTS}
    read_and_write(tiny.Files(files), base)


@COMMON
@given(mutations(LORA_HEAD))
def test_gguf_adapters(base, head):
    read_and_write(tiny.Files({"lora.gguf": head + LORA_DATA}), base)
