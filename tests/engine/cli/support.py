"""Command lines carried out: here, which is quick, or in a process of their own."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from veneer.cli.run import run

VENEER = [sys.executable, "-c", "from veneer_app.entry import main; main()"]


class Said(NamedTuple):
    """What a command line came to."""

    stdout: str
    stderr: str


def veneer(root: Path, *words: str, code: int = 0) -> Said:
    """Carry a command line out in this process; the worker it may need is one of its own."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        returned = run(["--workspace", str(root), *words])
    assert returned == code, err.getvalue()
    return Said(out.getvalue(), err.getvalue())


def ask(root: Path, *words: str, code: int = 0) -> Any:
    """What a program gets that reads JSON."""
    return json.loads(veneer(root, *words, "--json", code=code).stdout)


def apart(root: Path, *words: str, code: int = 0, told: str | None = None) -> Said:
    """Carry a command line out as another program does; it reads what it is `told`."""
    done = subprocess.run(
        [*VENEER, "--workspace", str(root), *words],
        input=told, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return Said(done.stdout, done.stderr)
