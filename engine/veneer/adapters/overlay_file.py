"""An overlay form being read: places, and the slots that each has. See `overlay_form`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from veneer.adapters.placed import Role
from veneer.errors import FormatError
from veneer.formats import gguf, gguf_tensors
from veneer.formats.gguf import GgufHeader


@dataclass(frozen=True)
class PlaceSlots:
    """The slots of one place by name, each with the name of the tensor that holds it."""

    tensor: str
    role: Role
    slots: Mapping[str, str]
    file: BinaryIO
    header: GgufHeader

    @property
    def key(self) -> str:
        """What the names of the slots begin with."""
        return f"{self.tensor}/{self.role}"

    def wide(self, slot: str) -> NDArray[np.float32]:
        """A slot of floats as float32."""
        return gguf_tensors.read_tensor(self.file, self.header, self.slots[slot])

    def stored(self, slot: str) -> NDArray[Any]:
        """A slot in its own type, BF16 as uint16."""
        return gguf_tensors.read_as_stored(self.file, self.header, self.slots[slot])


class OverlayFile:
    """An open form, or an open file of gains. Valid while the file is open."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        """Raises `FormatError`."""
        self._file = file
        self._header = gguf.read_header(file)
        if self._header.text("adapter.type") != kind:
            raise FormatError("VALUE", f"This is not a file of the kind {kind}.")

    def places(self) -> Iterator[PlaceSlots]:
        """Every place, in the order of the file."""
        found: dict[tuple[str, Role], dict[str, str]] = {}
        for name in self._header.tensors:
            tensor, role, slot = name.split("/")
            found.setdefault((tensor, cast("Role", role)), {})[slot] = name
        for (tensor, role), slots in found.items():
            yield PlaceSlots(tensor, role, slots, self._file, self._header)
