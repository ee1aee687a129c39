"""The command line on the real model."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.engine.cli.support import VENEER, apart, ask, veneer


def test_from_import_to_rollback(tmp_path: Path, base_path: Path, adapter_paths: dict[str, Path]):
    root = tmp_path / "ws"
    base = ask(root, "import", str(base_path), "--name", "smol")
    assert base["kind"] == "base"
    assert base["name"] == "smol"
    pirate = ask(root, "import", str(adapter_paths["pirate"]))
    assert (pirate["kind"], pirate["name"]) == ("adapter", "pirate")
    assert [row["name"] for row in ask(root, "list", "adapters")] == ["pirate"]
    assert ask(root, "inspect", pirate["id"][:14])["ranks"] == [8]
    check = ask(root, "check", "pirate", "--base", "smol")
    assert {k: check[k] for k in ("ok", "applies", "of", "problems")} == {
        "ok": True, "applies": 60, "of": 60, "problems": [],
    }  # fmt: skip
    plain = ask(root, "compose", "plain", "--base", "smol")["composition_id"]
    stack = ask(root, "compose", "ship", "--base", "smol", "--adapter", "pirate=1.0")
    assert plain != stack["composition_id"]
    assert ask(root, "activate", "plain")["generation"] == 1
    done = ask(root, "activate", "ship")
    assert done["state"] == "COMMITTED"
    assert done["composition_id"] == stack["composition_id"]
    assert {"validate", "stage", "publish"} <= set(done["timings_ms"])
    answer = ask(root, "chat", "-p", "Write a sentence about the sun.", "--greedy")
    assert "matey" in answer["text"]
    assert answer["composition_id"] == stack["composition_id"]
    assert answer["generation"] == 2
    assert answer["finish_reason"] == "stop"
    assert answer["tokens_per_second"] > 0
    ids = ask(root, "probe", "--text", "Hello there")["token_ids"]
    words = ["probe", "--ids", ",".join(map(str, ids))]
    ask(root, *words, "--out", str(tmp_path / "a.npy"))
    ask(root, *words, "--composition", "ship", "--out", str(tmp_path / "b.npy"))
    ask(root, *words, "--composition", "plain", "--out", str(tmp_path / "c.npy"))
    a, b, c = (np.load(tmp_path / f"{n}.npy") for n in "abc")
    assert (a.dtype, a.shape) == (np.float32, (49152,))
    np.testing.assert_array_equal(a, b)
    assert np.abs(a - c).max() > 0.5
    back = ask(root, "rollback")
    assert (back["generation"], back["composition_id"]) == (3, plain)
    assert ask(root, "status")["name"] == "plain"
    history = ask(root, "history")
    assert [g["state"] for g in history] == ["COMMITTED"] * 3
    assert [g["requested_by"] for g in history] == ["cli"] * 3


def test_the_demo_proves_that_nothing_sticks_to_the_base(tmp_path: Path):
    result = json.loads(apart(tmp_path, "demo", "--headless", "--json").stdout)
    assert result["base_repeats_exactly"]
    assert result["base_unchanged"]
    assert result["base_sha256_before"] == result["base_sha256_after"]
    first, pirate, both, last = result["steps"]
    assert first["token_ids"] == last["token_ids"]
    assert first["composition_id"] == last["composition_id"]
    assert "matey" in pirate["text"]
    assert "matey" in both["text"]
    assert len(both["text"].split()) <= 6
    assert len({first["composition_id"], pirate["composition_id"], both["composition_id"]}) == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["activate", "nobody"], "NOT_FOUND"),
        (["import", "/nowhere/at/all"], "NOT_FOUND"),
        (["compose", "x", "--base", "smol", "--adapter", "pirate=loud"], "USAGE"),
        (["compose", "x", "--base", "smol", "--adapter", "pirate=1e9"], "MANIFEST"),
        (["chat", "-p", "hello"], "NOTHING_ACTIVE"),
        (["rollback"], "NOTHING_ACTIVE"),
        (["remove", "pirate"], "IN_USE"),
        (["dance"], "USAGE"),
        (["probe", "--ids", "1,two", "--out", "x.npy"], "USAGE"),
    ],
)
def test_a_mistake_is_one_line_and_exit_1(root: Path, words: list[str], code: str):
    done = veneer(root, *words, "--json", code=1)
    assert done.stderr.startswith(f"error[{code}]: ")
    assert done.stderr.count("\n") == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == code
    assert done.stderr == f"error[{code}]: {error['message']}\n"


def test_another_program_gets_the_exit_code_and_the_line(root: Path):
    done = apart(root, "dance", code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error[USAGE]: ")


def test_an_adapter_for_another_shape_is_refused_with_the_reason(
    root: Path, adapter_paths: dict[str, Path], tmp_path: Path
):
    from safetensors.numpy import load_file, save_file

    other = tmp_path / "wide"
    other.mkdir()
    source = adapter_paths["pirate"]
    (other / "adapter_config.json").write_bytes((source / "adapter_config.json").read_bytes())
    tensors = load_file(source / "adapter_model.safetensors")
    wide = {k: np.ones((8, 896), np.float16) if "lora_A" in k else v for k, v in tensors.items()}
    save_file(wide, other / "adapter_model.safetensors")
    ask(root, "import", str(other))
    report = ask(root, "check", "wide", "--base", "smol", code=1)
    assert not report["ok"]
    assert report["applies"] == 0
    assert report["problems"][0]["code"] == "OTHER_MODEL"
    assert "896" in report["problems"][0]["message"]
    ask(root, "compose", "w", "--base", "smol", "--adapter", "wide")
    assert ask(root, "activate", "w", code=1)["error"]["code"] == "INCOMPATIBLE"


def test_ctrl_c_during_an_answer_is_a_named_error_and_nothing_is_lost(root: Path):
    ask(root, "activate", "plain")
    words = ["chat", "-p", "Tell a very long story.", "--max-tokens", "4000", "--temperature", "1"]
    process = subprocess.Popen(
        [*VENEER, "--workspace", str(root), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.read(1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.decode().startswith("error[CANCELLED]: ")
    assert ask(root, "status")["name"] == "plain"


def test_ctrl_c_during_an_activation_leaves_the_active_one(root: Path):
    ask(root, "activate", "plain")
    process = subprocess.Popen(
        [*VENEER, "--workspace", str(root), "activate", "both"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    log = root / "logs" / "runtime.log"
    before = log.stat().st_size
    deadline = time.monotonic() + 30
    while log.stat().st_size == before and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    status = ask(root, "status")
    if process.returncode == 0:
        # It was quicker than the signal: then all of it happened.
        assert status["name"] == "both"
    else:
        assert err.decode().startswith("error[CANCELLED]: ")
        assert status["name"] == "plain"
        assert ask(root, "history")[0]["state"] == "ABORTED"
    assert list((root / "tmp").iterdir()) == []


def sizes(folder: Path) -> list[int]:
    """Those of the files that are not removed meanwhile."""
    found: list[int] = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            found.append(path.stat().st_size)
    return found


def test_ctrl_c_during_an_import_leaves_the_catalog_as_it_was(root: Path, tmp_path: Path):
    big = tmp_path / "big.safetensors"
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with big.open("wb") as file:
        file.truncate(4_000_000_000)
    before = ask(root, "list", "adapters")
    process = subprocess.Popen(
        [*VENEER, "--workspace", str(root), "import", str(big)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    # Larger than the config, which comes first.
    while not any(size > 1 << 20 for size in sizes(root / "tmp")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.decode().startswith("error[CANCELLED]: ")
    assert list((root / "tmp").iterdir()) == []
    assert ask(root, "list", "adapters") == before


def test_a_conversation_without_p_remembers_its_turns(root: Path):
    ask(root, "activate", "pirates")
    told = "Write a sentence about the sun.\n\nWhat is the capital of Italy?\n"
    done = apart(root, "chat", "--greedy", "--max-tokens", "30", told=told)
    answers = done.stdout.splitlines()
    assert len(answers) == 2
    assert "sun" in answers[0]
    assert "matey" in answers[0]
    assert "Italy" in answers[1]


def test_version_names_the_lanes_and_why_not(tmp_path: Path):
    said = ask(tmp_path, "version")
    assert said["veneer"] == "0.1.0"
    assert said["llama_cpp"].startswith("llama-cpp-python 0.3.36; CPU")
    lanes = {lane["name"]: (lane["available"], lane["why_not"]) for lane in said["lanes"]}
    assert lanes["stock"] == (True, "")
    assert lanes["overlay"] == (True, "")
    assert "lane overlay: available, with the kernels" in apart(tmp_path, "version").stdout


def test_people_get_words_where_programs_get_json(root: Path):
    veneer(root, "activate", "plain")
    assert "generation 1: plain" in veneer(root, "status").stdout
    assert "COMMITTED" in veneer(root, "history").stdout
    table = veneer(root, "list", "compositions").stdout
    assert "pirates" in table
    assert "=0.5" in table
    assert "60 low_rank\n" in veneer(root, "inspect", "pirate").stdout
    assert ask(root, "inspect", "pirate")["targets"][0]["operation"] == "low_rank"
    assert "applies 60 of 60 tensors" in veneer(root, "check", "json", "--base", "smol").stdout


def test_the_log_shows_what_llama_cpp_printed_and_nothing_that_controls_a_terminal(root: Path):
    assert ask(root, "log", "--json") == {"log": ""}
    (root / "logs" / "runtime.log").write_bytes(b"load_tensors: 92 MiB\n\x1b[2J\xff bad")
    shown = veneer(root, "log").stdout
    assert "load_tensors: 92 MiB\n" in shown
    assert "\x1b" not in shown
