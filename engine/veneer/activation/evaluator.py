"""Looking at the numbers themselves: tokens and logits, for checking reproducibility."""

import io
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from veneer.activation.activator import Activator
from veneer.compose.plan import LaneWish
from veneer.compose.stacks import Composition
from veneer.identity import Digest
from veneer.runtime.client import RuntimeClient
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.tasks import CancelToken


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What was computed: `out` names the file of logits, if one was asked for."""

    token_ids: tuple[int, ...]
    composition_id: Digest
    vocabulary: int | None
    out: str | None


class Evaluator:
    """Evaluates tokens under the active composition, or under another one run apart."""

    def __init__(self, fs: Fs, activator: Activator, runtime: RuntimeClient) -> None:
        self._fs = fs
        self._activator = activator
        self._runtime = runtime

    def logits(
        self,
        token_ids: tuple[int, ...],
        composition: Composition | None = None,
        cancel: CancelToken | None = None,
        *,
        confirm_base: bool = False,
        lane: LaneWish | None = None,
    ) -> NDArray[np.float32]:
        """Logits after these tokens, from an empty context: float32, shape (n_vocab,)."""
        with self._running(composition, cancel, confirm_base, lane) as (runtime, _):
            return runtime.evaluate(token_ids)

    def tokenize(self, text: str, composition: Composition | None = None) -> tuple[int, ...]:
        """Text to token ids, without a template."""
        # Adapters have no part in this, so nothing about them needs to be confirmed.
        with self._running(composition, None, True) as (runtime, _):
            return runtime.tokenize(text)

    def probe(
        self,
        tokens: str | tuple[int, ...],
        composition: Composition | None,
        out: Path | None,
        *,
        confirm_base: bool = False,
        lane: LaneWish | None = None,
    ) -> Probed:
        """Tokenize a text if one is given; write logits as .npy if `out` is given."""
        with self._running(composition, None, confirm_base, lane) as (runtime, digest):
            ids = runtime.tokenize(tokens) if isinstance(tokens, str) else tokens
            vocabulary = None if out is None else self._write(out, runtime.evaluate(ids))
        return Probed(
            token_ids=ids,
            composition_id=digest,
            vocabulary=vocabulary,
            out=None if out is None else str(out),
        )

    def _write(self, out: Path, logits: NDArray[np.float32]) -> int:
        buffer = io.BytesIO()
        np.save(buffer, logits, allow_pickle=False)
        with Draft(self._fs, out.absolute().parent) as draft:
            draft.write(buffer.getvalue())
            draft.publish(out.absolute())
        return int(logits.size)

    @contextmanager
    def _running(
        self,
        composition: Composition | None,
        cancel: CancelToken | None,
        confirm_base: bool,
        lane: LaneWish | None = None,
    ) -> Generator[tuple[RuntimeClient, Digest]]:
        if composition is None:
            with self._activator.serving(cancel) as active:
                yield self._runtime, active.composition
            return
        apart = self._runtime.twin()
        try:
            self._activator.start_apart(
                composition, apart, confirm_base=confirm_base, lane=lane, cancel=cancel
            )
            yield apart, composition.id
        finally:
            apart.close()
