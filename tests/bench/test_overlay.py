"""What adapters cost: the base, llama.cpp's own lane and the overlay in turn, in one run.

`pytest -m bench tests/bench/test_overlay.py -s` prints the table that the README shows. Ratios are
of medians; the machine must be at rest.
"""

from pathlib import Path
from statistics import median

import pytest

from tests.bench.lanes import (
    DEMO,
    LARGER,
    Lane,
    Model,
    Shape,
    overlay_plan,
    random_factors,
    write_lora,
    write_random_model,
)
from tests.bench.test_import import seconds

pytestmark = pytest.mark.bench
PROMPT = 256


class Bench:
    """Five lanes over one model: the base, and one and three adapters in both lanes."""

    def __init__(self, path: Path, shape: Shape, folder: Path) -> None:
        self.model = Model(path)
        self.factors = [random_factors(shape, seed) for seed in range(3)]
        loras = []
        for i, factors in enumerate(self.factors):
            write_lora(folder / f"{i}.gguf", factors)
            loras.append(self.model.lora(folder / f"{i}.gguf"))
        self.lanes = {"base": Lane(self.model)}
        for count, word in ((1, "one"), (3, "three")):
            self.lanes[f"stock, {word}"] = Lane(self.model, loras[:count])
            self.lanes[f"overlay, {word}"] = Lane(self.model, overlay=True)
            self.lanes[f"overlay, {word}"].overlay.publish(overlay_plan(self.factors[:count]))

    def ratios(self, rounds: int, tokens: int) -> dict[str, float]:
        """Median milliseconds of batches of so many tokens, and each over the base's."""
        took: dict[str, list[float]] = {name: [] for name in self.lanes}
        for i in range(rounds + 2):
            for name, lane in self.lanes.items():
                if i == 0 or tokens > 1:
                    lane.clear()
                first = 0 if tokens > 1 else i
                took[name].append(lane.decode([300 + i] * tokens, first, [0] * tokens))
        medians = {name: median(times[2:]) for name, times in took.items()}
        for name, value in medians.items():
            print(f"  {name:16} {value * 1e3:9.2f} ms  {value / medians['base']:.3f}x")
        return {name: value / medians["base"] for name, value in medians.items()}


@pytest.fixture(scope="module")
def demo(base_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(base_path, DEMO, tmp_path_factory.mktemp("demo"))


def test_a_token_and_a_prompt_on_the_demo_base(demo: Bench):
    print("\none token, demo base")
    token = demo.ratios(rounds=300, tokens=1)
    print(f"prompt of {PROMPT}, demo base")
    prompt = demo.ratios(rounds=8, tokens=PROMPT)
    for ratios in (token, prompt):
        assert ratios["overlay, one"] < ratios["stock, one"]
        assert ratios["overlay, three"] < ratios["stock, three"]


def test_a_token_on_a_model_of_a_billion_weights(tmp_path: Path):
    path = tmp_path / "random.gguf"
    write_random_model(path, LARGER)
    bench = Bench(path, LARGER, tmp_path)
    print("\none token, shapes of llama-3.2-1B in Q4_0, random weights")
    ratios = bench.ratios(rounds=30, tokens=1)
    assert ratios["overlay, one"] < ratios["stock, one"]
    assert ratios["overlay, three"] < ratios["stock, three"]


def test_another_plan_costs_nothing_at_its_first_token(demo: Bench):
    lane = demo.lanes["overlay, one"]
    plans = [overlay_plan([factors]) for factors in demo.factors[:2]]
    swaps, first, later = [], [], []
    lane.clear()
    for i in range(60):
        swaps.append(seconds(lambda plan=plans[i % 2]: lane.overlay.publish(plan)))
        first.append(lane.decode([300], 3 * i, [0]))
        later += [lane.decode([300], 3 * i + j, [0]) for j in (1, 2)]
    print(
        f"\nswap of plan: {median(swaps) * 1e6:.1f} us; "
        f"first token {median(first) * 1e3:.2f} ms, later ones {median(later) * 1e3:.2f} ms"
    )
    assert median(first) < 1.05 * median(later)


def test_four_conversations_under_four_compositions_in_one_batch(demo: Bench):
    lane = demo.lanes["overlay, one"]
    plans = [overlay_plan([factors]) for factors in demo.factors] + [None]
    four, same = [0, 1, 2, 3], [plans[0]] * 4
    lane.clear()
    different, alike, alone = [], [], []
    position = 0
    for _ in range(60):
        different.append(lane.decode([300] * 4, position, four, plans))
        alike.append(lane.decode([300] * 4, position + 1, four, same))
        alone.append(sum(lane.decode([300], position + 2, [s], plans) for s in four))
        position += 3
    apart, together, in_turn = median(different), median(alike), median(alone)
    print(
        f"\nfour conversations: different compositions {4 / apart:.0f} tok/s, the same "
        f"{4 / together:.0f}, one after another {4 / in_turn:.0f}; "
        f"{together / apart:.2f}x and {in_turn / apart:.2f}x"
    )
    assert together / apart > 0.75
    assert in_turn / apart > 1.1
