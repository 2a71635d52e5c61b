"""Remainders of floats by one division are exact: in every engine the C library's, bit for bit."""

import numpy as np
import pytest

import lathe as lt

KINDS = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -3, 1e-40, 3e38]


def operands(dtype, word):
    rng = np.random.default_rng(1)
    n = 40_000
    top = np.iinfo(word).max
    any_x, any_y = (rng.integers(0, top, n, word, endpoint=True).view(dtype) for _ in range(2))
    y = rng.standard_normal(n).astype(dtype)
    # Multiples, and their neighbours, around where one division is no longer enough.
    far = 1 << 22 if dtype == np.float32 else 1 << 51
    for counts in (rng.integers(-100, 100, n), rng.integers(far - 9, far + 9, n)):
        x = (counts * y).astype(dtype)
        yield from ((x, y), (x, -y), (np.nextafter(x, dtype(9)), y), (np.nextafter(x, -y), y))
    yield from ((any_x, any_y), (any_x, y), (y, any_x))
    small = rng.integers(0, 1 << 20, n, word).view(dtype)
    yield small, small[::-1].copy()
    yield np.repeat(np.array(KINDS, dtype), len(KINDS)), np.tile(np.array(KINDS, dtype), len(KINDS))


@pytest.mark.parametrize(("dtype", "word"), [(np.float32, np.uint32), (np.float64, np.uint64)])
@pytest.mark.parametrize("engine", ["eager", "simd", "auto"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fmod_is_exact(dtype, word, engine):
    f = lt.fmod if engine == "eager" else lt.trace(lambda x, y: lt.fmod(x, y))
    if engine != "eager":
        lt.set_flag("engine", engine)
    for x, y in operands(dtype, word):
        want, got = np.fmod(x, y), f(lt.tensor(x), lt.tensor(y)).numpy()
        nan = np.isnan(want)
        np.testing.assert_array_equal(np.isnan(got), nan)
        np.testing.assert_array_equal(got.view(word)[~nan], want.view(word)[~nan])
