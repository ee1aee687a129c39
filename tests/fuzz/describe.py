"""Writes models.json anew: `python -m tests.fuzz.describe FOLDER`.

FOLDER has a folder with a `base.gguf` for each architecture, as tests/parity has them made by
llama.cpp's converter. Kept are names, shapes and metadata; the numbers are random anyway.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from veneer.formats.gguf import GgufHeader, read_header

TOKENIZER = "tokenizer.ggml."


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    if isinstance(value, tuple):
        return [text.decode() for text in value]
    return value


def described(header: GgufHeader) -> tuple[dict[str, Any], dict[str, Any]]:
    metadata = {key: plain(value) for key, value in header.metadata.items()}
    tokenizer = {key: value for key, value in metadata.items() if key.startswith(TOKENIZER)}
    own = {key: value for key, value in metadata.items() if key not in tokenizer}
    tensors = {tensor.name: tensor.shape for tensor in header.tensors.values()}
    return tokenizer, {"metadata": own, "tensors": tensors}


def main(folder: Path) -> None:
    models, tokenizer = {}, {}
    for path in sorted(folder.glob("*/base.gguf")):
        with path.open("rb") as file:
            tokenizer, models[path.parent.name] = described(read_header(file))
    written = json.dumps({"tokenizer": tokenizer, "models": models}, separators=(",", ":"))
    Path(__file__).with_name("models.json").write_text(written + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
