"""From a manifest to a `RuntimePlan`: every question about the adapters is answered here.

Order: the base is found and matched against the manifest -> each adapter is found, verified and
checked against the base -> its runtime form is made -> the plan is put together. Whatever cannot
be applied exactly is refused here, before the worker hears of it.
"""

from collections.abc import Callable
from pathlib import Path

from veneer.compose.forms import Forms
from veneer.compose.manifest import AdapterRef, Manifest
from veneer.compose.plan import ContextSettings, PlannedAdapter, RuntimePlan
from veneer.compose.stacks import base_ref
from veneer.errors import Incompatible, NeedsOverlay, blaming
from veneer.identity import execution_id
from veneer.store.custody import Custody
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.tasks import CancelToken, Progress, silent

LANE = "stock"
_F32 = 4


class Compiler:
    """Compiles manifests against one workspace."""

    def __init__(self, library: Library, custody: Custody, forms: Forms) -> None:
        self._library = library
        self._custody = custody
        self._forms = forms

    def validate(
        self,
        manifest: Manifest,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> tuple[StoredBase, tuple[StoredAdapter, ...]]:
        """Find, verify and check everything the manifest names.

        Raises `NotFound`, `Damaged`, `Incompatible`, `NeedsOverlay`, `Cancelled`.
        """
        (digest,) = manifest.composition.base.digests
        with blaming(digest):
            base = self._base(manifest)
            self._custody.verify_base(base, progress, cancel)
        adapters: list[StoredAdapter] = []
        for ref in manifest.composition.adapters:
            if cancel is not None:
                cancel.check()
            with blaming(ref.digest):
                adapters.append(self._adapter(ref, base))
        return base, tuple(adapters)

    def find(self, manifest: Manifest) -> tuple[StoredBase, tuple[StoredAdapter, ...]]:
        """What the manifest names, neither verified nor checked. Raises `NotFound`."""
        (digest,) = manifest.composition.base.digests
        adapters = manifest.composition.adapters
        return self._library.base(digest), tuple(self._library.adapter(a.digest) for a in adapters)

    def plan(
        self,
        manifest: Manifest,
        base: StoredBase,
        adapters: tuple[StoredAdapter, ...],
        context: ContextSettings,
        runtime_build: str,
    ) -> RuntimePlan:
        """Put the plan together, making runtime forms as needed."""
        execution = execution_id(manifest.id, runtime_build, LANE, context.identity())
        scales = [ref.scale for ref in manifest.composition.adapters]
        return RuntimePlan(
            composition=manifest.id,
            execution=execution,
            base=base.digest,
            base_name=base.name,
            base_path=base.path,
            adapters=tuple(
                PlannedAdapter(
                    digest=adapter.digest,
                    name=adapter.name,
                    path=str(self._form(adapter, base)),
                    scale=scale,
                    size=adapter.adapter.weights * _F32,
                )
                for adapter, scale in zip(adapters, scales, strict=True)
            ),
            context=context,
        )

    def _form(self, adapter: StoredAdapter, base: StoredBase) -> Path:
        with blaming(adapter.digest):
            return self._forms.ensure(adapter, base)

    def _base(self, manifest: Manifest) -> StoredBase:
        (digest,) = manifest.composition.base.digests
        base = self._library.base(digest)
        if base_ref(base) != manifest.composition.base:
            raise Incompatible(
                f"The manifest describes the base “{base.name}” differently from what it is: its "
                "architecture, tokenizer or quantization does not match."
            )
        return base

    def _adapter(self, ref: AdapterRef, base: StoredBase) -> StoredAdapter:
        adapter = self._library.adapter(ref.digest)
        self._custody.verify_adapter(adapter)
        report = self._library.check(adapter.digest, base.digest)
        if not report.ok:
            raise _refusal(report.problems[0].code)(
                f"“{adapter.name}” cannot be applied to “{base.name}”: "
                + report.problems[0].message
                + (f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else "")
            )
        return adapter


def _refusal(code: str) -> Callable[[str], Incompatible | NeedsOverlay]:
    return NeedsOverlay if code == NeedsOverlay.code else Incompatible
