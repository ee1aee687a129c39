"""Samples of the base's weights that an adapter brought along, in place of the whole copies.

PEFT saves the embedding or the head of the base with an adapter that has factors for it: as large
as a small model, and nothing but the base's own weight. What such a copy can tell is whether the
adapter was trained over this very weight, and some of its rows tell that as well. So a file with
copies is rewritten: every other tensor as it is, and of each copy up to `ROWS` rows spread evenly,
as a tensor of its own; the metadata keep how many rows there were. The same file always gives the
same rewritten one, and a rewritten file has no copies.
"""

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from veneer.errors import FormatError
from veneer.formats.peft_keys import PREFIX as PEFT_PREFIX
from veneer.formats.safetensors import SafetensorsHeader, StoredTensor
from veneer.formats.safetensors_writer import TensorBytes, file_chunks

PREFIX: Final = "veneer.witness."
"""Before the module's name: the name of the sample, and of the count in the metadata."""
ROWS: Final = 128
_COPY: Final = re.compile(
    rf"{re.escape(PEFT_PREFIX)}((?:[\w.\-]+\.)?"
    r"(?:embed_tokens|tok_embeddings|word_embeddings|embed_in|wte|lm_head|embed_out|output))"
    r"\.base_layer\.weight",
    re.ASCII,
)
_CHUNK: Final = 1 << 20


def sampled(rows: int) -> tuple[int, ...]:
    """Which of so many rows are kept, ascending."""
    kept = min(rows, ROWS)
    return tuple(index * rows // kept for index in range(kept))


def rewritten(file: BinaryIO, header: SafetensorsHeader) -> tuple[int, Iterator[bytes]] | None:
    """The size and bytes of the file without copies; None if it has none.

    Raises `FormatError` NAME or SHAPE for a copy that is no matrix or has its sample beside it.
    """
    copies = {name: match[1] for name in header.tensors if (match := _COPY.fullmatch(name))}
    if not copies:
        return None
    metadata, tensors = dict(header.metadata), list[TensorBytes]()
    for tensor in header.tensors.values():
        module = copies.get(tensor.name)
        if module is None:
            tensors.append(_same(file, tensor))
            continue
        if len(tensor.shape) != 2:
            raise FormatError("SHAPE", f"{tensor.name} is not a matrix: {list(tensor.shape)}.")
        if PREFIX + module in header.tensors:
            raise FormatError("NAME", f"{tensor.name} is here twice, whole and as a sample.")
        metadata[PREFIX + module] = str(tensor.shape[0])
        tensors.append(_sample(file, tensor, module))
    return file_chunks(tensors, metadata)


def witnesses(header: SafetensorsHeader) -> Mapping[str, int]:
    """How many rows the copy had, by the module whose sample is here.

    Raises `FormatError` NAME or SHAPE unless each sample has its count, and as many rows as that
    count leaves.
    """
    names = [name for name in header.tensors if name.startswith(PREFIX)]
    return {name.removeprefix(PREFIX): _rows(header, name) for name in names}


def _rows(header: SafetensorsHeader, name: str) -> int:
    told = header.metadata.get(name, "")
    if not re.fullmatch("[1-9][0-9]{0,8}", told, re.ASCII):
        raise FormatError("NAME", f"{name} does not say of how many rows it is a sample.")
    shape = header.tensors[name].shape
    if len(shape) != 2 or shape[0] != len(sampled(int(told))):
        raise FormatError("SHAPE", f"{name} is no sample of {told} rows: {list(shape)}.")
    return int(told)


def _same(file: BinaryIO, tensor: StoredTensor) -> TensorBytes:
    nbytes = tensor.stop - tensor.start
    chunks = _read(file, tensor.start, nbytes)
    return TensorBytes(tensor.name, tensor.dtype, tensor.shape, nbytes, chunks)


def _sample(file: BinaryIO, tensor: StoredTensor, module: str) -> TensorBytes:
    rows, width = tensor.shape
    stride = (tensor.stop - tensor.start) // rows
    kept = sampled(rows)
    chunks = (chunk for row in kept for chunk in _read(file, tensor.start + row * stride, stride))
    nbytes = len(kept) * stride
    return TensorBytes(PREFIX + module, tensor.dtype, (len(kept), width), nbytes, chunks)


def _read(file: BinaryIO, start: int, nbytes: int) -> Iterator[bytes]:
    file.seek(start)
    while nbytes:
        chunk = file.read(min(nbytes, _CHUNK))
        if not chunk:
            raise FormatError("TRUNCATED", "The file became shorter while it was read.")
        yield chunk
        nbytes -= len(chunk)
        start += len(chunk)
