"""Where the `veneer` command starts: the engine's command line, handed this window.

The worker process imports this module again, so everything else is imported when it is needed: Qt
only when a window or a picture is asked for.
"""

import sys
from pathlib import Path


def main() -> None:
    """The console script."""
    from veneer.cli.run import run

    sys.exit(run(open_window=_open_window, render_shots=_render_shots))


def _open_window(root: Path | None, files: tuple[Path, ...]) -> int:
    from veneer.workspace import default_path
    from veneer_app.main import open_window

    return open_window(root or default_path(), files)


def _render_shots(root: Path | None, out: Path) -> tuple[Path, ...]:
    from veneer.workspace import default_path
    from veneer_app.shots.render import render

    return render(root or default_path(), out)
