"""How the worker process lives: what it may know, what it may leave behind, where it writes.

Order: forget every variable of the environment that is not on the list -> limits, where the system
has them -> everything that is printed goes to a log that rotates. Worker only.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from veneer.errors import VeneerError
from veneer.store.fs import Fs

LOG_LIMIT = 1 << 20
OPEN_FILES = 1024
_OOM_SCORE = Path("/proc/self/oom_score_adj")
_EXPENDABLE = b"500"
"""As if it took half of the machine's memory more than it does; 1000 is the most."""

_ALLOWED = {
    "PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH",
    "SYSTEMROOT", "WINDIR", "USERPROFILE", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS",
}  # fmt: skip
_ALLOWED_PREFIXES = ("LC_", "OMP_", "GOMP_", "KMP_", "GGML_", "CUDA_", "HIP_", "ROCR_", "VK_")


def forget_environment() -> None:
    """Keep only what llama.cpp and the system libraries need; tokens and keys are not among it.

    Also keeps llama.cpp from starting a debugger to print a backtrace when it aborts.
    """
    for name in list(os.environ):
        if name.upper() not in _ALLOWED and not name.upper().startswith(_ALLOWED_PREFIXES):
            del os.environ[name]
    os.environ["GGML_NO_BACKTRACE"] = "1"


def limit_resources() -> None:
    """No core dumps, which would hold the conversation; a bound on open files.

    On Linux also no more memory of its own than the machine has, so that what runs away fails here
    and now, and not after minutes of swapping.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
        if sys.platform == "linux":
            _lower(resource.RLIMIT_DATA, psutil.virtual_memory().total + psutil.swap_memory().total)


def go_first(fs: Fs) -> None:
    """Where memory is short, Linux is to end this process, which is restarted, and not the window.

    A system that does not let us say so does as it likes.
    """
    if sys.platform == "linux":
        with suppress(VeneerError, OSError), fs.open_append(_OOM_SCORE) as file:
            file.write(_EXPENDABLE)


class Log:
    """Takes over the process's output, C code's last words included. Keeps one older file."""

    def __init__(self, fs: Fs, path: Path) -> None:
        self._fs = fs
        self._path = path
        self._written = 0
        self._take_over()

    def write(self, text: str) -> None:
        """Add to the log."""
        data = text.encode("utf-8", "replace")
        self._written += os.write(2, data)
        if self._written > LOG_LIMIT:
            self._fs.replace(self._path, older(self._path))
            self._take_over()

    def _take_over(self) -> None:
        found = self._fs.stat(self._path)
        self._written = found.size if found is not None else 0
        with self._fs.open_append(self._path) as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)


def older(log: Path) -> Path:
    """Where a log goes when it is full."""
    return log.with_suffix(".1.log")


def _lower(limit: int, most: int) -> None:
    """Never raises a limit that is lower already."""
    import resource

    hard = resource.getrlimit(limit)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (least, least))
