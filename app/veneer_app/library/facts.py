"""What is known about a base or an adapter, as (label, value) pairs of harmless text."""

from veneer.store.records import StoredAdapter, StoredBase
from veneer_app import text

translate = text.translate
Fact = tuple[str, str]


def facts_of(stored: StoredBase | StoredAdapter) -> tuple[Fact, ...]:
    """The facts, in the order to read them. Empty ones are left out."""
    found = _of_base(stored) if isinstance(stored, StoredBase) else _of_adapter(stored)
    return tuple((name, value) for name, value in found if value)


def _of_base(stored: StoredBase) -> tuple[Fact, ...]:
    base = stored.base
    return (
        (translate("Facts", "Model"), text.plain(base.name, 80)),
        (translate("Facts", "Architecture"), text.plain(base.architecture, 40)),
        (translate("Facts", "Parameters"), text.count(base.parameters)),
        (translate("Facts", "Layers"), f"{base.n_layers} × {base.n_embd}"),
        (translate("Facts", "Trained context"), str(base.n_ctx_train)),
        (translate("Facts", "Vocabulary"), str(base.n_vocab)),
        (translate("Facts", "License"), text.plain(base.license, 60)),
        (translate("Facts", "Size"), text.size(base.bytes)),
        (translate("Facts", "Digest"), stored.digest),
        (translate("Facts", "File"), text.plain(stored.path, 300)),
        (translate("Facts", "Added"), text.when(stored.added_at)),
    )


def _of_adapter(stored: StoredAdapter) -> tuple[Fact, ...]:
    adapter = stored.adapter
    ranks = ", ".join(map(str, adapter.ranks[:6]))
    form = {"peft": "PEFT", "mlx": "MLX", "gguf": "GGUF"}[adapter.source_format]
    return (
        (translate("Facts", "Made for"), text.plain(adapter.base_model, 120)),
        (translate("Facts", "Architecture"), text.plain(adapter.architecture, 40)),
        (translate("Facts", "Rank"), ranks),
        (translate("Facts", "Targets"), str(len(adapter.targets))),
        (translate("Facts", "Weights"), f"{text.count(adapter.weights)}, {adapter.dtype}"),
        (translate("Facts", "Source"), f"{form}: {text.plain(', '.join(stored.files), 120)}"),
        (translate("Facts", "Size"), text.size(stored.size)),
        (translate("Facts", "Digest"), stored.digest),
        (translate("Facts", "Added"), text.when(stored.added_at)),
    )
