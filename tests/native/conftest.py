"""What the tests of the native runtime share: ggml's graphs, and random numbers."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.native.ggml import Graph


@pytest.fixture
def graph() -> Iterator[Graph]:
    made = Graph()
    yield made
    made.close()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def normal(rng: np.random.Generator):
    """Normally distributed float32 of a shape."""
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)
