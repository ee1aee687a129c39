"""How a conversation is held: the system prompt, and how the next token is chosen."""

import msgspec

from veneer.runtime.protocol import Sampling

DEFAULT_MAX_TOKENS = 512


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer of a conversation is asked for with."""

    system: str = ""
    sampling: Sampling = Sampling()
    max_tokens: int = DEFAULT_MAX_TOKENS


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A setup under a name, for use in any conversation."""

    name: str
    setup: Setup


BUILT_IN: tuple[Preset, ...] = (
    Preset(name="Balanced", setup=Setup()),
    Preset(name="Precise", setup=Setup(sampling=Sampling(temperature=0.2, top_k=20, top_p=0.8))),
    Preset(name="Inventive", setup=Setup(sampling=Sampling(temperature=1.2, top_k=80))),
    Preset(name="Greedy", setup=Setup(sampling=Sampling(temperature=0.0))),
)
"""Those that are always there. They leave the system prompt alone; a saved one brings its own."""
