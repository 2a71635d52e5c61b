"""x[...] and x[...] = v against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lathe as lt

A = np.arange(60.0).reshape(3, 4, 5)

INDEXES = [
    0, -1, (1, 2), (1, -1, 3), slice(None), slice(1, 3), slice(None, None, 2), slice(-2, None),
    slice(5, 9), slice(2, 1), Ellipsis, (Ellipsis, 1), (0, Ellipsis, 2), None, (None, 1, None),
    (slice(None), None, 2), (slice(0, 2), slice(1, None), slice(None, None, 3)), (), True, False,
    [1, 0], [-1, -3], (slice(None), [2, 0]), ([0, 2], [1, 3]), (0, [1, 3]),
    ([0, 1], slice(None), [2, 3]),
    (slice(None), [0, 1], [2, 3]), [[0, 1], [2, 0]], ([[0], [1]], [[1, 2]]), (Ellipsis, [0, 4]),
    ([0, 1], None), [], np.array([True, False, True]),
    (slice(None), np.array([True, False, True, False])),
    slice(None, None, -1), (slice(None), slice(3, 0, -2)), (slice(None, None, -1), [2, 0]),
    ([0, 1], slice(None, None, -1), [2, 3]), (1, slice(None, None, -3), slice(None, None, -1)),
    (slice(0, 2, -1), None, slice(-1, None, -2)), (Ellipsis, slice(None, 1, -1)),
    ((0, 2), (1, 3)), (slice(None), (0, 1, 1)), np.zeros((0, 4), bool),
    A > 20, (A.sum(2) > 100), np.zeros((3, 4, 5), bool), (1, A[1] > 25), ([0, 1], 1, [2, 3]),
    (True, [1, 0]), ([1, 0], True), (True, True), (True, slice(None), [0, 1]), (False, [1]),
    (slice(None), True, [0, 1]), (True, A > 20), (slice(None, None, -1), False), (True, False, 1),
]  # fmt: skip


def named(value):
    return " ".join(repr(value).split())[:60]


def ours(index):
    """The same index with tensors in place of arrays."""
    if isinstance(index, tuple):
        return tuple(ours(i) for i in index)
    return lt.tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", INDEXES, ids=named)
def test_reading(index):
    got = lt.tensor(A)[ours(index)]
    want = A[np.array(index, int) if isinstance(index, list) else index]
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("index", INDEXES, ids=named)
@pytest.mark.parametrize("how", ["number", "array"])
def test_writing(index, how):
    array, tensor = A.copy(), lt.tensor(A)
    place = np.array(index, int) if isinstance(index, list) else index
    value = 7.0 if how == "number" else -np.arange(1.0, A[place].size + 1).reshape(A[place].shape)
    array[place] = value
    tensor[ours(index)] = value if how == "number" else lt.tensor(value)
    np.testing.assert_array_equal(tensor.numpy(), array)


def parts(size):
    bound = st.one_of(st.none(), st.integers(-size - 2, size + 2))
    return st.one_of(
        st.integers(-size, size - 1),
        st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2, -3])),
        st.just(slice(None)),
    )


@settings(max_examples=200, deadline=None)
@given(st.tuples(parts(3), parts(4), parts(5)), st.integers(0, 3), st.booleans())
def test_any_mix_of_numbers_and_slices(index, count, new_axis):
    index = index[:count] + ((None,) if new_axis else ())
    array, tensor = A.copy(), lt.tensor(A)
    np.testing.assert_array_equal(tensor[index].numpy(), array[index])
    array[index] = -1
    tensor[index] = -1
    np.testing.assert_array_equal(tensor.numpy(), array)
    values = np.arange(array[index].size, dtype=float).reshape(array[index].shape)
    array[index], tensor[index] = values, lt.tensor(values)
    np.testing.assert_array_equal(tensor.numpy(), array)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_index_tensors(data):
    shape = data.draw(st.sampled_from([(), (1,), (3,), (2, 2), (0,)]))
    index = []
    for size in A.shape[: data.draw(st.integers(1, 3))]:
        picks = data.draw(st.lists(st.integers(-size, size - 1), min_size=4, max_size=4))
        array = np.array(picks)[: int(np.prod(shape))].reshape(shape)
        index.append(data.draw(st.sampled_from([array, slice(None)])))
    index = tuple(index)
    if any(isinstance(i, np.ndarray) and i.ndim == 0 for i in index):
        return  # NumPy takes these for numbers
    tensor = lt.tensor(A)
    np.testing.assert_array_equal(tensor[ours(index)].numpy(), A[index])


def test_views_share_memory():
    x = lt.zeros(3, 4)
    x[1][2] = 5
    x[:, 0].fill_(1)
    x[..., -1] += 2
    assert x.tolist() == [[1, 0, 0, 2], [1, 0, 5, 2], [1, 0, 0, 2]]
    y = x[[0, 1]]
    y.zero_()
    assert x[0, 0].item() == 1


def test_backwards_is_a_copy_with_a_gradient():
    x = lt.arange(6.0).reshape(2, 3).requires_grad_()
    y = x[::-1, 2:0:-1]
    assert y.tolist() == [[5, 4], [2, 1]] and y.data_ptr() != x.data_ptr()
    (y * lt.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert x.grad.tolist() == [[0, 4, 3], [0, 2, 1]]
    with lt.no_grad():
        x[0, ::-1] += lt.tensor([10.0, 20, 30])
    assert x[0].tolist() == [30, 21, 12]


def test_backwards_in_a_trace():
    f = lt.trace(lambda x: (x[::-1] * 2, x[-2::-2], x[1:100:-1]))
    for n in (7, 4, 1, 9):
        x = lt.arange(float(n))
        for got, want in zip(f(x), (x.numpy()[::-1] * 2, x.numpy()[-2::-2], x.numpy()[1:100:-1])):
            np.testing.assert_array_equal(got.numpy(), want)


def test_values_broadcast_and_convert():
    x = lt.zeros(2, 3, dtype=lt.int64)
    x[0] = 2.9
    x[1] = lt.tensor([1.5, 2.5, 3.5])
    assert x.tolist() == [[2, 2, 2], [1, 2, 3]]
    x[:, 1] = [8, 9]
    assert x[:, 1].tolist() == [8, 9]
    with pytest.raises(lt.ShapeError):
        x[0] = lt.ones(4)


@pytest.mark.parametrize(
    "index, error",
    [
        (3, IndexError),
        (-4, IndexError),
        ((0, 0, 0, 0), IndexError),
        ([3], IndexError),
        ([-4], IndexError),
        (([0], [9]), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        (1.5, TypeError),
        ("a", TypeError),
        ({}, TypeError),
        (slice(None, None, 0), ValueError),
        (slice("a", None), TypeError),
        (np.array([True, False]), IndexError),
        (lt.tensor([0.5]), IndexError),
    ],
    ids=named,
)
def test_refused(index, error):
    with pytest.raises(error) as caught:
        lt.tensor(A)[ours(index)]
    assert isinstance(caught.value, lt.Error)
    with pytest.raises(error):
        lt.tensor(A)[ours(index)] = 0


def test_deleting():
    x = lt.ones(2)
    with pytest.raises(TypeError, match="deleted"):
        del x[0]


def test_a_bool_tensor_without_axes_is_an_index_like_true_and_false():
    x = lt.arange(3)
    assert x[lt.tensor(True)].tolist() == x[True].tolist() == [[0, 1, 2]]
    assert x[lt.tensor(False)].shape == x[False].shape == (0, 3)


def test_narrow_counts_from_the_end_and_stays_inside():
    assert lt.arange(5).narrow(0, -2, 2).tolist() == [3, 4]
    assert lt.arange(5).narrow(0, 5, 0).tolist() == []
    for start, length in ((3, 10), (1, -1), (-6, 1)):
        with pytest.raises(lt.IndexError, match="outside of the axis"):
            lt.arange(5).narrow(0, start, length)


def test_a_part_is_set_from_another_device():
    x = lt.zeros(3)
    x[:2] = lt.ones(2).to("sim")
    assert x.tolist() == [1, 1, 0]


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize(
    ("index", "shape", "want"),
    [
        (0, (1, 2), [[1, 1], [0, 0]]),
        ((0, 1), (1,), [[0, 1], [0, 0]]),
        (slice(1, 2), (1, 1, 2), [[0, 0], [1, 1]]),
        (..., (1, 1, 2, 2), [[1, 1], [1, 1]]),
        ([1, 0], (1, 2, 2), [[1, 1], [1, 1]]),
    ],
)
def test_a_value_may_have_leading_axes_of_one_element(index, shape, want, captured):
    at = lt.tensor(index) if isinstance(index, list) else index

    def write(x, value):
        x = x.clone()
        x[at] = value
        return x

    run = lt.trace(write) if captured else write
    assert run(lt.zeros(2, 2), lt.ones(shape)).tolist() == want


def test_what_a_mask_picks_may_be_set_by_one_row():
    x = lt.zeros(2, 2)
    x[lt.tensor([[True, False], [True, True]])] = lt.arange(3)[None]
    assert x.tolist() == [[0, 0], [1, 2]]


def test_other_axes_that_are_too_many_are_refused():
    x = lt.zeros(2, 2)
    for index in (0, lt.tensor([0, 1])):
        with pytest.raises(lt.ShapeError):
            x[index] = lt.ones(2, 1, 2, 2)


def test_a_tensor_of_bytes_is_a_mask():
    x, mask = lt.arange(3), lt.tensor([0, 1, 2], dtype=lt.uint8)
    assert x[mask].tolist() == [1, 2]
    x[mask] = 9
    assert x.tolist() == [0, 9, 9]
