"""Both lanes over the quantized demo base: what they say at each of 2,000 tokens of text, and that
the base's bytes are as they were after ten thousand decodes."""

import ctypes
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.engine.adapters.tiny import Files
from tests.parity.conftest import Report
from veneer.adapters.base import read_base
from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.overlay_form import write_overlay_form
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.compose.plan import ContextSettings
from veneer.runtime.llama import Context, LoadedAdapter, Model, api, overlay_lane
from veneer.runtime.loaded import AdapterSet
from veneer.runtime.overlay_plan import Layer, LoadedForm, plan_of

pytestmark = pytest.mark.parity
TOKENS, BATCH, DECODES = 2_000, 250, 10_000
SETTINGS = ContextSettings(n_ctx=2_048, n_batch=BATCH)
STRENGTHS = {"pirate": 1.0, "terse": -0.5}


class Both:
    """The base with the demo adapters in the form of each lane."""

    def __init__(self, base_path: Path, adapter_paths: dict[str, Path], folder: Path) -> None:
        self.base_path, self.folder = base_path, folder
        self.model = Model(str(base_path), SETTINGS)
        self.context = Context(self.model, SETTINGS, SETTINGS.n_ctx, overlay_lane().context(2))
        self.stock: list[tuple[LoadedAdapter, float]] = []
        self.layers: list[Layer] = []
        for name, strength in STRENGTHS.items():
            files = [path for path in adapter_paths[name].iterdir() if path.is_file()]
            self._load(name, strength, Files({path.name: path.read_bytes() for path in files}))

    def _load(self, name: str, strength: float, source: Files) -> None:
        stock, overlay = self.folder / f"{name}.gguf", self.folder / f"{name}.form"
        adapter = read_adapter(source)
        with self.base_path.open("rb") as file:
            base = read_base(file)
            with stock.open("wb") as out:
                write_runtime_form(adapter, source, base, out)
            with overlay.open("wb") as out:
                write_overlay_form(adapter, source, base, BaseWeights(file), out)
        self.stock.append((LoadedAdapter(self.model, str(stock), name, 0), strength))
        self.layers.append(Layer(LoadedForm(overlay), strength, {}))

    def log_shares(
        self, adapters: AdapterSet, tokens: tuple[int, ...], batch: int = BATCH
    ) -> Iterator[np.ndarray]:
        """The logarithm of the share of each token at each position."""
        adapters.put_on(self.context)
        self.context.clear()
        for start in range(0, len(tokens), batch):
            yield from self._decoded(tokens[start : start + batch], start)

    def _decoded(self, tokens: tuple[int, ...], start: int) -> Iterator[np.ndarray]:
        batch = api.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for number, token in enumerate(tokens):
            batch.token[number], batch.pos[number] = token, start + number
            batch.n_seq_id[number], batch.seq_id[number][0], batch.logits[number] = 1, 0, 1
        self.context.overlay.begin(tokens)
        assert api.llama_decode(self.context.handle, batch) == 0
        self.context.overlay.finish()
        for number in range(len(tokens)):
            row = api.llama_get_logits_ith(self.context.handle, number)
            logits = np.ctypeslib.as_array(row, shape=(self.model.n_vocab,)).astype(np.float64)
            logits -= logits.max()
            yield logits - np.log(np.exp(logits).sum())
        api.llama_batch_free(batch)


@pytest.fixture(scope="module")
def both(
    base_path: Path, adapter_paths: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Both:
    return Both(base_path, adapter_paths, tmp_path_factory.mktemp("both"))


def text() -> str:
    """Prose that comes with every Python: its own history of the language."""
    return (Path(ctypes.__file__).parents[1] / "pydoc_data" / "topics.py").read_text()[:20_000]


def test_the_lanes_differ_no_more_than_one_lane_from_itself(both: Both, report: Report):
    """Over a quantized base a last bit moves what is said, and another size of batch is enough for
    one. So the overlay against stock is held against stock in other batches."""
    tokens = both.model.tokenize(text(), add_special=True, parse_special=False)[:TOKENS]
    assert len(tokens) == TOKENS
    stock, overlay = AdapterSet(stock=tuple(both.stock)), AdapterSet(plan=plan_of(both.layers))
    wanted = [each.astype(np.float32) for each in both.log_shares(stock, tokens)]
    between = divergence(both.log_shares(overlay, tokens), wanted)
    within = divergence(both.log_shares(stock, tokens, BATCH // 50), wanted)
    report.add("SmolLM2-135M Q4_1", "mean KL, overlay against stock", between)
    report.add("SmolLM2-135M Q4_1", "mean KL, stock against itself", within)
    assert 0 <= between < 1.5 * within


def divergence(found: Iterable[np.ndarray], wanted: list[np.ndarray]) -> float:
    """The mean over the positions, in nats."""
    pairs = zip(found, wanted, strict=True)
    return float(np.mean([(np.exp(one) * (one - other)).sum() for one, other in pairs]))


def test_the_base_is_never_written_to(both: Both):
    before = hashlib.sha256(both.base_path.read_bytes()).hexdigest()
    AdapterSet(plan=plan_of(both.layers)).put_on(both.context)
    for number in range(DECODES):
        if number % 200 == 0:
            both.context.clear()
        both.context.decode((number % 1_000,))
    whole = both.base_path.read_bytes()
    assert hashlib.sha256(whole).hexdigest() == before
    seen = 0
    for offset, region in mapped_regions(both.base_path):
        assert region == whole[offset : offset + len(region)]
        seen += len(region)
    # llama.cpp gives back the pages before the tensors.
    assert seen > 0.9 * len(whole)


def mapped_regions(path: Path) -> Iterator[tuple[int, bytes]]:
    """What this process sees in its memory of the mapped file, and where in the file it is."""
    size = path.stat().st_size
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5] == str(path.resolve()):
            start, stop = (int(part, 16) for part in fields[0].split("-"))
            offset = int(fields[2], 16)
            yield offset, ctypes.string_at(start, min(stop - start, size - offset))
