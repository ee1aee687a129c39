"""What the worker may know, what it may take, and what becomes of what it prints."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from veneer import Workspace
from veneer.runtime import household

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of these limits")


@linux
def test_the_worker_is_bounded_and_the_first_to_go(workspace: Workspace):
    workspace.runtime_offer()
    worker = psutil.Process(workspace._runtime.pid)
    machine = psutil.virtual_memory().total + psutil.swap_memory().total
    assert worker.rlimit(psutil.RLIMIT_CORE) == (0, 0)
    assert worker.rlimit(psutil.RLIMIT_NOFILE) == (1024, 1024)
    assert worker.rlimit(psutil.RLIMIT_DATA) == (machine, machine)
    mine, its = (int(Path(f"/proc/{p}/oom_score_adj").read_text()) for p in ("self", worker.pid))
    assert its == 500 > mine


@linux
def test_a_limit_that_is_lower_already_stays():
    code = (
        "import resource\n"
        "from veneer.runtime import household\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))\n"
        "household.limit_resources()\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(200, 200)"


@linux
def test_memory_beyond_the_machine_s_is_refused_at_once():
    code = (
        "from veneer.runtime import household\n"
        "household.limit_resources()\n"
        "import mmap, psutil\n"
        "machine = psutil.virtual_memory().total + psutil.swap_memory().total\n"
        # Linux itself refuses what is too large at once, but not in parts that nobody touches.
        "part = lambda: mmap.mmap(-1, machine * 6 // 10, flags=mmap.MAP_PRIVATE)\n"
        "try: parts = part(), part()\n"
        "except OSError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "refused"


def test_secrets_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    kept = {"PATH": "/bin", "OMP_NUM_THREADS": "2", "GGML_VK_VISIBLE_DEVICES": "0"}
    secret = {"HF_TOKEN": "hf_x", "AWS_SECRET_ACCESS_KEY": "x", "PYTHONPATH": "/x"}
    monkeypatch.setattr(os, "environ", kept | secret)
    household.forget_environment()
    assert os.environ == kept | {"GGML_NO_BACKTRACE": "1"}
