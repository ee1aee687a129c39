"""Which lane is taken, and what is said where it cannot be."""

import pytest

from veneer.compose.lanes import Beyond, Offer, choose, lane_id
from veneer.compose.plan import ContextSettings
from veneer.errors import NeedsOverlay

CPU, GPU = ContextSettings(), ContextSettings(n_gpu_layers=9)
ON = Offer(build="b", overlay="1 avx2", why_not="")
OFF = Offer(build="b", overlay="", why_not="its probe failed.")
DORA = [Beyond("style", "q_proj has a DoRA magnitude, which needs the overlay lane.")]


@pytest.mark.parametrize(
    ("wish", "offer", "context", "beyond", "lane"),
    [
        ("auto", ON, CPU, [], "overlay"),
        ("auto", ON, GPU, [], "stock"),
        ("auto", ON, GPU, DORA, "overlay"),
        ("auto", OFF, CPU, [], "stock"),
        ("stock", ON, CPU, [], "stock"),
        ("overlay", ON, GPU, [], "overlay"),
    ],
)
def test_choices(wish, offer, context, beyond, lane):
    assert choose(wish, offer, context, beyond) == lane


@pytest.mark.parametrize(
    ("wish", "offer", "beyond", "reason"),
    [
        ("auto", OFF, DORA, "“style” cannot run: q_proj has a DoRA magnitude, .* its probe failed"),
        ("stock", ON, DORA, "“style” cannot run: .* The settings ask for the stock lane"),
        ("overlay", OFF, [], "The overlay lane is not available: its probe failed"),
    ],
)
def test_refusals(wish, offer, beyond, reason):
    with pytest.raises(NeedsOverlay, match=reason):
        choose(wish, offer, CPU, beyond)


def test_other_kernels_are_another_lane():
    ids = {lane_id("overlay", ON), lane_id("stock", ON), lane_id("stock", OFF)}
    ids.add(lane_id("overlay", Offer(build="b", overlay="1 avx512", why_not="")))
    assert ids == {"overlay 1 avx2", "overlay 1 avx512", "stock"}
