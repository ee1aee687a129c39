"""How much was tried, and how much of it the workspace survived."""

from dataclasses import dataclass, field


@dataclass
class Tally:
    scenarios: set[str] = field(default_factory=set)
    points: int = 0
    survived: int = 0
    cuts: int = 0

    def __str__(self) -> str:
        return (
            f"crash: {len(self.scenarios)} scenarios, {self.points} injected points, "
            f"{self.survived} survivors, {self.cuts} processes killed"
        )


TALLY = Tally()
