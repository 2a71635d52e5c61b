"""For pytest: TensorLy's own tests, over lathe, with the same random numbers each time."""

import numpy as np
import pytest
import tensorly

import lathe.compat.tensorly  # noqa: F401

tensorly.set_backend("lathe")


@pytest.fixture(autouse=True)
def seeds():
    np.random.seed(0)
