"""The files of one adapter, and which format they are.

The names of the files decide; nothing is opened here. Pickles are refused by their names.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import BinaryIO, Final, Protocol

from veneer.adapters.model import SourceFormat
from veneer.errors import FormatError, PickleRefused, UnsupportedAdapter

PEFT_CONFIG: Final = "adapter_config.json"
PEFT_WEIGHTS: Final = "adapter_model.safetensors"
MLX_WEIGHTS: Final = "adapters.safetensors"
"""mlx-lm calls its config as PEFT does."""
_PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")


class Source(Protocol):
    """The files of one adapter, wherever they are. Names are plain file names."""

    def names(self) -> tuple[str, ...]:
        """The names of all files."""
        ...

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open one file for reading: seekable, at its start."""
        ...


def source_format(source: Source) -> SourceFormat:
    """How the adapter is stored, by the names of its files.

    Raises `FormatError`, `PickleRefused` and `UnsupportedAdapter`.
    """
    names = source.names()
    if PEFT_CONFIG in names and PEFT_WEIGHTS in names:
        return "peft"
    if PEFT_CONFIG in names and MLX_WEIGHTS in names:
        return "mlx"
    ggufs = [name for name in names if name.lower().endswith(".gguf")]
    if len(ggufs) == 1:
        return "gguf"
    if ggufs:
        raise FormatError("COUNT", f"There are {len(ggufs)} GGUF files here; import one at a time.")
    if PEFT_CONFIG not in names and len(_weights(names)) == 1 and not _is_split(names):
        return "lone"
    raise refusal(names) or FormatError("MAGIC", "There is no adapter here.")


def gguf_name(source: Source) -> str:
    """The name of the one GGUF file of a source whose format is "gguf"."""
    return next(name for name in source.names() if name.lower().endswith(".gguf"))


def weights_name(source: Source) -> str:
    """The name of the one safetensors file of a source whose format is "lone"."""
    return _weights(source.names())[0]


def _weights(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower().endswith(".safetensors")]


def _is_split(names: Iterable[str]) -> bool:
    return any(name.lower().startswith("adapter_model-") for name in names)


def refusal(names: Iterable[str]) -> FormatError | PickleRefused | UnsupportedAdapter | None:
    """Why files of these names are no adapter, where the names alone tell."""
    lower = [name.lower() for name in names]
    if any(name.endswith(_PICKLES) for name in lower):
        return PickleRefused(
            "The weights are stored as a Python pickle, which can run any program when it is "
            "opened, so Veneer never opens one. Load it where it was trained and save it again "
            "with PEFT's save_pretrained(..., safe_serialization=True)."
        )
    if _is_split(lower):
        return UnsupportedAdapter("The adapter is split into several files; save it as one.")
    if _weights(lower):
        return FormatError(
            "CONFIG",
            f"There are several files with weights, but no {PEFT_CONFIG} beside them. Without it "
            "nobody can know how strongly they were meant to be applied.",
        )
    if PEFT_CONFIG in lower:
        return FormatError("CONFIG", f"There is a {PEFT_CONFIG}, but no {PEFT_WEIGHTS}.")
    return None
