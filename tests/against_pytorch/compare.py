"""What the scripts of this folder share. They compare Lathe with PyTorch, and are run by hand:
PyTorch is no dependency of Lathe or of its tests."""

import numpy as np
import torch

import lathe as lt


def ours(value):
    """PyTorch's tensors as Lathe's, in dicts, lists and tuples too."""
    if isinstance(value, torch.Tensor):
        return lt.tensor(value.detach().numpy())
    if isinstance(value, dict):
        return {k: ours(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(ours(v) for v in value)
    return value


def near(mine, theirs, relative=1e-12, absolute=1e-12):
    """AssertionError unless both have one shape and close elements."""
    a, b = mine.detach().numpy(), theirs.detach().numpy()
    assert a.shape == b.shape, (a.shape, b.shape)
    np.testing.assert_allclose(a, b, rtol=relative, atol=absolute)
