"""How fast the window is there, and how much memory its process takes, with a full library.

The window is opened in a process of its own, as `veneer` does it, with 2,000 adapters and no
display. `pytest -m bench tests/bench -s`.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
ADAPTERS = 2_000
COLD_START = 1.0
"""Seconds from the start of Python until the window is painted and takes keys."""
COMPLETE = 2.0
"""Seconds until every row is there, and those in sight are judged."""
MEMORY = 180_000_000
"""Bytes."""
PATIENCE = 3.0
"""A machine that does other things at the same time may take so many times as long."""

OPEN = """
import json, os, sys, time
started = float(sys.argv[2])
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from pathlib import Path
import psutil
from veneer.workspace import Workspace
from veneer_app.main import ensure_application
from veneer_app.theme.apply import Theme
from veneer_app.window import MainWindow
application = ensure_application()
theme = Theme(application)
with Workspace.open(Path(sys.argv[1]), by="window") as workspace:
    theme.choose("system")
    window = MainWindow(workspace, theme)
    theme.use("system")
    window.show()
    application.processEvents()
    window.grab()
    usable = time.time() - started
    while not window.operations.idle or not window.library.table.rows:
        application.processEvents()
        time.sleep(0.005)
    told = {
        "usable_s": usable,
        "complete_s": time.time() - started,
        "rows": len(window.library.table.rows),
        "rss": psutil.Process().memory_info().rss,
        "llama": "llama_cpp" in sys.modules,
    }
    window.close()
print(json.dumps(told))
"""


@pytest.fixture
def full(root: Path) -> Path:
    """A workspace whose catalog has 2,000 adapters: one that was imported, under many names."""
    with sqlite3.connect(root / "veneer.db") as connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM adapters WHERE name = 'pirate'").fetchone())
        columns = ", ".join(row)
        places = ", ".join(f":{name}" for name in row)
        for number in range(ADAPTERS - 3):
            record = row["record"].replace('"base_model":"', f'"base_model":"{number}-')
            name = {"digest": f"sha256:{number:064x}", "name": f"pirate {number:04}"}
            copy = row | name | {"record": record}
            assert record != row["record"]
            connection.execute(f"INSERT INTO adapters ({columns}) VALUES ({places})", copy)
    connection.close()
    return root


def _open(workspace: Path, compiled: Path) -> dict[str, float]:
    # As where it is installed, Python finds its modules compiled.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(workspace), str(time.time())],
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"PYTHONPYCACHEPREFIX": str(compiled)},
    )
    return json.loads(done.stdout)


def test_a_full_library_opens_fast_and_small(full: Path, tmp_path: Path) -> None:
    _open(full, tmp_path / "compiled")
    told = _open(full, tmp_path / "compiled")
    print(f"\nwindow with {told['rows']} rows: {told}")
    assert told["rows"] == ADAPTERS + 1
    assert not told["llama"]
    assert told["rss"] < MEMORY
    assert told["usable_s"] < COLD_START * PATIENCE
    assert told["complete_s"] < COMPLETE * PATIENCE
