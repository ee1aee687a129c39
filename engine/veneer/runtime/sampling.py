"""Choosing the next token, with llama.cpp's own samplers. Worker process only."""

import secrets
from typing import Any

from veneer.runtime.llama import Context, api
from veneer.runtime.protocol import Sampling

_PENALTY_WINDOW = 64


class Sampler:
    """A chain of samplers for one answer. Close it when the answer is done."""

    def __init__(self, settings: Sampling, n_vocab: int) -> None:
        self._chain: Any = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        for link in _links(settings, n_vocab):
            api.llama_sampler_chain_add(self._chain, link)

    def next(self, context: Context) -> int:
        """Choose a token from the context's last logits, and remember it for the penalties."""
        return int(api.llama_sampler_sample(self._chain, context.handle, -1))

    def close(self) -> None:
        """Free the chain."""
        api.llama_sampler_free(self._chain)


def _links(settings: Sampling, n_vocab: int) -> list[Any]:
    links: list[Any] = []
    if settings.repeat_penalty != 1.0:
        links.append(
            api.llama_sampler_init_penalties(
                n_vocab, _PENALTY_WINDOW, settings.repeat_penalty, 0.0, 0.0
            )
        )
    if settings.temperature <= 0:
        return [*links, api.llama_sampler_init_greedy()]
    seed = settings.seed if settings.seed is not None else secrets.randbits(32)
    return [
        *links,
        api.llama_sampler_init_top_k(settings.top_k),
        api.llama_sampler_init_top_p(settings.top_p, 1),
        api.llama_sampler_init_min_p(settings.min_p, 1),
        api.llama_sampler_init_temp(settings.temperature),
        api.llama_sampler_init_dist(seed & 0xFFFFFFFF),
    ]
