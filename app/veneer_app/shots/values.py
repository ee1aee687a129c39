"""A library that nobody has, with every kind of adapter, every verdict, and endless names."""

from veneer.activation.journal import Generation, Pair, Requester, State, Transition
from veneer.adapters.base import Base
from veneer.adapters.compat import CompatReport, Fit
from veneer.adapters.model import Adapter, Kind, Target
from veneer.adapters.problem import Problem
from veneer.compose.manifest import AdapterRef, BaseRef, Manifest, Semantic
from veneer.compose.stacks import Composition
from veneer.identity import Digest, sha256_bytes
from veneer.store.records import StoredAdapter, StoredBase

WHEN = "2026-01-02T03:04:05.000+00:00"
ENDLESS = (
    "Pneumonoultramicroscopicsilicovolcanoconiosis_and_other_words_that_never_end_so_that_nothing_"
    "can_be_broken_where_a_line_would_like_to_end "
)
ARABIC = "قرصان يتكلم العربية"
_MODULES = ("self_attn.q_proj", "self_attn.v_proj", "mlp.up_proj", "mlp.down_proj")
_LAYERS = 32


def digest(name: str) -> Digest:
    """A digest that nothing has."""
    return sha256_bytes(name.encode())


def base(name: str) -> StoredBase:
    """A base of eight billion parameters."""
    model = Base(
        architecture="llama",
        name=name,
        known_as=(),
        license="apache-2.0",
        n_layers=_LAYERS,
        n_embd=4096,
        n_head=32,
        n_head_kv=8,
        n_vocab=128_256,
        n_ctx_train=131_072,
        parameters=8_030_000_000,
        file_type=15,
        quantization=digest("Q4_K_M"),
        architecture_id=digest("llama"),
        tokenizer_id=digest("tokens"),
        tied_embeddings=False,
        tensors={},
        chat_template="{% for message in messages %}{{ message.content }}{% endfor %}",
        bytes=4_920_000_000,
    )
    return StoredBase(
        digest=digest(name),
        name=name,
        path=f"/home/somebody/models/{name}.gguf",
        copied=False,
        base=model,
        added_at=WHEN,
    )


def adapter(
    name: str, kind: Kind = "lora", rank: int = 16, scale: float = 1.0, notes: str = ""
) -> StoredAdapter:
    """An adapter of four modules in every layer."""
    modules = (f"layers.{layer}.{name}" for layer in range(_LAYERS) for name in _MODULES)
    targets = tuple(
        Target(module=m, rank=rank, in_features=4096, out_features=4096, scaling=2.0)
        for m in modules
    )
    return StoredAdapter(
        digest=digest(name),
        name=name,
        files={"adapter_model.safetensors": digest(f"{name}'s weights")},
        size=max(rank, 1) * 2_621_440,
        adapter=Adapter(
            kind=kind,
            source_format="peft",
            targets=targets,
            base_model="meta-llama/Llama-3.1-8B-Instruct",
            base_revision=None,
            architecture=None,
            dtype="BF16",
            weights=max(rank, 1) * 1_310_720,
            warnings=("Two of its tensors are all zeros.",) if notes else (),
        ),
        added_at=WHEN,
        default_scale=scale,
        trigger_text="Arr, matey!" if notes else "",
        notes=notes,
        tags=("style", "fun") if notes else (),
        source=f"/home/somebody/Downloads/{name}",
    )


def report(fit: Fit) -> CompatReport:
    """A verdict."""
    wrong = (
        Problem(
            code="OTHER_MODEL",
            message="Made for another model: the adapter targets 28 layers of width 3072, this "
            "base has 32 layers of width 4096.",
        ),
    )
    of = _LAYERS * len(_MODULES)
    refused = fit == "no"
    return CompatReport(
        ok=not refused,
        applies=0 if refused else of,
        of=of,
        problems=wrong if refused else (),
        fit=fit,
        doubts=("It does not say which model it was made for.",) if fit == "shape" else (),
    )


def composition(name: str, on: StoredBase, *layers: tuple[StoredAdapter, float]) -> Composition:
    """A saved stack."""
    below = BaseRef(
        digests=(on.digest,),
        architecture_id=on.base.architecture_id,
        tokenizer_id=on.base.tokenizer_id,
        quantization=on.base.quantization,
    )
    adapters = tuple(AdapterRef(digest=a.digest, scale=scale) for a, scale in layers)
    return Composition(
        id=digest(f"stack {name}"),
        name=name,
        manifest=Manifest(composition=Semantic(base=below, adapters=adapters)),
        suspect=None,
        created_at=WHEN,
    )


def generation(
    number: int,
    name: str,
    *states: State,
    by: Requester = "window",
    reason: str | None = None,
    restores: int | None = None,
    confirmed: tuple[Pair, ...] = (),
) -> Generation:
    """An activation that went through these states, a tenth of a second each."""
    done = "COMMITTED" in states
    times = {"validate": 41.0, "stage": 812.0, "stage_base": 603.0, "stage_probe": 158.0}
    return Generation(
        number=number,
        composition=digest(f"stack {name}"),
        requested_by=by,
        restores=restores,
        state=states[-1],
        reason=reason,
        timings_ms={**times, "publish": 2.0} if done else {},
        transitions=tuple(
            Transition(state, f"2026-01-{number:02}T03:04:05.{n}00+00:00")
            for n, state in enumerate(states)
        ),
        confirmed=confirmed,
    )


SMALL = base("Llama-3.1-8B-Instruct.Q4_K_M")
PIRATE = adapter("pirate", scale=0.8, notes="Trained on 2,000 sea shanties. Best below 1.2.")
TERSE = adapter("terse", "dora", rank=8)
LEGAL = adapter("legal-contracts", "ia3", rank=0)
FOREIGN = adapter("made-for-something-else", rank=64)
UNSURE = adapter("no-name", "lokr", rank=4)
ENDLESS_ADAPTER = adapter(ENDLESS, rank=128)
ARABIC_ADAPTER = adapter(ARABIC)
ADAPTERS = (PIRATE, TERSE, LEGAL, FOREIGN, UNSURE, ENDLESS_ADAPTER, ARABIC_ADAPTER)
REPORTS = {
    PIRATE.digest: report("digest"),
    TERSE.digest: report("named"),
    LEGAL.digest: report("named"),
    FOREIGN.digest: report("no"),
    UNSURE.digest: report("shape"),
    ENDLESS_ADAPTER.digest: report("named"),
    ARABIC_ADAPTER.digest: report("named"),
}
STACKS = (
    composition("plain", SMALL),
    composition("pirates", SMALL, (PIRATE, 1.0)),
    composition("matey contracts", SMALL, (PIRATE, 0.8), (LEGAL, 1.0), (TERSE, -0.5)),
    composition(ENDLESS[:120], SMALL, (ENDLESS_ADAPTER, 12.5), (ARABIC_ADAPTER, 1.0)),
    composition(ARABIC, SMALL, (ARABIC_ADAPTER, 1.0), (FOREIGN, 1.0)),
)
