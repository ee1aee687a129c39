"""mlx-lm's two files: a config of training options, and weights the other way round.

Order: the config -> the pairs of factors -> their ranks, compared with the config.
"""

from collections.abc import Generator
from contextlib import contextmanager

from veneer.adapters.contents import Contents, Matrix, Stored
from veneer.adapters.factors import Pair, checked, low_rank
from veneer.adapters.source import MLX_WEIGHTS, PEFT_CONFIG, Source
from veneer.errors import FormatError
from veneer.formats import mlx, safetensors


@contextmanager
def open_mlx(source: Source) -> Generator[Contents]:
    """Open an MLX adapter. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(PEFT_CONFIG) as file:
        config = mlx.read_config(file)
    with source.open(MLX_WEIGHTS) as file:
        header = safetensors.read_header(file)
        stored = {t.name: Stored(t.name, t.dtype, t.shape) for t in header.tensors.values()}
        pairs = tuple(_pair(keys, stored, config.rank) for keys in mlx.pair_keys(stored))

        def read(name: str) -> Matrix:
            return safetensors.read_tensor(file, header, name)

        yield Contents(
            kind="lora",
            parts=tuple(low_rank(pair, config.scaling, read) for pair in pairs),
            tensors=stored,
            read=read,
            base_model=config.base_model,
        )


def _pair(keys: mlx.MlxKeys, stored: dict[str, Stored], rank: int) -> Pair:
    pair = checked(
        Pair(
            keys.module,
            stored[keys.a],
            stored[keys.b],
            embedding=keys.embedding,
            a_flipped=True,
            b_flipped=True,
        )
    )
    if pair.rank != rank:
        message = f"{pair.module} has rank {pair.rank}, but {PEFT_CONFIG} says {rank}."
        raise FormatError("CONFIG", message)
    return pair
