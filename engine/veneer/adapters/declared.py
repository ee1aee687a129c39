"""Does the name that an adapter declares for its base name this one?

Hub ids, folders and GGUF titles spell one model in many ways ("unsloth/Llama-3.2-1B-bnb-4bit",
"Llama 3.2 1B"), so names are compared as sets of words, without those that say only how a file
is stored. Words that say how a model was tuned are compared apart: Llama-3.2-1B and
Llama-3.2-1B-Instruct have the same shapes and other weights.
"""

import re
from collections.abc import Iterator

from veneer.adapters.base import Base
from veneer.formats.foreign import one_line

_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*")
_QUANTIZATION = re.compile(r"(?<![a-z0-9])i?q[0-9](?:_[a-z0-9]+)*(?![a-z0-9])")
# fmt: off
_STORAGE = frozenset({
    "gguf", "ggml", "mlx", "bnb", "awq", "gptq", "hf", "unsloth",
    "4bit", "8bit", "16bit", "fp32", "f32", "fp16", "bf16", "f16", "fp8",
})
_TUNING = frozenset({
    "base", "instruct", "it", "chat", "coder", "code", "math", "vision", "vl",
    "thinking", "reasoning", "distill", "abliterated",
})
# fmt: on
_OWN_ADDRESSES = ("repo_url", "source.repo_url", "source.huggingface.repository")


def name_doubt(declared: str | None, base: Base) -> str | None:
    """Why the declared name (a hub id, a path, a title) does not name `base`; None if it does."""
    if declared is None:
        return "It does not say for which base it was made."
    if not base.known_as:
        return f"It was made for {_quoted(declared)}; this base does not say what it is."
    if _is_address_of(declared, base) or any(_names(declared, n, base) for n in base.known_as):
        return None
    if any(_words(_last_part(declared)) == _words(parent) for parent in _parents(base)):
        return f"It was made for {_quoted(declared)}, from which this base was tuned."
    return f"It was made for {_quoted(declared)}; this base is {_quoted(base.known_as[0])}."


def revision_doubt(revision: str | None, base: Base) -> str | None:
    """Why the declared revision of a model need not be `base`; None if there is no doubt."""
    if revision is None or revision in ("main", base.origin.get("version")):
        return None
    words = _words(revision)
    if words and words <= _words(" ".join(base.known_as)):
        return None
    return f"It was made for the revision {_quoted(revision)}, which this base does not name."


def _names(declared: str, name: str, base: Base) -> bool:
    said, known = _words(_last_part(declared)), _words(name)
    # Some put the maker into the name: "Llama 3.1 8B", "meta-llama/Meta-Llama-3.1-8B".
    makers = _maker(declared), _maker_of(base)
    of_one = (said ^ known) - _TUNING - makers[0] - makers[1]
    of_both = (said & known) - _TUNING
    # One word alone ("gpt2") names a model only if the maker is the same, too.
    enough = len(of_both) > 1 or bool(of_both and makers[0] and makers[0] == makers[1])
    return enough and not of_one and _same_tuning(said & _TUNING, base)


def _same_tuning(said: frozenset[str], base: Base) -> bool:
    finetune = _words(base.origin.get("finetune", ""))
    tuned = (_words(" ".join(base.known_as)) | finetune) & _TUNING
    # A base may name its tuning by words that tell nobody which it is.
    return said == tuned or bool(finetune and not tuned)


def _maker(declared: str) -> frozenset[str]:
    return _words(declared.split("/")[0]) if _HUB_ID.fullmatch(declared) else frozenset()


def _maker_of(base: Base) -> frozenset[str]:
    return _words(base.origin.get("organization", ""))


def _is_address_of(declared: str, base: Base) -> bool:
    if not _HUB_ID.fullmatch(declared):
        return False
    addresses = (base.origin.get(key, "") for key in _OWN_ADDRESSES)
    return any(f"/{address}".endswith(f"/{declared}") for address in addresses)


def _parents(base: Base) -> Iterator[str]:
    for key, value in base.origin.items():
        if re.fullmatch(r"base_model\.\d+\.name", key):
            yield value


def _last_part(declared: str) -> str:
    """The model's part of a hub id or path; in the hub's cache, a folder above the last."""
    cached = re.search(r"models--[^/\\]+?--([^/\\]+)", declared)
    return cached[1] if cached else re.split(r"[/\\]", declared.rstrip("/\\"))[-1]


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_QUANTIZATION.sub(" ", name.lower()))) - _STORAGE


def _quoted(text: str) -> str:
    return f"“{one_line(text, 80)}”"
