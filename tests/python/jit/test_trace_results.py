"""Every trace of a function has its own results to put together, and gradients to set."""

import pytest

import lathe as lt


def both(function):
    return function, lt.trace(function)


def test_a_dtype_beside_a_result():
    traced = lt.trace(lambda x: (x * 2, x.dtype))
    one = lt.ones(2)
    for x in (one, one.double(), one, one.double()):
        assert traced(x)[1] == x.dtype


@pytest.mark.parametrize("sizes", [(6, 4, 6), (4, 6, 4), (2, 8, 6, 2, 8)])
def test_as_many_pieces_as_the_size_asks_for(sizes):
    eager, traced = both(lambda x: x.split(2))
    for n in sizes:
        x = lt.arange(n)
        assert [p.tolist() for p in traced(x)] == [p.tolist() for p in eager(x)]


def test_keys_that_sizes_choose():
    eager, traced = both(lambda x: {"long" if x.shape[0] > 3 else "short": x + 1})
    for n in (2, 5, 2, 5):
        x = lt.ones(n)
        assert traced(x).keys() == eager(x).keys()


def test_the_parameter_that_a_size_chooses_gets_the_gradient():
    def step(x, low, high):
        loss = (x * (high if x.shape[0] > 3 else low)).sum()
        loss.backward()
        return loss

    low, high = (lt.ones(3, requires_grad=True) for _ in range(2))
    traced = lt.trace(lambda x: step(x, low, high))
    for n in (2, 5, 2, 5, 2):
        low.grad = high.grad = None
        traced(lt.full((n, 3), float(n)))
        used, other = (high, low) if n > 3 else (low, high)
        assert used.grad.tolist() == [float(n * n)] * 3 and other.grad is None


def test_over_no_axis_is_not_over_the_last_one():
    x = lt.tensor([[3.0, 1.0, 4.0], [0.0, 2.0, 1.0]])
    for dim in (None, -1, 0, -2, None):
        program = lt.trace(lambda t, dim=dim: lt.argmin(t, dim))
        program(x)
        assert program(x).tolist() == lt.argmin(x, dim).tolist()


def test_a_function_made_inside_is_an_ordinary_one_afterwards():
    def made(x):
        def tripled(z):
            parts = [z * k for k in range(3)]
            return sum(parts) + len(z)

        return x + 1, tripled

    traced = lt.trace(made)
    for _ in range(3):
        y, tripled = traced(lt.ones(3))
        assert y.tolist() == [2, 2, 2]
        assert tripled(lt.tensor([1.0])).tolist() == [4]


def test_a_view_of_what_is_a_view_itself():
    """Its base is a tensor that nothing in Python has."""
    state = {"rest": lt.arange(10.0)[:7], "table": lt.arange(12.0).view(3, 4).T}

    def take(n):
        state["rest"] = state["rest"][n:]
        return state["rest"], state["table"][1], state["rest"].view(-1, 1)[1:]

    traced = lt.trace(take)
    for want in (list(range(2, 7)), list(range(4, 7))):
        held = state["rest"]
        rest, row, inner = traced(2)
        assert rest.tolist() == want and rest is state["rest"]
        assert row.tolist() == [1.0, 5.0, 9.0] and inner.tolist() == [[v] for v in want[1:]]
        held[-1] = 6.0 + len(want)  # one memory
        assert rest[-1] == inner[-1, 0] == held[-1]
        held[-1] = 6.0


NOT_OF_ALL = {
    "times one": lambda z: z * 1,
    "times 1.0": lambda z: z * 1.0,
    "by one": lambda z: z / 1,
    "minus zero": lambda z: z + -0.0,
    "abs of neg": lambda z: lt.abs(lt.neg(z)),
}


@pytest.mark.parametrize("name", NOT_OF_ALL)
@pytest.mark.parametrize("dtype", [lt.complex64, lt.complex128, lt.uint8, lt.uint32, lt.int8])
def test_what_holds_for_reals_alone_is_not_rewritten(name, dtype):
    inf = float("inf")
    values = [complex(0, inf), complex(1, -0.0), complex(-0.0, 2), complex(inf, -inf)]
    z = lt.tensor(values if dtype.is_complex else [1, 200 if dtype.itemsize > 1 else 100, 0])
    z = z.to(dtype)
    f = NOT_OF_ALL[name]
    assert lt.trace(f)(z).numpy().tobytes() == f(z).numpy().tobytes()
