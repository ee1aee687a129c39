"""What is known about a base, an adapter or a composition: as a document, and as lines to read.

Much of it was written by strangers, so every line is made harmless before it reaches a terminal.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
from rich.filesize import decimal

from veneer.activation.admission import Estimate
from veneer.adapters.base import Base
from veneer.compose.signatures import Standing
from veneer.compose.stacks import Composition
from veneer.formats.foreign import one_line
from veneer.identity import sha256_bytes, short
from veneer.store.records import StoredAdapter, StoredBase

Line = tuple[str, str]
_SHOWN_ELSEWHERE = frozenset({"name", "license"})


def base_row(stored: StoredBase) -> dict[str, Any]:
    """A base in a list."""
    return {
        "id": stored.digest,
        "name": stored.name,
        "architecture": stored.base.architecture,
        "parameters": stored.base.parameters,
        "bytes": stored.base.bytes,
        "path": stored.path,
        "copied": stored.copied,
    }


def adapter_row(stored: StoredAdapter) -> dict[str, Any]:
    """An adapter in a list."""
    return {
        "id": stored.digest,
        "name": stored.name,
        "kind": stored.adapter.kind,
        "ranks": stored.adapter.ranks,
        "targets": len(stored.adapter.targets),
        "bytes": stored.size,
        "base_model": stored.adapter.base_model,
        "default_scale": stored.default_scale,
    }


def stack_row(composition: Composition) -> dict[str, Any]:
    """A composition in a list."""
    semantic = composition.manifest.composition
    return {
        "id": composition.id,
        "name": composition.name,
        "base": semantic.base.digests[0],
        "adapters": [{"id": a.digest, "scale": a.scale} for a in semantic.adapters],
    }


def base_facts(stored: StoredBase, needed: Estimate, n_ctx: int) -> dict[str, Any]:
    """Everything about a base, with the bytes it needs in a context of `n_ctx` tokens."""
    facts = msgspec.to_builtins(stored.base)
    facts["tensors"] = len(stored.base.tensors)
    memory = {"n_ctx": n_ctx, **msgspec.to_builtins(needed), "total": needed.total}
    return {"kind": "base", **base_row(stored), **facts, "name": stored.name, "memory": memory}


def adapter_facts(stored: StoredAdapter) -> dict[str, Any]:
    """Everything about an adapter."""
    facts = msgspec.to_builtins(stored.adapter)
    facts["adapter_kind"] = facts.pop("kind")
    facts["targets"] = [msgspec.structs.asdict(target) for target in stored.adapter.targets]
    owners = ("trigger_text", "notes", "tags", "system_prompt", "license", "source", "files")
    notes = {name: getattr(stored, name) for name in owners}
    return {**adapter_row(stored), **facts, **notes, "kind": "adapter"}


def composition_facts(composition: Composition, standing: Standing) -> dict[str, Any]:
    """Everything about a composition, with what its signature is worth here."""
    envelope = msgspec.structs.asdict(composition.manifest.envelope)
    signature = composition.manifest.envelope.signature
    signed = {"signature": standing, "signed_by": signature.key if signature else None}
    row = stack_row(composition)
    return {"kind": "composition", **envelope, **signed, **row, "suspect": composition.suspect}


def lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    """A document's fields, each on one line."""
    for name, value in facts.items():
        yield name, one_line(str(value), 2_000)


def adapter_lines(stored: StoredAdapter) -> Iterator[Line]:
    """The same of an adapter, its targets counted by what is done to them."""
    counted = Counter(target.operation for target in stored.adapter.targets)
    done = ", ".join(f"{count} {operation}" for operation, count in counted.items())
    yield from lines(adapter_facts(stored) | {"targets": done})


def base_lines(stored: StoredBase, needed: Estimate, n_ctx: int) -> Iterator[Line]:
    """What a person wants to know of a base, in the order to read it."""
    base = stored.base
    for name, value in _base_lines(base):
        yield name, one_line(value or "not told", 400)
    for key, value in base.origin.items():
        if key not in _SHOWN_ELSEWHERE:
            yield one_line(key, 40), one_line(value)
    yield f"memory, {n_ctx} tokens", needed.table()
    yield "quantization id", base.quantization
    yield "architecture id", base.architecture_id
    yield "tokenizer id", base.tokenizer_id
    yield "id", stored.digest
    yield "file", one_line(stored.path + (" (copied in)" if stored.copied else ""), 2_000)


def _base_lines(base: Base) -> Iterator[tuple[str, str | None]]:
    heads = f"{base.n_head} heads, {base.n_head_kv} for keys and values"
    yield "model", base.name
    yield "license", base.license
    yield "architecture", f"{base.architecture}, {base.n_layers} layers of {base.n_embd}, {heads}"
    yield "parameters", f"{base.parameters:,} in {decimal(base.bytes)}"
    for group in base.groups:
        types = (f"{kind} {decimal(size)}" for kind, size in group.types.items())
        yield group.part, ", ".join(types)
    if base.tied_embeddings:
        yield "output", "the embeddings, shared"
    yield "context", f"{base.n_ctx_train} tokens"
    yield "tokenizer", f"{base.tokenizer}, {base.n_vocab} tokens"
    yield "chat template", _template(base.chat_template)


def _template(template: str | None) -> str:
    if not template:
        return "none"
    digest = short(sha256_bytes(template.encode()), 12)
    first = next((line for line in template.splitlines() if line.strip()), "")
    return f"{digest}, {len(template.splitlines())} lines: {one_line(first, 80)}"


def cell(column: str, value: Any) -> str:
    """One field of a list, for people."""
    match column:
        case "id" | "base":
            return short(value, 12)
        case "bytes":
            return decimal(value)
        case "adapters":
            return ", ".join(f"{short(a['id'])}={a['scale']:g}" for a in value) or "none"
        case "ranks":
            return ", ".join(map(str, cast("tuple[int, ...]", value)))
        case _:
            return one_line(str(value))
