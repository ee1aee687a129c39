"""`inspect` and `check` on the real base: what a person reads, and what a program gets."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from tests.engine.cli.support import ask, veneer
from veneer import Workspace


def said(root: Path, *words: str, code: int = 0) -> dict[str, str]:
    """The lines of `inspect` by what they are about."""
    lines = veneer(root, *words, code=code).stdout.splitlines()
    return {line[:20].strip(): line[22:] for line in lines}


def test_inspecting_a_base(root: Path):
    shown = said(root, "inspect", "smol", "--ctx", "2048")
    assert shown["architecture"] == "llama, 30 layers of 576, 9 heads, 3 for keys and values"
    assert shown["parameters"] == "134,515,008 in 98.4 MB"
    assert shown["attention"] == "Q4_1 16.6 MB"
    assert shown["embeddings"] == "Q8_0 30.1 MB"
    assert shown["output"] == "the embeddings, shared"
    assert shown["context"] == "8192 tokens"
    assert shown["license"] == "apache-2.0"
    assert shown["organization"] == "HuggingFaceTB"
    assert shown["chat template"].startswith("872be49dbb63, 6 lines: {% for message in messages %}")
    assert "kv 45 MiB" in shown["memory, 2048 tokens"]
    assert shown["tokenizer id"].startswith("sha256:")
    facts = ask(root, "inspect", "smol")
    assert facts["memory"]["n_ctx"] == 4096
    # Two of f16 for each of 30 layers, 3 heads, 64 numbers and 4096 tokens.
    assert facts["memory"]["kv"] == 2 * 2 * 30 * 3 * 64 * 4096
    assert [g["part"] for g in facts["groups"]] == [
        "attention", "feed-forward", "embeddings", "norms",
    ]  # fmt: skip
    sizes = [size for group in facts["groups"] for size in group["types"].values()]
    assert 0.97 < sum(sizes) / facts["bytes"] < 1


def test_a_stranger_s_words_cannot_fool_the_terminal(root: Path, stranger: Path):
    config = json.loads((stranger / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "a\x1b[2J/\u202emodel\nid  sha256:0"
    (stranger / "adapter_config.json").write_text(json.dumps(config))
    ask(root, "import", str(stranger))
    for words in (["inspect", "stranger"], ["check", "stranger", "--base", "smol"]):
        out = veneer(root, *words).stdout
        assert not {"\x1b", "\u202e"} & set(out)
        assert "\nid  sha256:0" not in out


def test_each_tensor_that_does_not_fit_is_named(
    root: Path, adapter_paths: dict[str, Path], tmp_path: Path
):
    wide, source = tmp_path / "wide", adapter_paths["pirate"]
    wide.mkdir()
    (wide / "adapter_config.json").write_bytes((source / "adapter_config.json").read_bytes())
    tensors = load_file(source / "adapter_model.safetensors")
    narrow = {k: v[:100] if "v_proj.lora_B" in k else v for k, v in tensors.items()}
    save_file(narrow, wide / "adapter_model.safetensors")
    ask(root, "import", str(wide))
    report: Any = ask(root, "check", "wide", "--base", "smol", code=1)
    assert (report["applies"], report["of"], report["fit"]) == (30, 60, "no")
    named = {problem["tensor"] for problem in report["problems"]}
    assert named == {f"model.layers.{n}.self_attn.v_proj" for n in range(30)}
    few = veneer(root, "check", "wide", "--base", "smol", code=1).stdout.splitlines()
    assert few[0] == "wide on smol: applies 30 of 60 tensors, refused"
    assert few[-1] == "  and 22 more; --all prints them"
    assert len(few) == 1 + 8 + 1
    every = veneer(root, "check", "wide", "--base", "smol", "--all", code=1).stdout.splitlines()
    assert len(every) == 1 + 30
    assert "576 x 100 in the adapter and 576 x 192 in this base" in every[-1]


def test_how_sure_the_verdict_is(root: Path, stranger: Path, tmp_path: Path):
    assert ask(root, "check", "pirate", "--base", "smol")["fit"] == "named"
    ask(root, "import", str(stranger))
    assert veneer(root, "check", "stranger", "--base", "smol").stdout.splitlines()[1:] == [
        "  Only the shapes fit; confirm it when activating (--confirm-base).",
        "  It was made for “somebody/another-model”; this base is “Smollm2 135M 8k Lc100K Mix1 "
        "Ep2”.",
    ]
    with Workspace.open(root, writable=False) as workspace:
        digest = workspace.library.find_base("smol").digest
    config = json.loads((stranger / "adapter_config.json").read_text())
    config["veneer.base_sha256"] = digest
    (stranger / "adapter_config.json").write_text(json.dumps(config))
    ask(root, "import", str(stranger), "--name", "sure")
    assert ask(root, "check", "sure", "--base", "smol")["fit"] == "digest"
    said = veneer(root, "check", "sure", "--base", "smol").stdout.splitlines()
    assert said[1:] == ["  The adapter declares exactly this base."]


def test_confirming_on_the_command_line(root: Path, stranger: Path, tmp_path: Path):
    ask(root, "import", str(stranger))
    ask(root, "compose", "strange", "--base", "smol", "--adapter", "stranger")
    assert ask(root, "activate", "strange", code=1)["error"]["code"] == "CONFIRM_BASE"
    assert ask(root, "history") == []
    out = tmp_path / "out.npy"
    words = ["probe", "--ids", "1,2", "--composition", "strange", "--out", str(out)]
    assert ask(root, *words, code=1)["error"]["code"] == "CONFIRM_BASE"
    assert not out.exists()
    ask(root, *words, "--confirm-base")
    assert np.load(out).shape == (49152,)
    assert ask(root, "activate", "strange", "--confirm-base")["state"] == "COMMITTED"
    (generation,) = ask(root, "history")
    assert set(generation["confirmed"][0]) == {"adapter", "base"}
    assert "confirmed: “stranger” belongs on “smol”" in veneer(root, "history").stdout


def test_a_stack_goes_to_another_workspace(root: Path, tmp_path: Path, base_path: Path):
    done = ask(root, "export", "composition:both", str(tmp_path / "both.slm"))
    assert (done["name"], done["adapters"], done["base_included"]) == ("both", 2, False)
    assert done["size"] == (tmp_path / "both.slm").stat().st_size
    with Workspace.open(tmp_path / "other") as other:
        other.import_path(base_path)
    taken = ask(tmp_path / "other", "import", str(tmp_path / "both.slm"))
    assert (taken["kind"], taken["id"]) == ("stack", done["composition_id"])
    again = veneer(root, "export", "composition:both", str(tmp_path / "both.slm"), code=1)
    assert again.stderr.startswith("error[NAME_TAKEN]: There is a file")
