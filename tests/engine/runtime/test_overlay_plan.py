"""Every operation of the overlay lane, in a real worker, against changed weights in numpy."""

import io
import json
from dataclasses import dataclass

import numpy as np
import pytest
from safetensors import numpy as safetensors

from tests.engine.adapters import tiny
from tests.engine.runtime import oracle
from veneer.adapters.base import read_base
from veneer.adapters.base_weights import BaseWeights
from veneer.adapters.dora import write_gains
from veneer.adapters.overlay_file import OverlayFile
from veneer.adapters.overlay_form import FORM_TYPE, write_overlay_form
from veneer.adapters.reading import read_adapter
from veneer.compose.plan import ContextSettings, PlannedAdapter, RuntimePlan
from veneer.errors import AdapterInert, Incompatible, NotReached
from veneer.identity import sha256_bytes
from veneer.runtime.client import RuntimeClient
from veneer.runtime.protocol import Limits

IDS = (1, 70, 104, 111, 200, 35, 5, 70, 70, 258, 99, 12)
CLOSE = 1e-3
"""F32 against float64 over two layers, whose logits are around 10."""
L0, L1 = "model.layers.0.", "model.layers.1."
QKV = {m: s for m, s in tiny.MODULES.items() if m.endswith(("q_proj", "k_proj", "v_proj"))}
RNG = np.random.default_rng(3)


def normal(*shape, size=0.5):
    return (RNG.standard_normal(shape) * size).astype(np.float32)


def named(values):
    return {f"base_model.model.{name}": array for name, array in values.items()}


def other(kind, arrays, **config):
    fields = {
        "peft_type": kind,
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "org/Tiny-5K",
    }
    return tiny.Files(
        {
            "adapter_config.json": json.dumps(fields | config).encode(),
            "adapter_model.safetensors": safetensors.save(named(arrays)),
        }
    )


@dataclass(frozen=True)
class Kind:
    """An adapter, and what it does to weights at a strength (in place)."""

    source: tiny.Files
    change: object
    base: str = "untied"


def lora(modules, *, seed=1, more=None, dtype=np.float32, **config):
    """Rank 4 and alpha 8, so scaling 2. Gives the files, and module -> B A times 2."""
    made = tiny.factors(modules, seed=seed)
    made = {m: (a.astype(dtype), (b / 8).astype(dtype)) for m, (a, b) in made.items()}
    deltas = {m: 2 * b.astype(np.float32) @ a.astype(np.float32) for m, (a, b) in made.items()}
    return tiny.peft_files(made, named(more or {}), **config), deltas


def _lora(dtype=np.float32, seed=1):
    files, deltas = lora(tiny.MODULES, dtype=dtype, seed=seed)

    def change(made, s):
        for module, delta in deltas.items():
            made[module] = made[module] + s * delta

    return Kind(files, change)


def _dora():
    lengths = {m: np.abs(normal(shape[0])) + 1 for m, shape in tiny.MODULES.items()}
    vectors = {f"{m}.lora_magnitude_vector": v for m, v in lengths.items()}
    files, deltas = lora(tiny.MODULES, more=vectors, use_dora=True)

    def change(made, s):
        plain = {m: made[m] for m in deltas}
        for module, delta in deltas.items():
            rows = plain[module] + s * delta
            lengths_now = np.sqrt((rows**2).sum(1, keepdims=True))
            made[module] = lengths[module][:, None] * rows / lengths_now

    return Kind(files, change, "biased")


def _ia3():
    outputs = {m: normal(s[0]) for m, s in QKV.items()}
    inputs = {f"{layer}mlp.down_proj": normal(tiny.INNER) for layer in (L0, L1)}
    arrays = {f"{m}.ia3_l": v[:, None] for m, v in outputs.items()}
    arrays |= {f"{m}.ia3_l": v[None, :] for m, v in inputs.items()}
    files = other("IA3", arrays, target_modules=["x"], feedforward_modules=["down_proj"])

    def change(made, s):
        for module, v in outputs.items():
            made[module] = (1 + s * (v - 1))[:, None] * made[module]
            made[f"{module}.bias"] = (1 + s * (v - 1)) * made[f"{module}.bias"]
        for module, v in inputs.items():
            made[module] = made[module] * (1 + s * (v - 1))

    return Kind(files, change, "biased")


def _bias():
    new = {m: normal(s[0]) for m, s in QKV.items()}
    files, deltas = lora(QKV, more={f"{m}.bias": b for m, b in new.items()}, bias="all")

    def change(made, s):
        for module, bias in new.items():
            old = made[f"{module}.bias"]
            made[f"{module}.bias"] = old + s * (bias - old)
            made[module] = made[module] + s * deltas[module]

    return Kind(files, change, "biased")


def _lora_bias():
    new = {m: normal(s[0]) for m, s in tiny.MODULES.items()}
    more = {f"{m}.lora_B.bias": b for m, b in new.items()}
    files, deltas = lora(tiny.MODULES, more=more, lora_bias=True)

    def change(made, s):
        for module, bias in new.items():
            made[f"{module}.bias"] = made.get(f"{module}.bias", 0) + s * 2 * bias
            made[module] = made[module] + s * deltas[module]

    return Kind(files, change, "biased")


def _saved():
    head, norm = normal(oracle.VOCAB, tiny.WIDTH), normal(tiny.WIDTH)
    inner, tokens = normal(tiny.WIDTH), normal(oracle.VOCAB, tiny.WIDTH)
    new = {
        "lm_head": head,
        "model.norm": norm,
        f"{L1}input_layernorm": inner,
        "model.embed_tokens": tokens,
    }
    more = {f"{m}.weight": w for m, w in new.items()}
    saved = ["lm_head", "norm", "input_layernorm", "embed_tokens"]
    files, deltas = lora(QKV, more=more, modules_to_save=saved)

    def change(made, s):
        for module, weight in new.items():
            made[module] = made[module] + s * (weight - made[module])
        for module, delta in deltas.items():
            made[module] = made[module] + s * delta

    return Kind(files, change)


def _rows(base):
    tokens, new = (200, 99, 12), normal(3, tiny.WIDTH, size=4)
    arrays = {"model.embed_tokens.trainable_tokens_delta": new}
    files = other("TRAINABLE_TOKENS", arrays, token_indices=list(tokens))

    def change(made, s):
        # A tied head is the same matrix, so that it changes, too.
        whole = made["model.embed_tokens"].copy()
        for row, token in zip(new, tokens, strict=True):
            whole[token] += s * (row - whole[token])
        made["model.embed_tokens"] = whole

    return Kind(files, change, base)


def _sparse():
    entries = {
        f"{L0}self_attn.q_proj": [(0, 3), (1, 0), (5, 5), (15, 2)],
        f"{L1}mlp.down_proj": [(2, 20), (2, 21), (9, 0)],
        "model.embed_tokens": [(70, 3), (104, 1), (250, 0)],
    }
    values = {m: normal(len(places), size=2) for m, places in entries.items()}
    shapes = tiny.MODULES | {"model.embed_tokens": (oracle.VOCAB, tiny.WIDTH)}
    arrays = {f"{m}.indices": np.array(p, np.int32) for m, p in entries.items()}
    arrays |= {f"{m}.values": v for m, v in values.items()}
    metadata = {
        "format": "veneer.sparse_delta",
        "version": "1",
        "shapes": json.dumps({m: shapes[m] for m in entries}),
        "base_model": "org/Tiny-5K",
    }

    def change(made, s):
        for module, places in entries.items():
            made[module] = made[module].copy()
            for (row, column), value in zip(places, values[module], strict=True):
                made[module][row, column] += s * value

    return Kind(tiny.Files({"delta.safetensors": safetensors.save(arrays, metadata)}), change)


def _ends(base):
    head_a, head_b = normal(4, tiny.WIDTH), normal(oracle.VOCAB, 4)
    token_a, token_b = normal(4, oracle.VOCAB), normal(tiny.WIDTH, 4)
    more = {
        "lm_head.lora_A.weight": head_a,
        "lm_head.lora_B.weight": head_b,
        "model.embed_tokens.lora_embedding_A": token_a,
        "model.embed_tokens.lora_embedding_B": token_b,
    }
    files, deltas = lora(QKV, more=more)

    def change(made, s):
        made["lm_head"] = made.get("lm_head", made["model.embed_tokens"])
        made["lm_head"] = made["lm_head"] + s * 2 * head_b @ head_a
        made["model.embed_tokens"] = made["model.embed_tokens"] + s * 2 * (token_b @ token_a).T
        for module, delta in deltas.items():
            made[module] = made[module] + s * delta

    return Kind(files, change, base)


def _direction():
    vector = normal(tiny.WIDTH, size=2)
    metadata = {
        "general.architecture": "controlvector",
        "controlvector.model_hint": "llama",
        "controlvector.layer_count": 1,
    }
    files = tiny.Files({"happy.gguf": tiny.gguf_bytes(metadata, {"direction.1": vector})})

    def change(made, s):
        return {1: s * vector}

    return Kind(files, change)


KINDS = {
    "lora": _lora(),
    "lora in 16 bits": _lora(np.float16, seed=2),
    "dora": _dora(),
    "ia3": _ia3(),
    "biases": _bias(),
    "lora biases": _lora_bias(),
    "modules to save": _saved(),
    "tokens": _rows("untied"),
    "tokens, tied": _rows("tied"),
    "sparse": _sparse(),
    "head and embedding": _ends("untied"),
    "head and embedding, tied": _ends("tied"),
    "direction": _direction(),
}
BASES = {
    "untied": oracle.weights(tied=False, biased=False),
    "biased": oracle.weights(tied=False, biased=True),
    "tied": oracle.weights(tied=True, biased=False),
}


class Bench:
    """A worker, and what has been written for it."""

    def __init__(self, folder):
        self.folder = folder
        self.runtime = RuntimeClient(folder / "runtime.log")
        self.runtime.start()
        for name, made in BASES.items():
            (folder / f"{name}.gguf").write_bytes(oracle.base_bytes(made))

    def planned(self, name, strength, base):
        """An adapter's form and gains as files."""
        source = KINDS[name].source
        adapter = read_adapter(source)
        with (self.folder / f"{base}.gguf").open("rb") as file:
            weights = BaseWeights(file)
            form = io.BytesIO()
            write_overlay_form(adapter, source, read_base(file), weights, form)
            path = self.folder / f"{name}-{base}.form"
            path.write_bytes(form.getvalue())
            gains = None
            if name == "dora":
                gains, made = self.folder / f"{strength}.gains", io.BytesIO()
                write_gains(OverlayFile(form, FORM_TYPE), weights, strength, made)
                gains.write_bytes(made.getvalue())
        return PlannedAdapter(
            digest=sha256_bytes(path.name.encode()),
            name=name,
            path=str(path),
            scale=strength,
            size=0,
            gains=str(gains or ""),
            tokens=next((t.tokens for t in adapter.targets if t.tokens), ()),
        )

    def plan(self, base, adapters, batch=256):
        return RuntimePlan(
            composition=sha256_bytes(b"c"),
            execution=sha256_bytes(repr(adapters).encode()),
            base=sha256_bytes(base.encode()),
            base_name=base,
            base_path=str(self.folder / f"{base}.gguf"),
            adapters=adapters,
            context=ContextSettings(n_ctx=512, n_batch=batch, type_kv="f32"),
            lane="overlay",
        )

    def logits(self, base, adapters, ids=IDS, batch=256):
        """What the worker computes under these adapters."""
        planned = tuple(self.planned(name, s, base) for name, s in adapters)
        self.runtime.stage(self.plan(base, planned, batch), Limits())
        self.runtime.publish(1)
        return self.runtime.evaluate(ids)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    made = Bench(tmp_path_factory.mktemp("overlay"))
    yield made
    made.runtime.close()


def expected(base, adapters, ids=IDS):
    """Each adapter's change of the base as it is, added up."""
    plain = dict(BASES[base])
    plain.setdefault("lm_head", plain["model.embed_tokens"])
    total, directions = dict(plain), {}
    for name, strength in adapters:
        made = dict(BASES[base])
        directions |= KINDS[name].change(made, strength) or {}
        made.setdefault("lm_head", made["model.embed_tokens"])
        for key, weight in made.items():
            total[key] = total.get(key, 0) + weight - plain.get(key, 0)
    return oracle.logits(total, ids, directions)


@pytest.mark.parametrize("base", BASES)
def test_the_oracle_is_right_about_the_base(bench, base):
    found, wanted = bench.logits(base, ()), oracle.logits(BASES[base], IDS)
    assert np.abs(wanted).max() > 3
    np.testing.assert_allclose(found, wanted, atol=CLOSE)


@pytest.mark.parametrize("strength", [1.0, -0.7])
@pytest.mark.parametrize("name", KINDS)
def test_one_adapter(bench, name, strength):
    base = KINDS[name].base
    wanted = expected(base, [(name, strength)])
    assert np.abs(wanted - oracle.logits(BASES[base], IDS)).max() > 600 * CLOSE
    np.testing.assert_allclose(bench.logits(base, [(name, strength)]), wanted, atol=CLOSE)


@pytest.mark.parametrize(
    ("base", "adapters"),
    [
        ("untied", [("lora", 1.0), ("lora in 16 bits", -0.5)]),
        (
            "untied",
            [("lora", 0.5), ("lora in 16 bits", -1.5), ("head and embedding", 0.7)],
        ),
        (
            "untied",
            [("modules to save", 0.6), ("head and embedding", -0.5), ("sparse", 1.0)],
        ),
        ("biased", [("dora", 1.0), ("lora", -0.8), ("biases", 0.5)]),
        ("biased", [("ia3", 0.8), ("lora", 0.7)]),
        ("tied", [("tokens, tied", 1.0), ("head and embedding, tied", -0.5)]),
    ],
)
def test_a_stack_is_the_sum_of_what_each_does_to_the_base(bench, base, adapters):
    wanted = expected(base, adapters)
    for number in range(len(adapters)):
        fewer = adapters[:number] + adapters[number + 1 :]
        assert np.abs(wanted - expected(base, fewer)).max() > 300 * CLOSE
    np.testing.assert_allclose(bench.logits(base, adapters), wanted, atol=CLOSE)


@pytest.mark.parametrize("batch", [7, 256])
@pytest.mark.parametrize("length", [5, 61, 300])
def test_a_prompt_of_any_length_in_batches_of_any_size(bench, batch, length):
    """Most batches of 7 find the graph of the one before, and are edited by nodes in passing."""
    ids = tuple(int(number) for number in np.random.default_rng(length).integers(3, 259, length))
    adapters = [("dora", 1.0), ("lora", -0.8), ("biases", 0.5)]
    found = bench.logits("biased", adapters, ids, batch)
    np.testing.assert_allclose(found, expected("biased", adapters, ids), atol=CLOSE)


def test_a_stack_that_cannot_be_added_up_is_refused(bench):
    with pytest.raises(Incompatible, match=r"scales the inputs of blk\.0\.ffn_down\.weight"):
        bench.logits("biased", [("ia3", 1.0), ("dora", 1.0)])


def test_an_adapter_is_alone_again_after_another(bench):
    before = bench.logits("untied", [("lora", 1.0)])
    between = bench.logits("untied", [("modules to save", 1.0), ("lora", 0.5)])
    assert not np.array_equal(before, between)
    np.testing.assert_array_equal(bench.logits("untied", [("lora", 1.0)]), before)


def test_what_is_never_used_is_an_error_that_names_it(bench):
    # A form for an untied base, on one that has no head of its own.
    form = bench.planned("modules to save", 1.0, "untied")
    plan = bench.plan("tied", (form,))
    with pytest.raises(NotReached, match=r"changes output\.weight, which llama\.cpp did not use"):
        bench.runtime.stage(plan, Limits())


def test_an_adapter_that_changes_nothing_is_an_error(bench):
    form = bench.planned("lora", 1e-38, "untied")
    with pytest.raises(AdapterInert, match="lora"):
        bench.runtime.stage(bench.plan("untied", (form,)), Limits())
