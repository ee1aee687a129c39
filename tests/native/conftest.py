"""What the tests of the native runtime share: ggml's graphs, and random numbers.

`VENEER_OVERLAY` names another build of the runtime to test, such as one with sanitizers.
"""

import importlib.util
import os
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import veneer


def _use_build(path: str) -> None:
    spec = importlib.util.spec_from_file_location("veneer._overlay", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["veneer._overlay"] = module
    vars(veneer)["_overlay"] = module


if "VENEER_OVERLAY" in os.environ:
    _use_build(os.environ["VENEER_OVERLAY"])

from tests.native.ggml import Graph  # noqa: E402


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
