"""Tensors that take another shape where they are: x.t_(), x.resize_(...)."""

import pytest

import lathe as lt


def test_a_tensor_becomes_a_view_of_its_memory():
    x = lt.arange(6.0).reshape(2, 3).clone()
    place = x.data_ptr()
    assert x.t_() is x and x.shape == (3, 2) and x.stride() == (1, 3)
    assert x.unsqueeze_(0).squeeze_(0).transpose_(0, 1).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.swapaxes_(0, 1).swapdims_(0, 1).as_strided_((2, 2), (1, 3)).tolist() == [
        [0, 3],
        [1, 4],
    ]
    assert x.data_ptr() == place


def test_history_goes_on():
    w = lt.arange(6.0).reshape(2, 3).requires_grad_()
    x = w * 2
    x.t_()
    (x * lt.arange(6.0).reshape(3, 2)).sum().backward()
    assert w.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_what_would_lose_history_is_refused():
    w = lt.zeros(2, 3, requires_grad=True)
    with pytest.raises(lt.AutogradError):
        w.t_()
    x = w * 2
    row = x[0]
    with pytest.raises(lt.AutogradError):
        x.t_()
    assert x.shape == (2, 3) and row.shape == (3,)
    with pytest.raises(lt.AutogradError):
        w.resize_(6)


def test_a_trace_refuses_it():
    for change in (lambda x: x.t_(), lambda x: x.resize_(2)):
        with pytest.raises(lt.TraceError):
            lt.trace(change)(lt.zeros(2, 3))


def test_resize_keeps_the_first_elements():
    x = lt.arange(6.0)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_((2, 4)).tolist() == [[0, 1, 2, 3], [4, 5, 0, 0]]
    assert x.resize_as_(lt.zeros(3)).tolist() == [0, 1, 2]
    assert x.resize_(size=[0]).tolist() == []
    with pytest.raises(lt.ValueError):
        lt.zeros(4)[1:].resize_(9)
    with pytest.raises(lt.ValueError):
        x.resize_(-1)
