"""The data as files, for processes that do not read scikit-learn's."""

import numpy as np

import lathe as lt

NAMES = ("train_x", "train_y", "test_x", "test_y")


def write(out, data):
    """All as digits.npz for Python; what is to be classified as raw elements for C++."""
    arrays = {name: part.numpy() for name, part in zip(NAMES, data)}
    np.savez(out / "digits.npz", **arrays)
    arrays["test_x"].tofile(out / "test_x.f32")
    arrays["test_y"].tofile(out / "test_y.i64")


def read(out):
    """As load_digits in model.py gives them."""
    with np.load(out / "digits.npz") as arrays:
        return tuple(lt.tensor(arrays[name]) for name in NAMES)
