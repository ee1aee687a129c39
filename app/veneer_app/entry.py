"""Where the `veneer` command starts: the engine's command line, handed this window.

Qt is imported only when a window or a picture is asked for, so that every other command, and the
worker process, which imports this module again, stay light.
"""

import sys
from pathlib import Path

from veneer.cli.run import run
from veneer.workspace import default_path


def main() -> None:
    """The console script."""
    sys.exit(run(open_window=_open_window, render_shots=_render_shots))


def _open_window(root: Path | None, files: tuple[Path, ...]) -> int:
    from veneer_app.main import open_window

    return open_window(root or default_path(), files)


def _render_shots(root: Path | None, out: Path) -> tuple[Path, ...]:
    from veneer_app.shots.render import render

    return render(root or default_path(), out)
