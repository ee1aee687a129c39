"""Run llama.cpp's converter over a list of jobs, in a process of its own.

`python convert.py LLAMA_CPP JOBS`: JOBS is a JSON list of {"model", "base", "adapter", "lora"}:
two folders to read, two GGUF files to write; the last two may be missing. Prints a JSON object
with the reason of each job that failed.
"""

import importlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import numpy as np


def main(llama_cpp: Path, jobs: list[dict[str, str]]) -> dict[str, str]:
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]
    # Imported once, before the forks: it takes seconds.
    importlib.import_module("conversion")
    return {job["model"]: why for job in jobs if (why := attempt(llama_cpp, job))}


def attempt(llama_cpp: Path, job: dict[str, str]) -> str:
    """Convert in a fork, which may end in any way. Gives why it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            convert_base(Path(job["model"]), Path(job["base"]))
            if "adapter" in job:
                convert_lora(llama_cpp, job)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a fork must not return into its parent's work
            os.write(writing, traceback.format_exc().encode()[-4000:])
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as said:
        why = said.read()
    _, status = os.waitpid(child, 0)
    return why or (f"it ended with status {status}" if status else "")


def convert_base(model: Path, out: Path) -> None:
    import gguf
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class

    # transformers drops the old names of what it has renamed, and the converter wants them.
    hparams = json.loads((model / "config.json").read_text()) | ModelBase.load_hparams(model, False)
    known = get_model_class(get_model_architecture(hparams, ModelType.TEXT))

    class WithoutTokenizer(known):
        model_arch = known.model_arch

        def set_vocab(self) -> None:
            size = self.hparams["vocab_size"]
            writer = self.gguf_writer
            names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
            kinds = [2, 3, 3] + [6] * 256
            writer.add_tokenizer_model("llama")
            writer.add_token_list(names + [f"t{i}" for i in range(len(names), size)])
            writer.add_token_scores(np.zeros(size, np.float32).tolist())
            writer.add_token_types(kinds + [1] * (size - len(kinds)))
            writer.add_bos_token_id(1)
            writer.add_eos_token_id(2)

    WithoutTokenizer(model, gguf.LlamaFileType.ALL_F32, out, eager=True, hparams=hparams).write()


def convert_lora(llama_cpp: Path, job: dict[str, str]) -> None:
    script = llama_cpp / "convert_lora_to_gguf.py"
    sys.argv = [
        str(script), "--base", job["model"], "--outfile", job["lora"], "--outtype", "f32",
        job["adapter"],
    ]  # fmt: skip
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    outcome = main(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()))
    Path(sys.argv[2]).with_suffix(".failed").write_text(json.dumps(outcome))
