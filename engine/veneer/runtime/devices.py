"""What ggml can compute on. Worker process only; `llama` hands over the library."""

import ctypes
from dataclasses import dataclass
from typing import Any

from veneer.errors import RuntimeRefused

_CPU = 0
_GPUS = (1, 2)
"""With memory of their own, and with the computer's."""


@dataclass(frozen=True)
class _Device:
    name: str
    kind: int
    handle: int


class Devices:
    """The devices of one ggml library, as it lists them."""

    def __init__(self, ggml: Any) -> None:
        self._all = tuple(_listed(ggml))

    @property
    def only_cpu(self) -> bool:
        """Whether there is nothing else, not even a library for matrices (BLAS, AMX)."""
        return all(device.kind == _CPU for device in self._all)

    @property
    def gpus(self) -> tuple[str, ...]:
        """The names of the GPUs, such as CUDA0 or Vulkan1."""
        return tuple(device.name for device in self._all if device.kind in _GPUS)

    def alone(self, name: str) -> Any:
        """The list that has llama.cpp use this GPU and no other, ended by NULL.

        Raises `RuntimeRefused` if there is none of the name.
        """
        found = [d.handle for d in self._all if d.kind in _GPUS and d.name == name]
        if not found:
            there = f"It has {', '.join(self.gpus)}." if self.gpus else "It has none at all."
            raise RuntimeRefused(
                f"This llama.cpp has no GPU called {name}. {there} Choose another in the settings."
            )
        return (ctypes.c_void_p * 2)(found[0], None)


def _listed(ggml: Any) -> list[_Device]:
    count, get = ggml.ggml_backend_dev_count, ggml.ggml_backend_dev_get
    kind, name = ggml.ggml_backend_dev_type, ggml.ggml_backend_dev_name
    count.argtypes, count.restype = [], ctypes.c_size_t
    get.argtypes, get.restype = [ctypes.c_size_t], ctypes.c_void_p
    kind.argtypes, kind.restype = [ctypes.c_void_p], ctypes.c_int
    name.argtypes, name.restype = [ctypes.c_void_p], ctypes.c_char_p
    handles = [get(number) for number in range(count())]
    return [_Device(name(h).decode("utf-8", "replace"), kind(h), h) for h in handles]
