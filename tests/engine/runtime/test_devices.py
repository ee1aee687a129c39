"""Which devices there are, and how one is chosen, on a ggml that says it has some."""

import ctypes

import pytest

from veneer.errors import RuntimeRefused
from veneer.runtime.devices import Devices

CPU, GPU, IGPU, ACCEL = range(4)


class Ggml:
    """The four functions that are asked; handles are 100, 101 and so on."""

    def __init__(self, *devices: tuple[bytes, int]) -> None:
        def asked(answer):
            def function(*arguments):
                return answer(*arguments)

            return function

        self.ggml_backend_dev_count = asked(lambda: len(devices))
        self.ggml_backend_dev_get = asked(lambda number: 100 + number)
        self.ggml_backend_dev_name = asked(lambda handle: devices[handle - 100][0])
        self.ggml_backend_dev_type = asked(lambda handle: devices[handle - 100][1])


def test_a_gpu_is_used_alone():
    devices = Devices(Ggml((b"CUDA0", GPU), (b"Vulkan1", IGPU), (b"BLAS", ACCEL), (b"CPU", CPU)))
    assert devices.gpus == ("CUDA0", "Vulkan1")
    assert not devices.only_cpu
    assert list(devices.alone("Vulkan1")) == [101, None]
    assert ctypes.sizeof(devices.alone("CUDA0")) == 2 * ctypes.sizeof(ctypes.c_void_p)


@pytest.mark.parametrize("name", ["CUDA1", "CPU", "BLAS"])
def test_what_is_no_gpu_is_refused_with_what_there_is(name: str):
    devices = Devices(Ggml((b"CUDA0", GPU), (b"BLAS", ACCEL), (b"CPU", CPU)))
    with pytest.raises(RuntimeRefused, match=rf"no GPU called {name}\. It has CUDA0\."):
        devices.alone(name)


def test_a_library_for_matrices_is_no_cpu_and_no_gpu():
    devices = Devices(Ggml((b"BLAS", ACCEL), (b"CPU", CPU)))
    assert devices.gpus == ()
    assert not devices.only_cpu
    assert Devices(Ggml((b"CPU", CPU))).only_cpu
