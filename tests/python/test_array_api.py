"""lathe.array_api: where the standard is not PyTorch's. The standard's own tests: tests/suites."""

import pytest

import lathe as lt
import lathe.array_api as xp


def test_a_tensor_knows_its_namespace():
    assert lt.ones(2).__array_namespace__() is xp is lt.array_api
    assert lt.ones(2).__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(lt.ValueError, match="no such version"):
        lt.ones(2).__array_namespace__(api_version="1999.1")


def test_tensors_of_no_axes_promote_as_others_do():
    one, many = xp.asarray(1.0, dtype=xp.float64), xp.ones(3, dtype=xp.float32)
    assert (one + many).dtype == lt.float32  # PyTorch's rule
    assert xp.add(one, many).dtype == xp.result_type(one, many) == lt.float64
    assert xp.concat([xp.ones(1, dtype=xp.int8), xp.ones(1, dtype=xp.int16)]).dtype == lt.int16


def test_sums_of_integers_are_wide():
    assert xp.sum(xp.ones(3, dtype=xp.int8)).dtype == lt.int64
    assert xp.sum(xp.ones((2, 3)), axis=()).shape == (2, 3)
    assert xp.prod(xp.asarray([[1, 2], [3, 4]]), axis=(0, 1), keepdims=True).tolist() == [[24]]


def test_scans_from_their_start():
    x = xp.asarray([1, 2, 3])
    assert xp.cumulative_sum(x, include_initial=True).tolist() == [0, 1, 3, 6]
    assert xp.cumulative_prod(x, include_initial=True).tolist() == [1, 1, 2, 6]
    with pytest.raises(lt.ValueError, match="an axis is needed"):
        xp.cumulative_sum(xp.ones((2, 2)))


def test_what_needs_a_copy_says_so():
    x = xp.ones((2, 3))
    assert xp.reshape(x, (3, 2), copy=False).shape == (3, 2)
    for refused in (
        lambda: xp.reshape(xp.permute_dims(x, (1, 0)), (6,), copy=False),
        lambda: xp.asarray(x, dtype=xp.float64, copy=False),
    ):
        with pytest.raises(lt.ValueError, match="copy"):
            refused()
    assert xp.astype(x, x.dtype) is not x and xp.astype(x, x.dtype, copy=False) is x


def test_kinds_of_dtypes():
    assert xp.isdtype(xp.float32, ("integral", "real floating"))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(lt.ValueError, match="no such kind"):
        xp.isdtype(xp.bool, "boolean")
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int16, xp.int8)


def test_what_a_program_may_ask():
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == lt.float32
    assert set(info.dtypes(kind="bool")) == {"bool"}
    assert info.devices() == [info.default_device()]


def test_eye_off_the_diagonal():
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.arange(3, 0, dtype=xp.int32).shape == (0,)


def test_a_complex_number_of_a_tensor():
    assert complex(lt.tensor(1 + 2j)) == 1 + 2j and complex(lt.tensor(2)) == 2


def test_wide_unsigned_integers_promote():
    a, b = xp.ones(2, dtype=xp.uint16), xp.ones(2, dtype=xp.int8)
    assert (a + b).dtype == xp.add(a, b).dtype == xp.result_type(a, b) == xp.int32
    assert xp.can_cast(xp.uint16, xp.uint32) and not xp.can_cast(xp.uint64, xp.int64)


def test_no_axes_are_not_all_axes():
    x = xp.asarray([[1.0, -2.0], [3.0, 4.0]])
    assert xp.sum(x, axis=()).tolist() == xp.max(x, axis=()).tolist() == x.tolist()
    assert xp.var(x, axis=()).tolist() == [[0, 0], [0, 0]]
    assert xp.std(x, axis=(), keepdims=True).shape == (2, 2)
    assert xp.any(xp.asarray([0, 2], dtype=xp.uint8), axis=()).tolist() == [False, True]
    assert xp.all(xp.asarray([2, 1], dtype=xp.uint8)).dtype == xp.bool


def test_indexes_from_the_end():
    x = xp.asarray([[1, 2, 3], [4, 5, 6]])
    assert xp.take_along_axis(x, xp.asarray([[-1], [0]]), axis=1).tolist() == [[3], [4]]
    assert xp.take(x, xp.asarray([-1]), axis=1).tolist() == [[3], [6]]
    with pytest.raises(lt.ShapeError):
        xp.nonzero(xp.asarray(1))


def test_moves_and_repeats():
    x = xp.asarray([[1, 2], [3, 4]])
    assert xp.roll(x, 1).tolist() == [[4, 1], [2, 3]]
    assert xp.repeat(x, xp.asarray([1, 2], dtype=xp.int8), axis=0).tolist() == [
        [1, 2], [3, 4], [3, 4]]  # fmt: skip
    assert xp.expand_dims(x, 0).shape == (1, 2, 2)


def test_what_stands_far_away():
    assert xp.eye(2, k=10**30).tolist() == [[0, 0], [0, 0]]
    assert xp.arange(6e16, step=6624103307328419840).tolist() == [0]
    assert xp.arange(3, 0.5, 1).dtype == lt.float32


def test_complex_numbers():
    x = xp.asarray([1.5 + 2.5j, -0.4 - 0.6j, 3 + 4j])
    assert xp.round(x).tolist() == [2 + 2j, -1j, 3 + 4j]
    assert xp.sign(x)[2].item() == pytest.approx(0.6 + 0.8j)
    assert xp.prod(xp.asarray([1j, 2, 1 + 1j])).item() == -2 + 2j
    assert xp.unique_values(xp.asarray([1j, 1, 1j])).tolist() == [1j, 1]
