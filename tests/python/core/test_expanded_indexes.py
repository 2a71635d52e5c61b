"""An expanded index gives what its copy gives: its places are gone through once for all lines."""

import numpy as np
import pytest

import lathe as lt

DTYPES = (np.float32, np.float64, np.int32, np.float16)


def case(rng):
    """(x, axis, expanded index) of one to four axes, laid out either way."""
    rank = int(rng.integers(1, 5))
    shape = [int(n) for n in rng.choice([1, 2, 3, 5, 7, 40, 300], rank)]
    while np.prod(shape) > 200_000:
        shape[int(np.argmax(shape))] = 3
    axis = int(rng.integers(rank))
    whole = [int(rng.integers(1, n + 1)) for n in shape]
    whole[axis] = int(rng.integers(1, 60))
    small = [1 if i != axis and rng.random() < 0.5 else n for i, n in enumerate(whole)]
    values = (rng.standard_normal(shape) * 8).astype(DTYPES[int(rng.integers(len(DTYPES)))])
    x = lt.tensor(values)
    if rng.random() < 0.3:
        x = lt.tensor(np.ascontiguousarray(values.T)).permute(*range(rank)[::-1])
    places = rng.integers(0, shape[axis], small).astype(rng.choice([np.int32, np.int64]))
    return x, axis, lt.tensor(places).expand(*whole)


def results(x, axis, index, source):
    return [
        found.numpy().tobytes()
        for found in (
            x.gather(axis, index),
            x.scatter(axis, index, source),
            x.scatter_add(axis, index, source),
            x.scatter_reduce(axis, index, source, "amax"),
        )
    ]


@pytest.mark.parametrize("seed", range(8))
def test_an_expanded_index_is_its_copy(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        x, axis, index = case(rng)
        source = (lt.tensor(rng.standard_normal(index.shape)) * 8).to(x.dtype)
        got, wanted = (results(x, axis, i, source) for i in (index, index.contiguous()))
        assert got == wanted, (seed, x.shape, axis, index.shape)


@pytest.mark.parametrize("threads", [1, 2])
def test_gather_agrees_with_numpy(threads):
    rng = np.random.default_rng(threads)
    before = lt.get_flag("threads")
    lt.set_flag("threads", threads)
    try:
        for _ in range(60):
            x, axis, index = case(rng)
            within = tuple(
                slice(None) if i == axis else slice(n) for i, n in enumerate(index.shape)
            )
            places = index.numpy().astype(np.int64)
            wanted = np.take_along_axis(x.numpy()[within], places, axis)
            assert np.array_equal(x.gather(axis, index).numpy(), wanted)
    finally:
        lt.set_flag("threads", before)


def test_an_error_names_the_first_position_of_the_whole_index():
    x, places = lt.zeros(4, 3, 5), lt.tensor([[0], [2], [7]])[None].expand(4, 3, 5)
    with pytest.raises(lt.IndexError, match=r"7 at position \[0, 2, 0\]"):
        x.gather(1, places)
    with pytest.raises(lt.IndexError, match=r"7 at position \[0, 2, 0\]"):
        x.scatter_add(1, places, lt.zeros(4, 3, 5))


@pytest.mark.parametrize("seed", range(4))
def test_one_value_for_all_and_what_is_no_number(seed):
    """Lines that go together fold as single elements do: NaN stays, of two zeros the later."""
    rng = np.random.default_rng(100 + seed)
    for _ in range(40):
        x, axis, index = case(rng)
        value = lt.tensor(float(rng.choice([3.0, 0.0, -0.0, np.nan, -np.inf])))
        if not x.dtype.is_floating_point:
            value = lt.tensor(3)
        elif rng.random() < 0.5:
            x = lt.where(x < 0, value.to(x.dtype), x)
        source = value.to(x.dtype).expand(index.shape)
        got = results(x, axis, index, source)
        assert got == results(x, axis, index.contiguous(), source.contiguous()), (seed, x.shape)
