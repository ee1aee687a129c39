"""The house rules that no other tool can see."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "engine" / "veneer"
SOURCES = sorted(ENGINE.rglob("*.py"))
FILE_METHODS = {
    "read_bytes", "read_text", "write_bytes", "write_text", "unlink", "mkdir", "rmdir", "touch",
    "iterdir", "exists", "is_file", "is_dir", "rglob", "symlink_to", "hardlink_to",
}  # fmt: skip
FILE_MODULES = {"shutil", "tempfile", "glob"}


def _calls_a_path(function: ast.expr) -> bool:
    if not isinstance(function, ast.Attribute) or function.attr not in FILE_METHODS:
        return False
    through_fs = {"fs", "self._fs", "RealFs()"}
    return ast.unparse(function.value) not in through_fs


def _file_access(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "open":
                found.append(f"open() at line {node.lineno}")
            if _calls_a_path(node.func):
                found.append(f".{node.func.attr}() at line {node.lineno}")
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name in FILE_MODULES]
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ENGINE)))
def test_only_store_fs_touches_files(source: Path):
    if source == ENGINE / "store" / "fs.py":
        return
    assert _file_access(ast.parse(source.read_text())) == []


def test_the_rule_about_files_can_fail():
    code = "open('x')\npath.unlink()\nimport shutil\nself._fs.unlink(path)"
    assert set(_file_access(ast.parse(code))) == {
        "open() at line 1",
        ".unlink() at line 2",
        "shutil",
    }


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ENGINE)))
def test_every_module_explains_itself(source: Path):
    assert ast.get_docstring(ast.parse(source.read_text()))


def test_importing_the_whole_engine_brings_in_neither_qt_nor_llama_cpp():
    code = (
        "import pkgutil, sys, veneer\n"
        "for m in pkgutil.walk_packages(veneer.__path__, 'veneer.'):\n"
        "    if m.name not in WORKERS: __import__(m.name)\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in {'PySide6', 'llama_cpp'}))"
    )
    # These are imported by the worker process alone.
    workers = {
        f"veneer.runtime.{name}"
        for name in ("llama", "sampling", "loaded", "resident", "live", "answer")
    }
    done = subprocess.run(
        [sys.executable, "-c", f"WORKERS = {workers!r}\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_worker_s_modules_do_import_llama_cpp():
    code = "import sys, veneer.runtime.llama; print('llama_cpp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
