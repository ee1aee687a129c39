"""Many switches in one worker: nothing drifts, nothing leaks. `VENEER_SWITCHES` sets how many."""

import hashlib
import os
import sys
from itertools import cycle
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pytest

from veneer import Workspace

IDS = (19556, 665, 28, 638, 359, 346, 47)
SWITCHES = int(os.environ.get("VENEER_SWITCHES", "200"))
EVERY = max(1, SWITCHES // 20)


@pytest.mark.skipif(sys.platform == "win32", reason="counts file descriptors")
def test_many_switches_change_no_bit_of_the_base_and_leak_nothing(
    workspace: Workspace, base_path: Path
):
    digest = hashlib.sha256(base_path.read_bytes()).digest()
    # What survives a crash is not the subject here, and four syncs a switch take minutes in all.
    workspace.journal._database._connection.execute("PRAGMA synchronous=OFF")
    # No idle adapter may stay, so that each switch loads and frees.
    workspace.change_settings(msgspec.structs.replace(workspace.settings, adapters_budget=0))
    workspace.compose("smol", [("terse", 0.7), ("pirate", 0.4)], name="turned")
    workspace.activate("plain")
    before = workspace.logits(IDS)
    pid = workspace._runtime.pid
    processes = {"worker": psutil.Process(pid), "engine": psutil.Process()}
    resident: dict[str, list[int]] = {name: [] for name in processes}
    files: dict[str, list[int]] = {name: [] for name in processes}
    stacks = cycle(["pirates", "objects", "both", "turned", "plain"])
    for number in range(SWITCHES):
        workspace.activate(next(stacks))
        if number % EVERY == 0:
            workspace.logits(IDS)
            for name, process in processes.items():
                resident[name].append(process.memory_info().rss)
                files[name].append(process.num_fds())
    workspace.activate("plain")
    assert workspace._runtime.pid == pid
    np.testing.assert_array_equal(workspace.logits(IDS), before)
    assert hashlib.sha256(base_path.read_bytes()).digest() == digest
    for name in processes:
        # malloc settles within megabytes, however many the switches; an adapter that leaked at
        # every switch would add 1.8 MB each time, 270 MB over the shortest run.
        assert growth(resident[name]) < 16_000_000
        warm = files[name][len(files[name]) // 4 :]
        assert max(warm) == min(warm)


def growth(samples: list[int]) -> float:
    """What the line through all but the first quarter of them rises by."""
    warm = samples[len(samples) // 4 :]
    return float(np.polyfit(np.arange(len(warm)), warm, 1)[0]) * len(warm)
