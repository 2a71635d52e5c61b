"""Programs that compute on the host beside tensors of another device."""

import pytest

import lathe as lt

FUNCTIONS = {
    "a truth": lambda x: lt.where(lt.full((), True), x, -x),
    "a number": lambda x: x + lt.full((), 2.0) * lt.full((), 3.0),
    "an element": lambda x: lt.where(lt.arange(5)[2] > 3, x, -x),
    "a condition": lambda x: lt.cond(lt.arange(4).sum() > 3, lambda: x * 2, lambda: x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_number_of_the_host(name):
    function = FUNCTIONS[name]
    traced = lt.trace(function)
    for values in ([1.0, -2.0], [3.0, 0.5, 2.0]):
        x = lt.tensor(values, device="sim")
        assert traced(x).tolist() == function(x).tolist()


@pytest.mark.parametrize("stop", [-1, 3, 20])
def test_gradients_through_what_data_decides(stop):
    def function(x):
        r = x.sqrt()
        y = lt.cond(x.sum() > stop, lambda: r * 2, lambda: x * 2)
        return lt.while_loop(lambda c: c.sum() < stop, lambda c: (c + r,), (y,))[0]

    traced = lt.trace(function)
    found = []
    for call, device in ((function, "cpu"), (traced, "cpu"), (traced, "sim")):
        x = lt.tensor([0.25, 4.0, 9.0], device=device, requires_grad=True)
        found.append(lt.autograd.grad(call(x).sum(), x)[0].tolist())
    assert found[0] == found[1] == found[2]
