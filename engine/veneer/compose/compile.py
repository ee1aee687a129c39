"""From a manifest to a `RuntimePlan`: every question about the adapters is answered here.

Order: the base is found and matched against the manifest -> each adapter is found, verified and
checked against the base -> the lane is chosen -> each adapter's form for it is made -> the plan
is put together. Whatever cannot be applied exactly is refused here, before the worker hears of it.
"""

from collections.abc import Iterator

from veneer.compose.forms import Forms
from veneer.compose.lanes import Beyond, Offer, choose, lane_id
from veneer.compose.manifest import AdapterRef, Manifest
from veneer.compose.plan import ContextSettings, Lane, LaneWish, PlannedAdapter, RuntimePlan
from veneer.compose.stacks import base_ref
from veneer.errors import Incompatible, blaming
from veneer.identity import execution_id
from veneer.store.custody import Custody
from veneer.store.library import Library
from veneer.store.records import StoredAdapter, StoredBase
from veneer.tasks import CancelToken, Progress, silent

_F32 = 4
_TOKENS = 4


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

        Raises `NotFound`, `Damaged`, `Incompatible`, `Cancelled`.
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
        offer: Offer,
        wish: LaneWish,
        cancel: CancelToken | None = None,
    ) -> RuntimePlan:
        """Put the plan together, making forms as needed.

        Raises `NeedsOverlay` with the reason why that lane is off, `Cancelled`, and as
        `Forms.stock`.
        """
        lane = choose(wish, offer, context, self._beyond(adapters, base))
        execution = execution_id(manifest.id, offer.build, lane_id(lane, offer), context.identity())
        scales = [ref.scale for ref in manifest.composition.adapters]
        return RuntimePlan(
            composition=manifest.id,
            execution=execution,
            base=base.digest,
            base_name=base.name,
            base_path=base.path,
            adapters=tuple(
                self._planned(adapter, base, scale, lane, cancel)
                for adapter, scale in zip(adapters, scales, strict=True)
            ),
            context=context,
            lane=lane,
        )

    def _planned(
        self,
        adapter: StoredAdapter,
        base: StoredBase,
        scale: float,
        lane: Lane,
        cancel: CancelToken | None,
    ) -> PlannedAdapter:
        gains = None
        with blaming(adapter.digest):
            if lane == "stock":
                path = self._forms.stock(adapter, base)
            else:
                path = self._forms.overlay(adapter, base)
                # An adapter at scale 0 is off.
                gains = self._forms.gains(adapter, base, scale, cancel) if scale else None
        return PlannedAdapter(
            digest=adapter.digest,
            name=adapter.name,
            path=str(path),
            scale=scale,
            size=adapter.adapter.weights * _F32,
            gains=str(gains or ""),
            tokens=next((t.tokens[:_TOKENS] for t in adapter.adapter.targets if t.tokens), ()),
        )

    def _beyond(self, adapters: tuple[StoredAdapter, ...], base: StoredBase) -> Iterator[Beyond]:
        for adapter in adapters:
            for found in self._library.check(adapter.digest, base.digest).beyond_stock[:1]:
                yield Beyond(adapter.name, found.message)

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
            raise Incompatible(
                f"“{adapter.name}” cannot be applied to “{base.name}”: "
                + report.problems[0].message
                + (f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else "")
            )
        return adapter
