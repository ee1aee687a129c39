import os
import subprocess
import sys
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.errors import WorkspaceBusy

HOLD = """
import sys, time
from pathlib import Path
from veneer import Workspace
with Workspace.open(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "ws")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_writer_is_refused_and_told_who_holds_it(holder, tmp_path: Path):
    with pytest.raises(WorkspaceBusy, match=f"process {holder.pid} "):
        Workspace.open(tmp_path / "ws")


def test_readers_are_let_in(holder, tmp_path: Path):
    with Workspace.open(tmp_path / "ws", writable=False) as workspace:
        assert workspace.library.bases() == ()


def test_a_killed_writer_leaves_no_lock(holder, tmp_path: Path):
    holder.kill()
    holder.wait()
    with Workspace.open(tmp_path / "ws") as workspace:
        assert workspace.recovery.aborted == ()
        assert str(os.getpid()) in (tmp_path / "ws" / "holder.json").read_text()
