"""For pytest: TensorLy's own tests, over lathe, with the same random numbers each time."""

import numpy as np
import pytest

from lathe.compat import tensorly

tensorly.select()


@pytest.fixture(autouse=True)
def seeds():
    np.random.seed(0)
