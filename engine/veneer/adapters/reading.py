"""Read an adapter, whatever it is stored as, into an `Adapter`.

Order: the names of the files decide the format -> its reader opens them and finds the parts and
their shapes -> every single number is read once and must be finite. Pickles are never opened.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from veneer.adapters.contents import Contents
from veneer.adapters.gguf_reader import open_gguf
from veneer.adapters.lone_reader import open_lone
from veneer.adapters.mlx_reader import open_mlx
from veneer.adapters.model import Adapter, SourceFormat
from veneer.adapters.peft_reader import open_peft
from veneer.adapters.source import Source, source_format
from veneer.formats.tokenizer import Vocabulary

_READERS: Final[Mapping[SourceFormat, Callable[[Source], AbstractContextManager[Contents]]]] = {
    "peft": open_peft,
    "mlx": open_mlx,
    "gguf": open_gguf,
    "lone": open_lone,
}


def open_contents(source: Source) -> AbstractContextManager[Contents]:
    """Open an adapter of any format. Raises as `read_adapter`."""
    return _READERS[source_format(source)](source)


@dataclass(frozen=True)
class CameWith:
    """What lay beside an adapter's files."""

    vocabulary: Vocabulary | None = None
    chat_template: str | None = None


_ALONE: Final = CameWith()


def read_adapter(source: Source, came_with: CameWith = _ALONE) -> Adapter:
    """Read an adapter completely: its description, and every number once.

    Raises `FormatError` (the files are broken or incomplete), `PickleRefused`, and
    `UnsupportedAdapter` (a good adapter that cannot be applied exactly).
    """
    with open_contents(source) as contents:
        warnings = (*contents.scan(), *contents.warnings)
    vocabulary = came_with.vocabulary
    targets = tuple(part.target for part in contents.parts)
    samples = {witness.tensor for witness in contents.witnesses}
    dtypes = {stored.dtype for name, stored in contents.tensors.items() if name not in samples}
    return Adapter(
        kind=contents.kind,
        source_format=source_format(source),
        targets=targets,
        base_model=contents.base_model,
        base_revision=contents.base_revision,
        base_digest=contents.base_digest,
        architecture=contents.architecture,
        vocabulary=None if vocabulary is None else vocabulary.count,
        tokens=() if vocabulary is None else vocabulary.sample,
        chat_template=came_with.chat_template,
        invocation_tokens=contents.invocation_tokens,
        dtype=dtypes.pop() if len(dtypes) == 1 else "mixed",
        weights=sum(target.count for target in targets),
        warnings=warnings,
        witnesses=contents.witnesses,
    )
