"""What every place is given: the engine's operations, the switch, imports and verdicts."""

from dataclasses import dataclass

from veneer.demo import embedded_base
from veneer_app.imports.queue import ImportQueue
from veneer_app.operations import Operations
from veneer_app.switch import Switch
from veneer_app.verdicts import Verdicts


@dataclass(frozen=True)
class Services:
    """Made once by the window, shared by the places."""

    operations: Operations
    switch: Switch
    imports: ImportQueue
    verdicts: Verdicts

    def use_embedded(self) -> None:
        """Bring in the embedded base and run it: the shortest way to a first answer."""
        path = embedded_base()
        if path is not None:
            self.imports.add((path,), lambda done: self.switch.to_parts(done.id, (), done.name))
