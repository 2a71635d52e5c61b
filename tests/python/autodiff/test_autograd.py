"""History from Python: gradients, views and writes, modes, hooks, higher order."""

import threading

import numpy as np
import pytest
from samples import SAMPLES, arrays, convert

import lathe as lt
from lathe.autograd import GradcheckError, gradcheck, gradgradcheck

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
# Why not here: Gradients.MatchDifferences compares these too.
LEFT_OUT = {
    "dropout": "random", "batch_norm": "writes its statistics", "complex": "no float64",
    "polar": "no float64", "fill_diagonal_": "writes its input",
}  # fmt: skip


def differentiable(sample):
    row = ROWS[sample.op]
    if not sample.smooth or row["no_grad"] or sample.op in LEFT_OUT or not row["method"]:
        return False
    args, kwargs = arrays(sample, "float64")
    flat = [v for a in (*args, *kwargs.values()) for v in (a if isinstance(a, list) else [a])]
    return any(getattr(v, "dtype", None) == "float64" for v in flat)


def tracked(array):
    t = lt.tensor(array)
    return t.requires_grad_() if t.dtype is lt.float64 else t


@pytest.mark.parametrize("sample", [s for s in SAMPLES if differentiable(s)], ids=str)
def test_gradients_of_rows(sample):
    args, kwargs = arrays(sample, "float64")
    args = [convert(a, tracked) for a in args]
    names = [k for k, v in kwargs.items() if hasattr(v, "dtype") and v.dtype == "float64"]
    args += [tracked(kwargs.pop(n)) for n in names]
    kwargs = {k: convert(v, lt.tensor) for k, v in kwargs.items()}
    given = len(args) - len(names)

    def function(*values):
        return getattr(lt.ops, sample.op)(
            *values[:given], **dict(zip(names, values[given:])), **kwargs
        )

    assert gradcheck(function, args)


def leaf(*values):
    return lt.tensor(values, dtype=lt.float64, requires_grad=True)


def test_accumulation_and_reset():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3] and not x.grad.requires_grad
    x.grad = lt.zeros(2, dtype=lt.float64)
    with pytest.raises(lt.ShapeError):
        x.grad = lt.zeros(3)
    with pytest.raises(TypeError):
        x.grad = 1


def test_grad_of_several():
    x, y = leaf(2.0), leaf(3.0)
    a, b = lt.autograd.grad((x * y).sum() + x.sum(), (x, y))
    assert a.item() == 4 and b.item() == 2 and x.grad is None
    unused = lt.autograd.grad(x.sum(), (x, y), allow_unused=True)
    assert unused[1] is None
    (g,) = lt.autograd.grad(x * y, x, grad_outputs=leaf(10.0).detach())
    assert g.item() == 30


def scaled_gradients(a, b, w):
    """What scaling one gradient in place leaves in all of them."""
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    total = a + b
    total.retain_grad()
    (total * w).sum().backward()
    first, second = lt.autograd.grad((a + b).sum(), [a, b])
    with lt.no_grad():
        a.grad.mul_(10.0)
        total.grad.mul_(100.0)
        first.mul_(1000.0)
    return a.grad, b.grad, total.grad, first, second


@pytest.mark.parametrize("capture", [lambda f: f, lt.trace], ids=["eager", "trace"])
def test_each_gradient_has_memory_of_its_own(capture):
    w = lt.tensor([1.0, 2.0])
    grads = capture(scaled_gradients)(lt.ones(2), lt.ones(2), w)
    wanted = [[10, 20], [1, 2], [100, 200], [1000, 1000], [1, 1]]
    assert [g.tolist() for g in grads] == wanted
    grads[1].mul_(3.0)
    assert [g.tolist() for g in grads] == [wanted[0], [3, 6], *wanted[2:]]


def test_a_gradient_given_by_the_caller_stays_the_callers():
    x, given = lt.ones(2, requires_grad=True), lt.ones(2)
    x.view(2).backward(given)
    given.mul_(7.0)
    assert x.grad.tolist() == [1, 1]


def test_higher_order():
    x = leaf(2.0)
    (first,) = lt.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = lt.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = lt.autograd.grad(second.sum(), x)
    assert abs(first.item() - 12) < 1e-9 and abs(second.item() - 12) < 1e-9
    assert abs(third.item() - 6) < 1e-9
    assert gradgradcheck(lambda a, b: lt.tanh(a * b).sum(), (leaf(0.3, 0.4), leaf(0.5, -0.2)))


def test_retain_graph():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8
    with pytest.raises(lt.AutogradError, match="retain_graph=True"):
        y.backward()


def test_modes():
    x = leaf(1.0)
    with lt.no_grad():
        assert not (x * 2).requires_grad and not lt.is_grad_enabled()
        with lt.enable_grad():
            assert (x * 2).requires_grad
        assert not lt.is_grad_enabled()

    @lt.no_grad()
    def plain():
        return (x * 2).requires_grad

    @lt.no_grad
    def bare():
        return (x * 2).requires_grad

    assert plain() is False and bare() is False and plain.__name__ == "plain"
    with pytest.raises(KeyError), lt.no_grad():
        raise KeyError
    assert lt.is_grad_enabled()
    with lt.set_grad_enabled(False):
        assert not lt.is_grad_enabled()
    lt.set_grad_enabled(False)
    assert not lt.is_grad_enabled()
    lt.set_grad_enabled(True)
    mode = lt.no_grad()
    with mode, mode:
        pass
    assert lt.is_grad_enabled()


def test_leaves_and_detach():
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.detach().is_leaf and x.grad_fn is None
    assert y.grad_fn.name() == "mul" and y.grad_fn.next_functions[0][0].name() == "AccumulateGrad"
    assert "test_autograd.py" in y.grad_fn.site
    assert not y.detach().requires_grad
    with pytest.raises(lt.AutogradError, match="detach"):
        y.requires_grad = False
    with pytest.raises(lt.AutogradError, match="float"):
        lt.tensor([1]).requires_grad_()
    z = lt.ones(2)
    z.requires_grad = True
    assert z.requires_grad and z.requires_grad_(False).requires_grad is False
    assert y.detach_() is y and y.is_leaf


def test_a_leaf_that_was_used_is_switched_off_and_on_again():
    x, w = leaf(2.0), leaf(3.0)
    y = x * x * w
    x.requires_grad_(False)
    assert x.is_leaf and x.grad_fn is None and not (x * 2).requires_grad
    y.backward(retain_graph=True)
    assert x.grad is None and w.grad.tolist() == [4]
    x.requires_grad_()
    assert x.is_leaf and x.grad_fn is None
    y.backward()  # what was computed before still leads to it
    assert x.grad.tolist() == [12] and w.grad.tolist() == [8]
    assert lt.autograd.grad(x * 5, x)[0].tolist() == [5]


def test_hooks():
    x = leaf(1.0, 2.0)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()))
    double = x.register_hook(lambda g: g * 2)
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [6, 6]
    handle.remove()
    double.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [3, 3]
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4, 8]


def test_an_error_in_a_hook_comes_out():
    class Mine(Exception):
        pass

    def bad(g):
        raise Mine("from the hook")

    x = leaf(1.0)
    x.register_hook(bad)
    with pytest.raises(Mine, match="from the hook"):
        (x * 2).sum().backward()
    with pytest.raises(TypeError, match="tensor or None"):
        y = leaf(1.0)
        y.register_hook(lambda g: 5)
        y.sum().backward()


def test_a_backward_inside_of_a_hook_goes_through_the_same_history():
    x = leaf(1.0, 2.0)
    a = x * x
    b, c = a * 3, a * 5
    y = (b + c).sum()
    inside = []

    def once(g):  # part of what arrives at a, and nothing yet at x, waits in the outer one
        if not inside:
            inside.append(None)
            inside[0] = lt.autograd.grad(y, x, retain_graph=True)[0].tolist()

    b.register_hook(once)
    y.backward()
    assert inside == [[16, 32]] and x.grad.tolist() == [16, 32]


def test_leaves_collect_last_in_the_order_in_which_gradients_arrive():
    leaves = [leaf(float(i)) for i in range(10)]
    seen = []
    for i, x in enumerate(leaves):
        x.register_post_accumulate_grad_hook(lambda x, i=i: seen.append(i))
    y = leaves[0]
    for x in leaves[1:]:
        y = y + x
    y.register_hook(lambda g: seen.append("y"))
    y.backward()
    assert seen == ["y", 9, 8, 7, 6, 5, 4, 3, 2, 0, 1]


def test_writes_are_part_of_history():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[0] = 10
    y[1] *= 3
    y += x
    (y * y).sum().backward()
    # y = (10 + x0, 3 x1 + x1, x2 + x2)
    assert x.grad.tolist() == [2 * 11 * 1, 2 * 8 * 4, 2 * 6 * 2]


def test_writes_through_views_reach_the_base():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    base = x * 1
    row = base.view(2, 2)[0]
    other = base.view(2, 2)[:, 0]
    row.mul_(5)
    assert base.tolist() == [5, 10, 3, 4] and other.tolist() == [5, 3]
    (other * other).sum().backward()
    assert x.grad.tolist() == [2 * 5 * 5, 0, 2 * 3, 0]


def test_a_leaf_is_not_written():
    x = leaf(1.0)
    with pytest.raises(lt.AutogradError, match="no_grad"):
        x += 1
    with lt.no_grad():
        x += 1
    assert x.item() == 2 and x.requires_grad


@pytest.mark.parametrize("way", [lambda f: f, lt.trace], ids=["eager", "trace"])
def test_a_leaf_that_is_a_view_is_not_written(way):
    """Nor views of it: the tensor that it shows has no history, and would get its."""
    writes = (lambda w: w.mul_(2), lambda w: w[0].fill_(5), lambda w: w.view(6)[1:3].zero_(),
              lambda w: w.__setitem__(0, 5))  # fmt: skip
    for write in writes:

        def made(x, write=write):
            w = (x + 1).view(2, 3).requires_grad_()
            write(w)
            return w

        with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
            way(made)(lt.ones(6))
    base = lt.ones(6)
    w = base.view(2, 3).requires_grad_()
    base[0] = 5  # leads to no derivative of w, as in PyTorch
    with lt.no_grad():
        w[1] = 3
    w.detach()[0, 1] = 7
    (w * w).sum().backward()
    assert w.is_leaf and w.tolist() == [[5, 7, 1], [3, 3, 3]]
    assert w.grad.tolist() == [[10, 14, 2], [6, 6, 6]]
    with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
        w[0] = 5
    v = lt.ones(2, requires_grad=True)
    part = v[:1]
    v.requires_grad_(False)
    with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
        part.mul_(2)


def test_saved_values_are_watched():
    x = leaf(2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(lt.AutogradError) as caught:
        z.sum().backward()
    assert str(caught.value).count("test_autograd.py:") == 3  # saved, written, backward


def test_scaling_keeps_nothing():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(3).add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_backward_without_reason():
    for bad in (lambda: lt.ones(1).sum().backward(), lambda: (leaf(1.0, 2.0) * 2).backward()):
        with pytest.raises(lt.AutogradError):
            bad()
    with pytest.raises(lt.ShapeError):
        (leaf(1.0) * 2).backward(lt.ones(3))


def test_gradcheck_finds_a_wrong_derivative():
    x = leaf(0.3)
    with pytest.raises(GradcheckError, match=r"d output0\[0\] / d input0\[0\]"):
        gradcheck(lambda a: a * a.detach(), x)
    assert gradcheck(lambda a: a * a.detach(), x, raise_exception=False) is False
    with pytest.raises(lt.DTypeError):
        gradcheck(lt.sin, lt.ones(1, requires_grad=True))


def test_long_history():
    x = leaf(1.0)
    y = x
    for _ in range(20000):
        y = y + 1
    y.sum().backward()
    assert x.grad.item() == 1
    del y


def test_no_gradient_is_started_from_a_complex_number():
    x = lt.ones(2, requires_grad=True)
    for start in (lt.Tensor.backward, lambda y: lt.autograd.grad(y, x)):
        with pytest.raises(lt.AutogradError, match="started from a real number"):
            start((x * 2j).sum())
    with pytest.raises(lt.ValueError, match="no real number"):
        lt.func.grad(lambda x: (x * 2j).sum())(lt.ones(2))
    (x * 2j).sum().backward(lt.tensor(1j))
    assert x.grad.tolist() == [2, 2]


def test_complex_gradients():
    z = lt.tensor([1 + 2j, -3j], requires_grad=True)
    lt.abs(z).square().sum().backward()
    assert lt.allclose(lt.abs(z.grad - 2 * z.detach()), lt.zeros(2), atol=1e-5)


COMPLEX = {
    "add": lambda z: (z + z).imag,
    "clone": lambda z: z.clone().imag,
    "neg": lambda z: (-z).imag,
    "mul": lambda z: (z * z).imag,
    "mul, real part": lambda z: (z * z).real,
    "abs": lambda z: (z * z).abs(),
    "exp": lambda z: (z * z).exp().imag,
    "conj": lambda z: (z * z.conj()).real,
    "number": lambda z: (1 - z * 2).imag,
    "constant": lambda z: (z * lt.tensor([1 + 1j, 2 - 1j])).imag,
    "real with complex": lambda z: (z.real * z + z.imag).imag,
    "where": lambda z: lt.where(lt.tensor([True, False]), z, z * z).imag,
    "index": lambda z: (z[lt.tensor([1, 1, 0])] * z[0]).imag,
    "cumsum": lambda z: (z.cumsum(0) * z).imag,
    "sum": lambda z: (z.conj() * z.sum()).imag,
    "matmul": lambda z: (z.reshape(1, 2) @ z.reshape(2, 1)).imag,
}


@pytest.mark.parametrize(
    "mode", [lambda f: f, lt.trace, lt.script], ids=["eager", "trace", "script"]
)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients_are_the_differences(name, mode):
    at = np.array([[2.0, 0.5], [3.0, -1.0]], "float32")

    def value(parts):
        return COMPLEX[name](lt.complex(lt.tensor(parts[0]), lt.tensor(parts[1]))).sum().item()

    want = np.zeros((2, 2))
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2), "float32")
        step[place] = 2.0**-7
        want[place] = (value(at + step) - value(at - step)) / 2.0**-6

    def gradient(re, im):
        return lt.grad(COMPLEX[name](lt.complex(re, im)).sum(), [re, im])

    # Float32 differences: 1e-3 for the step, and about as much for the rounding of the values.
    got = mode(gradient)(*(lt.tensor(part, requires_grad=True) for part in at))
    assert np.allclose([g.tolist() for g in got], want, rtol=1e-2, atol=1e-2)


def test_a_real_operand_of_a_complex_result_has_a_real_gradient():
    x = lt.tensor([2.0], requires_grad=True)
    (x * lt.tensor([1 + 2j])).imag.backward()
    assert x.grad.dtype is lt.float32 and x.grad.tolist() == [2]


def test_a_complex_gradient_can_be_differentiated():
    x, y = (lt.tensor([v], requires_grad=True) for v in (2.0, 3.0))
    z = lt.complex(x, y)
    (first,) = lt.grad((z * z * z).imag.sum(), [x], create_graph=True)  # 3xxy - yyy: 6xy
    assert first.tolist() == [36]
    assert [g.tolist() for g in lt.grad(first.sum(), [x, y])] == [[18], [12]]


def test_a_leaf_is_frozen_and_thawed_after_its_use():
    w = lt.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    w.requires_grad_(False)
    assert not (w * 2).requires_grad
    w.requires_grad_(True)
    (w * 3).sum().backward()
    assert w.grad.tolist() == [5, 5, 5]


def test_a_hook_gives_back_a_gradient_like_the_one_that_came():
    for wrong in (lt.ones(5), lt.ones(3).double(), lt.tensor(1.0)):
        x = lt.ones(3, requires_grad=True)
        y = x * 1
        y.register_hook(lambda g, wrong=wrong: wrong)
        with pytest.raises(lt.AutogradError, match="a gradient of another type"):
            y.sum().backward()
        assert x.grad is None


def test_threads_add_to_the_gradient_of_one_leaf():
    """None is lost, whoever comes first; and no memory is given back twice."""
    x = lt.ones(100, requires_grad=True)

    def steps():
        for _ in range(200):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=steps) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [1600.0] * 100


def test_a_mode_around_a_generator_holds_while_it_runs():
    def recording():
        return (lt.ones(1, requires_grad=True) * 2).requires_grad

    @lt.no_grad()
    def steps():
        sent = yield recording()
        try:
            yield sent, recording()
        except KeyError:
            yield "caught", recording()
        return recording()

    running = steps()
    assert next(running) is False and recording()
    assert running.send(5) == (5, False) and recording()
    assert running.throw(KeyError) == ("caught", False) and recording()
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value is False and recording()
    running = steps()
    next(running)
    running.close()
    assert recording()


@pytest.mark.parametrize("zeros", [[], [1], [0], [3], [1, 3], [0, 1, 2]])
@pytest.mark.parametrize("wrap", [lambda f: f, lt.trace], ids=["eager", "trace"])
def test_products_with_zeros_have_gradients(zeros, wrap):
    values = np.array([[2.0, -3.0, 0.5, 4.0], [1.5, 2.5, -2.0, 3.0]])
    values[0, zeros] = 0.0
    weights = lt.tensor([[1.0, 2.0, -3.0, 0.25]], dtype=lt.float64)

    def slope(f, i):  # a product is linear in each element, so a difference is its slope
        at = [values.copy(), values.copy()]
        at[0][i] -= 1
        at[1][i] += 1
        low, high = (f(lt.tensor(a)).item() for a in at)
        return (high - low) / 2

    for f in (
        lambda t: t.prod(1).sum(),
        lambda t: t.prod(),
        lambda t: (t.prod((0, 1), keepdim=True) * 2).sum(),
        lambda t: (t.cumprod(1) * weights).sum(),
        lambda t: t.cumprod(0).sum(),
    ):
        x = lt.tensor(values, requires_grad=True)
        got = wrap(lambda t, f=f: lt.autograd.grad(f(t), [t])[0])(x).numpy()
        want = [[slope(f, (i, k)) for k in range(4)] for i in range(2)]
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
