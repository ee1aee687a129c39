"""What adapters cost: the base, llama.cpp's own lane and the overlay in turn, in one run.

`pytest -m bench tests/bench/test_overlay.py -s` prints the table that the README shows. Ratios are
of medians; the machine must be at rest.
"""

import subprocess
import sys
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
        self.loras = loras = []
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
    prompt = demo.ratios(rounds=6, tokens=PROMPT)
    # The aims are 1.15, 1.30 and 1.08; the rest is for what else the machine may do.
    assert token["overlay, one"] < 1.22
    assert token["overlay, three"] < 1.40
    assert prompt["overlay, one"] < 1.15
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
    """How much a batch saves is up to llama.cpp's own products: the base shows it.

    A server on llama.cpp's own lane does not batch different adapters: it changes them each time.
    """
    lane, base, stock = (demo.lanes[name] for name in ("overlay, one", "base", "stock, one"))
    plans = [overlay_plan([factors]) for factors in demo.factors] + [None]
    four, same = [0, 1, 2, 3], [plans[0]] * 4
    for idle in (lane, base, stock):
        idle.clear()
    took: dict[str, list[float]] = {}

    def note(what: str, *seconds: float) -> None:
        took.setdefault(what, []).append(sum(seconds))

    def changed(at: int, sequence: int) -> float:
        setting = seconds(lambda: stock.set_loras(demo.loras[sequence : sequence + 1]))
        return setting + stock.decode([300], at, [sequence])

    for i in range(60):
        note("different", lane.decode([300] * 4, 3 * i, four, plans))
        note("alike", lane.decode([300] * 4, 3 * i + 1, four, same))
        note("in turn", *(lane.decode([300], 3 * i + 2, [s], plans) for s in four))
        note("base", base.decode([300] * 4, 2 * i, four))
        note("stock in turn", *(changed(i, s) for s in four))
        note("base in turn", *(base.decode([300], 2 * i + 1, [s]) for s in four))
    each = {what: median(times[5:]) for what, times in took.items()}
    alike, turns = each["alike"] / each["different"], each["in turn"] / each["different"]
    base_turns = each["base in turn"] / each["base"]
    stock_turns = each["stock in turn"] / each["different"]
    stock.set_loras(demo.loras[:1])
    print(
        f"\nfour conversations: {', '.join(f'{w} {4 / t:.0f} tok/s' for w, t in each.items())}; "
        f"different compositions are {alike:.2f}x of the same one, and {turns:.2f}x of one after "
        f"another (the base: {base_turns:.2f}x), {stock_turns:.2f}x of that in llama.cpp's own lane"
    )
    assert alike > 0.85
    assert turns > 0.9 * base_turns
    assert stock_turns > 1.4


_MEMORY = """
import sys
from pathlib import Path
import psutil
from tests.bench.lanes import DEMO, Lane, Model, merged_plan, packed_factors

lane = Lane(Model(Path(sys.argv[1])), overlay=True)


def use(plan):
    lane.overlay.publish(plan)
    for prompt in range(3):
        lane.clear()
        lane.decode([300 + prompt] * 64, 0, [0] * 64)
    print(psutil.Process().memory_info().rss, plan.nbytes if plan else 0)


for _ in range(2):
    use(None)
    use(merged_plan([packed_factors(DEMO, seed) for seed in range(8)]))
"""


def test_factors_are_in_memory_once_and_the_base_not_again(base_path: Path):
    """Eight adapters in a process of its own: at most what it took without them, their factors, and
    a twentieth; also when others take their place."""
    command = [sys.executable, "-c", _MEMORY, str(base_path)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    (without, _), first, _, second = zip(*[iter(map(int, lines))] * 2, strict=True)
    for rss, packed in (first, second):
        print(f"\nRSS {rss / 1e6:.0f} MB: {without / 1e6:.0f} without, factors {packed / 1e6:.0f}")
        assert packed > 70e6
        assert rss <= 1.05 * (without + packed)
