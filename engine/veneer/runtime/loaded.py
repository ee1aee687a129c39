"""The adapters that a base has in memory, in the form of each lane. Worker process only."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from veneer.compose.plan import Lane, PlannedAdapter
from veneer.identity import Digest
from veneer.runtime.llama import Context, LoadedAdapter, Model

if TYPE_CHECKING:
    from veneer._overlay import Plan
    from veneer.runtime.overlay_plan import LoadedForm


@dataclass(frozen=True)
class AdapterSet:
    """What one composition puts over its base: llama.cpp's own adapters, or an overlay's plan."""

    stock: tuple[tuple[LoadedAdapter, float], ...] = ()
    plan: "Plan | None" = None

    def put_on(self, context: Context) -> None:
        """Have the context compute under this set, and under nothing else, from now on."""
        context.set_adapters(self.stock)
        if context.overlay is not None:
            context.overlay.publish(self.plan)


class LoadedAdapters:
    """Loads what is asked for and keeps it, used longest ago first."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._stock: OrderedDict[Digest, LoadedAdapter] = OrderedDict()
        self._overlay: OrderedDict[Digest, LoadedForm] = OrderedDict()

    def ensure(self, planned: PlannedAdapter, lane: Lane) -> None:
        """Have an adapter in memory. Raises `RuntimeRefused`, `FormatError`, `StoreError`."""
        if lane == "stock":
            self._stock_adapter(planned)
        else:
            self._form(planned)

    def together(self, wanted: Sequence[PlannedAdapter], lane: Lane) -> AdapterSet:
        """These adapters as one set. Raises as `ensure`, and `Incompatible`."""
        if lane == "stock":
            return AdapterSet(stock=tuple((self._stock_adapter(a), a.scale) for a in wanted))
        if not wanted:
            return AdapterSet()
        from veneer.runtime.overlay_plan import Layer, plan_of, read_gains

        return AdapterSet(
            plan=plan_of(
                [
                    Layer(self._form(a), a.scale, read_gains(Path(a.gains)) if a.gains else {})
                    for a in wanted
                ]
            )
        )

    def trim(self, needed: frozenset[Digest], budget: int) -> None:
        """Free what was unused for longest until the idle ones take at most `budget` bytes.

        What is `needed` stays; the others must be unset.
        """
        idle = [(kept, d) for kept in (self._stock, self._overlay) for d in kept if d not in needed]
        excess = sum(kept[digest].bytes for kept, digest in idle) - budget
        for kept, digest in idle:
            if excess <= 0:
                return
            dropped = kept.pop(digest)
            excess -= dropped.bytes
            if isinstance(dropped, LoadedAdapter):
                dropped.close()

    def close(self) -> None:
        """Free all of them. No context may use any."""
        for adapter in self._stock.values():
            adapter.close()
        self._stock.clear()
        self._overlay.clear()

    def _stock_adapter(self, planned: PlannedAdapter) -> LoadedAdapter:
        if planned.digest not in self._stock:
            loaded = LoadedAdapter(self._model, planned.path, planned.name, planned.size)
            self._stock[planned.digest] = loaded
        self._stock.move_to_end(planned.digest)
        return self._stock[planned.digest]

    def _form(self, planned: PlannedAdapter) -> "LoadedForm":
        from veneer.runtime.overlay_plan import LoadedForm

        if planned.digest not in self._overlay:
            self._overlay[planned.digest] = LoadedForm(Path(planned.path))
        self._overlay.move_to_end(planned.digest)
        return self._overlay[planned.digest]
