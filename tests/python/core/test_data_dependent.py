"""Results whose size or number depends on data, eagerly; and those that a trace refuses."""

import numpy as np
import pytest

import lathe as lt

X = lt.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 3.0]])
CALLS = {
    "narrow": lambda x: lt.narrow(x, 1, lt.argmax(x[0]), 1),
    "tensor_split": lambda x: lt.tensor_split(x, lt.argmax(x, 1), 1),
}


def test_all_are_listed():
    rows = lt._lathe._definitions()
    assert {row["public_name"] for row in rows if row["reads"]} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_trace_refuses(name):
    CALLS[name](X)
    with pytest.raises(lt.TraceError, match=f"(?s)^{name}: the size.*next: "):
        lt.trace(CALLS[name])(X)


def test_what_a_trace_takes_instead():
    def fixed(x):
        return lt.nonzero_static(x, size=3), lt.zeros(3).masked_scatter(x[0] > 0, x[1])

    for got, want in zip(lt.trace(fixed)(X), fixed(X)):
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_a_lone_result_is_no_tuple():
    x = lt.tensor([2, 1, 1, 0])
    assert lt.unique(x).tolist() == [0, 1, 2]
    values, counts = lt.unique(x, return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([0, 1, 2], [1, 2, 1])
    assert lt.nonzero(x).tolist() == [[0], [1], [2]]
    (only,) = lt.nonzero(x, as_tuple=True)
    assert only.tolist() == [0, 1, 2]
    out = lt.empty(0, dtype=lt.int64)
    assert lt.nonzero(x, out=out) is out and out.shape == (3, 1)


def test_long_masks():
    rng = np.random.default_rng(1)
    for shape, share in (((100003,), 0.001), ((317, 331), 0.5), ((7, 1, 5), 1.0), ((0, 3), 0.5)):
        mask = rng.random(shape) < share
        got = lt.nonzero(lt.tensor(mask)).numpy()
        np.testing.assert_array_equal(got, np.argwhere(mask))
        wide = lt.tensor(np.repeat(mask, 2, -1))[..., ::2]
        np.testing.assert_array_equal(lt.argwhere(wide).numpy(), np.argwhere(mask))
