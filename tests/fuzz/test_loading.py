"""The property: the reader raises only what it may, in time, and what it accepts kills nothing."""

import functools
import io
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.adapters.tiny import Files
from tests.engine.formats.mutate import mutations
from tests.fuzz.adapters import gguf_loras, peft_folders
from tests.fuzz.edits import models
from tests.fuzz.models import NAMES, Model, bpe, model, pack
from veneer.adapters.base import Base, read_base
from veneer.adapters.compat import check
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.errors import FormatError, Incompatible, UnsupportedAdapter
from veneer.formats.gguf import read_header

pytestmark = pytest.mark.fuzz
CASES = int(os.environ.get("VENEER_FUZZ_CASES", "2000"))
SHARED = settings(
    deadline=None,
    derandomize="VENEER_FUZZ_CASES" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
REFUSED = 3


class Zygote:
    """Answers how a child that loaded these files ended. Counts the answers."""

    def __init__(self, folder: Path) -> None:
        self.base, self.adapter = folder / "base.gguf", folder / "adapter.gguf"
        self.said = folder / "said"
        self.counts: Counter[str] = Counter()
        self._said = self.said.open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )

    def survives(self, base: bytes, adapter: bytes | None = None) -> None:
        self.base.write_bytes(base)
        if adapter is not None:
            self.adapter.write_bytes(adapter)
        before = self.said.stat().st_size
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        question = [str(self.base), None if adapter is None else str(self.adapter)]
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.counts["refused by llama.cpp" if answer["status"] == REFUSED else "loaded"] += 1
        said = self.said.read_bytes()[before:].decode("utf-8", "replace")
        assert answer["status"] in (0, REFUSED), f"{answer} {said[-1500:]}"

    def close(self) -> None:
        self._process.communicate(timeout=10)
        self._said.close()
        assert self._process.returncode == 0


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    made = Zygote(tmp_path_factory.mktemp("zygote"))
    yield made
    made.close()
    print(f"\nfuzz: {dict(made.counts)}")


def accepted(raw: bytes) -> Base | None:
    started = time.monotonic()
    try:
        return read_base(io.BytesIO(raw))
    except FormatError:
        return None
    finally:
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", NAMES)
def test_the_models_themselves_run(zygote: Zygote, name: str):
    for made in (model(name), bpe(model(name))):
        assert accepted(pack(made)) is not None
        zygote.survives(pack(made))


@settings(SHARED, max_examples=CASES // 2)
@given(models())
def test_edited_bases(zygote: Zygote, made: Model):
    raw = pack(made)
    if accepted(raw) is None:
        zygote.counts["refused by the reader"] += 1
    else:
        zygote.survives(raw)


@settings(SHARED, max_examples=CASES // 10)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_bases_with_other_bytes(zygote: Zygote, data: st.DataObject, name: str):
    raw = pack(model(name))
    start = read_header(io.BytesIO(raw)).data_start
    edited = data.draw(mutations(raw[:start])) + raw[start:]
    if accepted(edited) is None:
        zygote.counts["refused by the reader"] += 1
    else:
        zygote.survives(edited)


@functools.cache
def tiny_base(name: str) -> tuple[bytes, Base]:
    raw = pack(model(name))
    return raw, read_base(io.BytesIO(raw))


def run(zygote: Zygote, name: str, files: Files) -> None:
    """Read, check, convert and run; each may refuse, in its own words."""
    raw, base = tiny_base(name)
    try:
        adapter = read_adapter(files)
    except (FormatError, UnsupportedAdapter):
        zygote.counts["refused by the reader"] += 1
        return
    report = check(adapter, base)
    form = io.BytesIO()
    try:
        write_runtime_form(adapter, files, base, form)
    except (FormatError, Incompatible):
        zygote.counts["refused for the base"] += 1
        return
    assert report.ok
    zygote.survives(raw, form.getvalue())


@settings(SHARED, max_examples=CASES // 5)
@given(gguf_loras())
def test_edited_loras(zygote: Zygote, made: tuple[str, Files]):
    run(zygote, *made)


@settings(SHARED, max_examples=CASES // 5)
@given(peft_folders())
def test_edited_peft_adapters(zygote: Zygote, made: tuple[str, Files]):
    run(zygote, *made)


def test_enough_of_them_were_loaded(zygote: Zygote):
    # Otherwise the tests above would have shown no more than that everything is refused.
    assert zygote.counts["loaded"] >= CASES // 10
