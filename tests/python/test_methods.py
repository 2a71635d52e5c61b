"""Methods of a tensor that are no ops: the ways to call them are PyTorch's."""

import numpy as np
import pytest

import lathe as lt


def test_to_takes_its_target_in_every_way():
    x, like = lt.ones(2), lt.zeros(3, dtype=lt.float64)
    for y in (
        x.to(lt.float64),
        x.to(lt.float64, True),
        x.to(dtype=lt.float64, non_blocking=True),
        x.to("cpu", lt.float64),
        x.to(device="cpu", dtype=lt.float64, memory_format="preserve_format"),
        x.to(like),
        x.to(tensor=like),
        x.to(like, False, True),
    ):
        assert y.dtype is lt.float64 and y.tolist() == [1, 1]


def test_to_copies_where_it_is_asked_to():
    x = lt.ones(2)
    assert x.to(lt.float32) is x and x.to(x, False, False) is x
    for y in (x.to(lt.float32, copy=True), x.to(lt.float32, False, True), x.to(x, copy=True)):
        y.zero_()
        assert x.tolist() == [1, 1]


def test_copy_and_fill_by_place_and_by_name():
    x = lt.zeros(2)
    assert x.copy_(lt.ones(2)) is x and x.tolist() == [1, 1]
    assert x.copy_(other=lt.tensor(2), non_blocking=True).tolist() == [2, 2]
    assert x.copy_(lt.ones(2), False).tolist() == [1, 1]
    assert x.fill_(value=3).tolist() == x.fill_(3).tolist() == [3, 3]


def test_questions_about_memory():
    x = lt.ones(2, 3)
    assert x.stride() == x.stride(dim=None) == (3, 1)
    assert x.stride(dim=0) == x.stride(0) == 3
    assert x.size(dim=1) == x.size(1) == 3
    assert x.is_contiguous(memory_format="contiguous_format") and not x.T.is_contiguous()


def test_a_forced_array_is_of_the_values():
    x = lt.ones(2, requires_grad=True)
    with pytest.raises(lt.AutogradError):
        x.numpy()
    np.testing.assert_array_equal((x * 2).numpy(force=True), [2, 2])
    x.numpy(force=True)[0] = 5  # of the same memory
    assert x.tolist() == [5, 1]


def test_requires_grad_by_name():
    x = lt.ones(2)
    assert x.requires_grad_(requires_grad=True) is x and x.requires_grad
    assert not x.requires_grad_(False).requires_grad
    assert x.requires_grad_().requires_grad


def test_dlpack_copies_and_moves():
    x = lt.ones(2)
    shared, copied = lt.from_dlpack(ext_tensor=x), lt.from_dlpack(x, copy=True)
    x.zero_()
    assert (shared.tolist(), copied.tolist()) == ([0, 0], [1, 1])
    assert lt.from_dlpack(x, device="sim").device == lt.device("sim")
    assert lt.from_dlpack(x, device="cpu", copy=False).tolist() == [0, 0]
