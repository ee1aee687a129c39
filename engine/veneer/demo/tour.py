"""The demo's steps: base, A, A+B, base again, with the proof that nothing stuck to the base."""

from collections.abc import Callable

import msgspec

from veneer import demo
from veneer.errors import Cancelled, NotFound
from veneer.identity import Digest, sha256_file
from veneer.runtime.protocol import ChatMessage, Sampling
from veneer.store.fs import RealFs
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace

_MAX_TOKENS = 48
_STOPPED = "The demo was stopped. What it has imported and activated stays."


class DemoStep(msgspec.Struct, frozen=True, kw_only=True):
    """One composition activated and asked."""

    name: str
    composition_id: Digest
    generation: int
    timings_ms: dict[str, float]
    text: str
    token_ids: tuple[int, ...]
    tokens_per_second: float


class DemoResult(msgspec.Struct, frozen=True, kw_only=True):
    """All steps, and whether the base came through untouched."""

    question: str
    base: str
    adapters: tuple[str, ...]
    steps: tuple[DemoStep, ...]
    base_repeats_exactly: bool
    base_sha256_before: Digest
    base_sha256_after: Digest
    base_unchanged: bool


def run_demo(
    workspace: Workspace,
    progress: Progress,
    on_step: Callable[[DemoStep], None],
    cancel: CancelToken | None = None,
) -> DemoResult:
    """Import what is missing, then ask under each composition. Raises `NotFound`, `Cancelled`."""
    try:
        return _toured(workspace, progress, on_step, cancel or CancelToken())
    except Cancelled as error:
        raise Cancelled(_STOPPED) from error


def _toured(
    workspace: Workspace,
    progress: Progress,
    on_step: Callable[[DemoStep], None],
    cancel: CancelToken,
) -> DemoResult:
    path = demo.embedded_base()
    if path is None:
        raise NotFound("The embedded base is not installed. Run: pip install 'veneer[demo]'")
    base = workspace.import_path(path, progress=progress, cancel=cancel).value
    adapters = tuple(
        workspace.import_path(folder, cancel=cancel).value.name for folder in demo.adapters()
    )
    before = workspace.library.base(base.id).digest
    first, second = adapters[0], adapters[-1]
    stacks: list[tuple[str, list[tuple[str, float | None]]]] = [
        (base.name, []),
        (first, [(first, 1.0)]),
        (f"{first} + {second}", [(first, 1.0), (second, 1.0)]),
        (base.name, []),
    ]
    steps: list[DemoStep] = []
    for name, pairs in stacks:
        steps.append(_step(workspace, base.name, name, pairs, cancel))
        on_step(steps[-1])
    with RealFs().open_read(path) as file:
        after = sha256_file(file, 0)
    return DemoResult(
        question=demo.QUESTION,
        base=base.name,
        adapters=adapters,
        steps=tuple(steps),
        base_repeats_exactly=steps[0].token_ids == steps[-1].token_ids,
        base_sha256_before=before,
        base_sha256_after=after,
        base_unchanged=before == after,
    )


def _step(
    workspace: Workspace,
    base: str,
    name: str,
    pairs: list[tuple[str, float | None]],
    cancel: CancelToken,
) -> DemoStep:
    composition = workspace.compose(base, pairs, name=name).value
    activation = workspace.activate(composition.id, cancel=cancel).value
    question = (ChatMessage("user", demo.QUESTION),)
    greedy = Sampling(temperature=0.0)
    answer = workspace.talk.ask(question, greedy, max_tokens=_MAX_TOKENS, cancel=cancel)
    cancel.check()
    return DemoStep(
        name=name,
        composition_id=composition.id,
        generation=activation.generation,
        timings_ms=activation.timings_ms,
        text=answer.text,
        token_ids=answer.token_ids,
        tokens_per_second=answer.tokens_per_second,
    )
