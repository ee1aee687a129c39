"""The overlay in llama.cpp itself, over the demo base."""

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path

import llama_cpp.llama_cpp as llama
import numpy as np
import pytest

from tests.native.ggml import LLAMA
from veneer._overlay import Edit, LowRank, Overlay, Plan, probe

N_VOCAB, WIDTH, HIDDEN, HEADS_KV = 49152, 576, 1536, 192
LAYERS = (0, 1, 29)
SIZES = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, HEADS_KV), "attn_v": (WIDTH, HEADS_KV),
    "attn_output": (WIDTH, WIDTH), "ffn_gate": (WIDTH, HIDDEN), "ffn_up": (WIDTH, HIDDEN),
    "ffn_down": (HIDDEN, WIDTH),
}  # fmt: skip


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _unheard(level: int, text: bytes, data: int) -> None:
    pass


class Decoder:
    """A context with the overlay, that takes tokens of several sequences."""

    def __init__(self, path: Path, *, threads: int = 1, rides: bool = False) -> None:
        llama.llama_log_set(_unheard, None)
        parameters = llama.llama_model_default_params()
        self._model = llama.llama_model_load_from_file(str(path).encode(), parameters)
        self.overlay = Overlay(probe(LLAMA), threads, rides=rides)
        settings = llama.llama_context_default_params()
        settings.n_ctx, settings.n_ubatch, settings.n_seq_max = 128, 7, 4
        settings.n_threads = settings.n_threads_batch = threads
        settings.kv_unified = settings.no_perf = True
        settings.cb_eval = ctypes.cast(self.overlay.callback, type(settings.cb_eval))
        settings.cb_eval_user_data = self.overlay.user_data
        self._context = llama.llama_init_from_model(self._model, settings)

    def close(self) -> None:
        llama.llama_free(self._context)
        llama.llama_model_free(self._model)
        llama.llama_log_set(ctypes.cast(None, type(_unheard)), None)

    def run(self, prompts: Sequence[Sequence[int]], plans: Sequence[Plan | None]) -> np.ndarray:
        """The logits after each prompt, all decoded in one batch, each under its own plan."""
        llama.llama_memory_clear(llama.llama_get_memory(self._context), True)
        placed = [(s, p, t) for s, prompt in enumerate(prompts) for p, t in enumerate(prompt)]
        tokens = np.array([token for _, _, token in placed], np.int32)
        rows = np.array([sequence for sequence, _, _ in placed], np.int32)
        batch = self._batch(placed, [len(prompt) for prompt in prompts])
        self.overlay.begin(tokens, plans, rows)
        assert llama.llama_decode(self._context, batch) == 0
        self.overlay.finish()
        llama.llama_batch_free(batch)
        return np.stack([self._logits(i) for i in np.cumsum([len(p) for p in prompts]) - 1])

    def _batch(self, placed: list[tuple[int, int, int]], lengths: list[int]):
        batch = llama.llama_batch_init(len(placed), 0, 1)
        batch.n_tokens = len(placed)
        for i, (sequence, position, token) in enumerate(placed):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = position == lengths[sequence] - 1
        return batch

    def _logits(self, i: int) -> np.ndarray:
        return np.ctypeslib.as_array(
            llama.llama_get_logits_ith(self._context, int(i)), shape=(N_VOCAB,)
        ).copy()


@pytest.fixture(scope="module")
def decoder(base_path: Path) -> Iterator[Decoder]:
    made = Decoder(base_path)
    yield made
    made.close()


def _plan(seed: int) -> Plan:
    rng = np.random.default_rng(seed)

    def half(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.05).astype(np.float16)

    def edit(layer: int, name: str, n_in: int, n_out: int) -> Edit:
        low = LowRank(half(4, n_in), half(n_out, 4))
        return Edit("mul_mat", f"blk.{layer}.{name}.weight", low_rank=[(low, 1.0)])

    return Plan([edit(layer, name, *size) for layer in LAYERS for name, size in SIZES.items()])


def test_four_conversations_under_four_plans_in_one_batch_are_bit_for_bit_their_own_runs(decoder):
    plans = [None, _plan(1), _plan(2), _plan(3)]
    prompts = [[504, 30, 7], [1200, 9, 9, 81, 4], [77], [5, 600, 70, 8, 901, 44, 3, 2, 18]]
    alone = [decoder.run([prompt], [plan])[0] for prompt, plan in zip(prompts, plans, strict=True)]
    together = decoder.run(prompts, plans)
    assert np.array_equal(together, np.stack(alone))
    same_prompt = [decoder.run([prompts[3]], [plan])[0] for plan in plans]
    moved = [np.abs(same_prompt[0] - logits).max() for logits in same_prompt[1:]]
    assert min(moved) > 0.5


def test_every_target_is_hit_once_per_ubatch(decoder):
    plan = _plan(4)
    decoder.run([[504, 30, 7, 1200, 9, 81, 4, 5, 6]], [plan])
    hits = dict(zip((e.name for e in plan.edits), decoder.overlay.hits(plan).tolist(), strict=True))
    # The first of two ubatches has no output: the last layer's feed-forward has no rows there.
    last = {f"blk.29.{name}.weight" for name in ("ffn_gate", "ffn_up", "ffn_down")}
    assert {name for name, count in hits.items() if count == 1} == last
    assert {count for name, count in hits.items() if name not in last} == {2}


def test_after_a_plan_the_base_is_bit_for_bit_what_it_was(decoder):
    prompt = [504, 30, 7, 1200]
    before = decoder.run([prompt], [None])
    changed = decoder.run([prompt], [_plan(5)])
    assert np.array_equal(decoder.run([prompt], [None]), before)
    assert not np.array_equal(changed, before)


def test_nodes_that_carry_edits_out_in_passing_change_no_bit_of_any_token(base_path: Path):
    """Prompts in ubatches of 7, of several plans and of one, each run twice: the second time the
    graphs of the first are known, and most products are edited without a stop."""
    plans = [None, _plan(1), _plan(2), _plan(1)]
    prompts = [[504, 30, 7], [1200, 9, 9, 81, 4], [77], [5, 600, 70, 8, 901, 44, 3, 2, 18]]
    batches = [(prompts, plans), (prompts[3:], plans[2:3]), (prompts[2:3], plans[1:2])] * 2
    results = []
    for rides in (False, True):
        decoder = Decoder(base_path, threads=2, rides=rides)
        results.append([decoder.run(*batch) for batch in batches])
        decoder.close()
    for stopped, ridden in zip(*results, strict=True):
        np.testing.assert_array_equal(ridden, stopped)
