"""How fast a switch is, and how fast the next answer starts. `pytest -m bench tests/bench -s`.

A switch is compared with what llama.cpp itself takes to arrange its buffers for another set of
adapters, measured in this process at the same time; a first token with the same turn when nothing
was switched.
"""

import json
from itertools import cycle
from pathlib import Path
from statistics import median

import msgspec
import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.bench.test_import import seconds
from tests.engine.adapters.tiny import Files
from veneer import Workspace
from veneer.adapters.base import read_base
from veneer.adapters.reading import read_adapter
from veneer.adapters.runtime_form import write_runtime_form
from veneer.chat.talk import Answer
from veneer.compose.plan import ContextSettings, LaneWish
from veneer.runtime.llama import Context, LoadedAdapter, Model
from veneer.runtime.protocol import ChatMessage, Sampling

pytestmark = pytest.mark.bench
SWITCHES = 40
TURNS = 5
CONVERSATION = 700
GREEDY = Sampling(temperature=0.0)
LINEARS = {
    "self_attn.q_proj": (576, 576),
    "self_attn.k_proj": (192, 576),
    "self_attn.v_proj": (192, 576),
    "self_attn.o_proj": (576, 576),
    "mlp.gate_proj": (1536, 576),
    "mlp.up_proj": (1536, 576),
    "mlp.down_proj": (576, 1536),
}


def bare(base_path: Path) -> tuple[Model, Context]:
    """The demo base in this process, with no Veneer around it."""
    settings = ContextSettings(n_ctx=1024)
    model = Model(str(base_path), settings)
    return model, Context(model, settings, 1024)


def pirate_form(folder: Path, base_path: Path, out: Path) -> Path:
    source = Files({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
    with base_path.open("rb") as base, out.open("wb") as file:
        write_runtime_form(read_adapter(source), source, read_base(base), file)
    return out


def take(workspace: Workspace, lane: LaneWish) -> None:
    workspace.change_settings(msgspec.structs.replace(workspace.settings, lane=lane))


@pytest.mark.parametrize("lane", ["stock", "overlay"])
def test_switching_between_resident_compositions(
    workspace: Workspace,
    base_path: Path,
    adapter_paths: dict[str, Path],
    tmp_path: Path,
    lane: LaneWish,
):
    take(workspace, lane)
    model, context = bare(base_path)
    form = pirate_form(adapter_paths["pirate"], base_path, tmp_path / "pirate.gguf")
    adapter = LoadedAdapter(model, str(form), "pirate", 0)
    sets = cycle([[(adapter, 1.0)], [(adapter, 0.5)]])

    def decode() -> None:
        context.clear()
        context.decode((1,))

    def rearrange() -> None:
        """Another set makes llama.cpp reserve its buffers again at the next decode."""
        context.set_adapters(next(sets))
        decode()

    names = cycle(["pirates", "objects", "both", "plain"])
    for _ in range(4):
        workspace.activate(next(names))
    took: list[list[float]] = [[], [], []]
    for _ in range(SWITCHES):
        took[0].append(seconds(lambda: workspace.activate(next(names))))
        took[1].append(seconds(rearrange))
        took[2].append(seconds(decode))
    switch, arranged, decoded = (median(times) * 1000 for times in took)
    print(
        f"\na switch, {lane}: {switch:.1f} ms from asking to published; llama.cpp's own "
        f"rearrangement {arranged - decoded:.1f} ms, one decode {decoded:.1f} ms"
    )
    # Beyond llama.cpp's part 5 ms, on a machine that decodes a token of the demo base in 10.
    assert switch < arranged - decoded + 0.5 * decoded


def long_talk(words: int) -> list[ChatMessage]:
    told = " ".join(f"Item {number} is on the list." for number in range(words))
    return [ChatMessage("user", told)]


def test_the_first_token_after_switching_back(workspace: Workspace, base_path: Path):
    _, context = bare(base_path)
    context.decode(tuple(range(100, 100 + 256)))
    context.decode(tuple(range(100, 100 + 256)))
    state = context.save()

    def turn(talk: list[ChatMessage]) -> Answer:
        answer = workspace.talk.ask([*talk], GREEDY, max_tokens=4)
        talk += [ChatMessage("assistant", answer.text), ChatMessage("user", "Go on.")]
        return answer

    workspace.activate("pirates")
    talk = long_talk(CONVERSATION // 8)
    first = turn(talk)
    stayed: list[float] = []
    back: list[float] = []
    steps: list[float] = []
    restores: list[float] = []
    for _ in range(TURNS):
        stayed.append(turn(talk).first_token_ms)
        workspace.activate("objects")
        workspace.talk.ask(long_talk(3), GREEDY, max_tokens=2)
        workspace.activate("pirates")
        returned = turn(talk)
        assert returned.reused_tokens > CONVERSATION
        back.append(returned.first_token_ms)
        steps.append(1000 / returned.tokens_per_second)
        fresh = returned.prompt_tokens - returned.reused_tokens
        restores.append(seconds(lambda: context.restore(state)) * CONVERSATION / 512)
    restore, step = median(restores) * 1000, median(steps)
    print(
        f"\nfirst token of a turn after {CONVERSATION} tokens: {median(stayed):.0f} ms, after "
        f"switching away and back {median(back):.0f} ms (restoring takes {restore:.0f} ms, the "
        f"{fresh} new tokens {step:.1f} ms each); computing all of it takes "
        f"{first.first_token_ms:.0f} ms"
    )
    assert median(back) < 1.5 * median(stayed) + restore
    assert median(back) < 1.5 * step * fresh + restore


def big_adapter(folder: Path, seed: int) -> Path:
    """Ten megabytes of rank 8 on all linears, F32."""
    rng = np.random.default_rng(seed)
    tensors = {}
    for layer in range(30):
        for path, (rows, columns) in LINEARS.items():
            stem = f"base_model.model.model.layers.{layer}.{path}"
            tensors[f"{stem}.lora_A.weight"] = rng.normal(0, 0.02, (8, columns)).astype("f4")
            tensors[f"{stem}.lora_B.weight"] = rng.normal(0, 0.02, (rows, 8)).astype("f4")
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA", "r": 8, "lora_alpha": 8, "task_type": "CAUSAL_LM",
        "target_modules": [path.split(".")[1] for path in LINEARS],
        "base_model_name_or_path": "HuggingFaceTB/SmolLM2-135M-Instruct",
    }  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize("lane", ["stock", "overlay"])
def test_activating_an_adapter_that_is_not_in_memory(
    workspace: Workspace, base_path: Path, tmp_path: Path, lane: LaneWish
):
    take(workspace, lane)
    model, context = bare(base_path)

    def decode() -> None:
        context.clear()
        context.decode((1,))

    workspace.activate("plain")
    took: list[float] = []
    decoded: list[float] = []
    for seed in range(2 * TURNS + 1):
        name = f"big{seed}"
        path = big_adapter(tmp_path / name, seed)
        workspace.import_path(path, name=name)
        workspace.compose("smol", [(name, 1.0)], name=name)
        decoded += [seconds(decode) for _ in range(5)]
        took.append(seconds(lambda name=name: workspace.activate(name)))
        workspace.activate("plain")
    size = (path / "adapter_model.safetensors").stat().st_size
    activation, token = median(took[1:]) * 1000, median(decoded) * 1000
    print(
        f"\nactivating an adapter of {size / 1e6:.1f} MB for the first time, {lane}: "
        f"{activation:.0f} ms, probe included; a token takes {token:.1f} ms"
    )
    # The aim is 150 ms on a machine that decodes a token of the demo base in 10; the rest of the
    # bound is for machines on which others work, too.
    assert activation < 25 * token
    context.close()
    model.close()
