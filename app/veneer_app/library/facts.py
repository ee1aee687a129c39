"""What is known about a base or an adapter, as (label, value) pairs of harmless text."""

from collections import Counter
from collections.abc import Iterator, Sequence

from veneer.activation.admission import estimate
from veneer.adapters.base import Base
from veneer.adapters.model import Adapter, Operation
from veneer.adapters.tensor_groups import Part
from veneer.compose.plan import ContextSettings
from veneer.store.records import StoredAdapter, StoredBase
from veneer_app import text

translate = text.translate
Fact = tuple[str, str]
_SCALES = 3


def facts_of(
    stored: StoredBase | StoredAdapter, context: ContextSettings, users: Sequence[str] = ()
) -> tuple[Fact, ...]:
    """The facts, in the order to read them. Empty ones are left out.

    A base's memory is told for `context`; `users` are the stacks that need it.
    """
    found = _of_base(stored, context) if isinstance(stored, StoredBase) else _of_adapter(stored)
    used = (translate("Facts", "Used by"), text.plain(", ".join(users), 200))
    return tuple((name, value) for name, value in (used, *found) if value)


def _of_base(stored: StoredBase, context: ContextSettings) -> tuple[Fact, ...]:
    base = stored.base
    memory = translate("Facts", "Memory at {n}").format(n=context.n_ctx)
    return (
        (translate("Facts", "Model"), text.plain(base.name, 80)),
        (translate("Facts", "Architecture"), text.plain(base.architecture, 40)),
        (translate("Facts", "Parameters"), text.count(base.parameters)),
        (translate("Facts", "Layers"), f"{base.n_layers} × {base.n_embd}"),
        (translate("Facts", "Trained context"), str(base.n_ctx_train)),
        (memory, text.size(estimate(stored, (), context).total)),
        (translate("Facts", "Vocabulary"), f"{base.n_vocab}, {text.plain(base.tokenizer, 20)}"),
        *_groups(base),
        (translate("Facts", "Chat template"), text.plain(base.chat_template, 80) or _none()),
        (translate("Facts", "Made by"), text.plain(base.origin.get("organization"), 60)),
        (translate("Facts", "Finetune"), text.plain(base.origin.get("finetune"), 60)),
        (translate("Facts", "From"), text.plain(base.origin.get("base_model.0.name"), 60)),
        (translate("Facts", "License"), text.plain(base.license, 60)),
        (translate("Facts", "Size"), text.size(base.bytes)),
        (translate("Facts", "Digest"), stored.digest),
        (translate("Facts", "Tokenizer id"), base.tokenizer_id),
        (translate("Facts", "Architecture id"), base.architecture_id),
        (translate("Facts", "File"), text.plain(stored.path, 300)),
        (translate("Facts", "Added"), text.when(stored.added_at)),
    )


def _groups(base: Base) -> Iterator[Fact]:
    words: dict[Part, str] = {
        "attention": translate("Facts", "Attention"),
        "feed-forward": translate("Facts", "Feed-forward"),
        "embeddings": translate("Facts", "Embeddings"),
        "output": translate("Facts", "Output"),
        "norms": translate("Facts", "Norms"),
        "other": translate("Facts", "Other weights"),
    }
    for group in base.groups:
        types = (f"{kind} {text.size(count)}" for kind, count in group.types.items())
        yield words[group.part], ", ".join(types)


def operation_words() -> dict[Operation, str]:
    """Each kind of change in words."""
    return {
        "low_rank": translate("Facts", "low-rank products"),
        "magnitude": translate("Facts", "magnitudes (DoRA)"),
        "scale_outputs": translate("Facts", "scaled outputs"),
        "scale_inputs": translate("Facts", "scaled inputs"),
        "bias": translate("Facts", "biases"),
        "add_bias": translate("Facts", "added biases"),
        "replace": translate("Facts", "replaced weights"),
        "rows": translate("Facts", "retrained tokens"),
        "sparse": translate("Facts", "sparse changes"),
        "direction": translate("Facts", "directions"),
        "prompt": translate("Facts", "trained prompts"),
        "prefix": translate("Facts", "trained prefixes"),
    }


def _operations(adapter: Adapter) -> str:
    """The kinds of change and how often each is made, in the order of the adapter's targets."""
    words = operation_words()
    counted = Counter[Operation](target.operation for target in adapter.targets)
    return ", ".join(f"{count} {words[operation]}" for operation, count in counted.items())


def _scales(stored: StoredAdapter) -> str:
    """What the products are multiplied by at the default strength, the commonest first."""
    counted = Counter(target.scaling * stored.default_scale for target in stored.adapter.targets)
    of = len(stored.adapter.targets)
    words = translate("Facts", "{scale} on {n} of {of}")
    said = [words.format(scale=f"{s:g}", n=n, of=of) for s, n in counted.most_common(_SCALES)]
    return ", ".join(said) + (", …" if len(counted) > _SCALES else "")


def _none() -> str:
    return translate("Facts", "none")


def _of_adapter(stored: StoredAdapter) -> tuple[Fact, ...]:
    adapter = stored.adapter
    ranks = ", ".join(map(str, adapter.ranks[:6]))
    form = {"peft": "PEFT", "mlx": "MLX", "gguf": "GGUF", "lone": "safetensors"}[
        adapter.source_format
    ]
    return (
        (translate("Facts", "Made for"), text.plain(adapter.base_model, 120)),
        (translate("Facts", "Architecture"), text.plain(adapter.architecture, 40)),
        (translate("Facts", "Rank"), ranks),
        (translate("Facts", "Targets"), str(len(adapter.targets))),
        (translate("Facts", "What it does"), _operations(adapter)),
        (translate("Facts", "Effective scale"), _scales(stored)),
        (translate("Facts", "Chat template"), text.plain(adapter.chat_template, 80)),
        (translate("Facts", "Acts after tokens"), ", ".join(map(str, adapter.invocation_tokens))),
        (translate("Facts", "Weights"), f"{text.count(adapter.weights)}, {adapter.dtype}"),
        (translate("Facts", "Files"), f"{form}: {text.plain(', '.join(stored.files), 120)}"),
        (translate("Facts", "Source"), text.plain(stored.source, 300)),
        (translate("Facts", "Size"), text.size(stored.size)),
        (translate("Facts", "Digest"), stored.digest),
        (translate("Facts", "Added"), text.when(stored.added_at)),
    )
