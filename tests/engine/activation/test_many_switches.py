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
    # No idle adapter may stay, so that each switch loads and frees.
    workspace.change_settings(msgspec.structs.replace(workspace.settings, adapters_budget=0))
    workspace.compose("smol", [("terse", 0.7), ("pirate", 0.4)], name="turned")
    workspace.activate("plain")
    before = workspace.logits(IDS)
    pid = workspace._runtime.pid
    process = psutil.Process(pid)
    resident: list[int] = []
    files: list[int] = []
    stacks = cycle(["pirates", "objects", "both", "turned", "plain"])
    for number in range(SWITCHES):
        workspace.activate(next(stacks))
        if number % EVERY == 0:
            workspace.logits(IDS)
            resident.append(process.memory_info().rss)
            files.append(process.num_fds())
    workspace.activate("plain")
    assert workspace._runtime.pid == pid
    np.testing.assert_array_equal(workspace.logits(IDS), before)
    assert hashlib.sha256(base_path.read_bytes()).digest() == digest
    warm = len(resident) // 4
    slope = np.polyfit(np.arange(len(resident) - warm), resident[warm:], 1)[0]
    # malloc settles within megabytes, however many the switches; an adapter that leaked at
    # every switch would add 1.8 MB each time, 270 MB over the shortest run.
    assert slope * (len(resident) - warm) < 16_000_000
    assert max(files[warm:]) == min(files[warm:])
