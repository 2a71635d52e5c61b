"""autograd.Function: derivatives of a program's own, eager, again, and traced."""

import gc
import weakref

import pytest

import lathe as lt
from lathe.autograd import Function, grad, gradcheck, gradgradcheck, once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * dy


class Exp(Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output, None)

    @staticmethod
    def backward(ctx, dy):
        y, nothing = ctx.saved_tensors
        assert nothing is None
        return dy * y


def leaf(*values):
    return lt.tensor(values, dtype=lt.float64, requires_grad=True)


@pytest.mark.parametrize("function", [Cube, Exp])
def test_derivatives(function):
    x = leaf(0.5, -1.5)
    assert gradcheck(function.apply, (x,)) and gradgradcheck(function.apply, (x,))
    assert function.apply(x).grad_fn.name() == f"{function.__name__}Backward"
    assert not function.apply(x.detach()).requires_grad
    with lt.no_grad():
        assert not function.apply(x).requires_grad


def test_a_second_backward_needs_what_the_first_kept():
    x = leaf(2.0)
    y = Cube.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24
    with pytest.raises(lt.AutogradError, match="released"):
        y.backward()


def test_a_write_to_what_was_saved_is_an_error():
    x = leaf(2.0) * 1
    y = Cube.apply(x)
    x.mul_(2)
    with pytest.raises(lt.AutogradError, match="written to"):
        y.backward()


class Several(Function):
    @staticmethod
    def forward(ctx, a, k, b, *, flip=False):
        ctx.k, ctx.seen = k, ctx.needs_input_grad
        ctx.save_for_backward(a, b)
        larger = a > b
        ctx.mark_non_differentiable(larger)
        return a * b * k, larger, "text", a

    @staticmethod
    def backward(ctx, product, _, text, same):
        assert text is None  # no tensor, so no gradient, but a place
        a, b = ctx.saved_tensors
        assert ctx.seen == (True, False, False) and not ctx.needs_input_grad[2]
        return product * b * ctx.k + same, None, None


def test_several_results():
    a = leaf(1.0, 2.0)
    product, larger, text, same = Several.apply(a, 2.0, lt.tensor(3.0, dtype=lt.float64))
    assert text == "text" and not larger.requires_grad and same is not a
    (product.sum() + 10 * same.sum()).backward()
    assert a.grad.tolist() == [16, 16]
    a.grad = None
    Several.apply(a, 2.0, lt.tensor(3.0, dtype=lt.float64))[3].sum().backward()
    assert a.grad.tolist() == [1, 1]  # the product's gradient came as zeros


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


def test_written_to():
    x = leaf(1.0, 3.0)
    y = x * 5
    z = Doubled.apply(y)
    assert z is y and z.tolist() == [10, 30]
    z.sum().backward()
    assert x.grad.tolist() == [10, 10]
    with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
        Doubled.apply(x)


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        return 2 * dy * ctx.saved_tensors[0]


def test_once_differentiable():
    x, seed = leaf(3.0), leaf(1.0)
    (g,) = grad(Once.apply(x), x, seed, create_graph=True)
    assert g.item() == 6
    with pytest.raises(lt.AutogradError, match="not differentiated"):
        g.backward()


def made(result, broadcast=None):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, dy):
            return result(dy)

    return Wrong


def test_gradients_that_do_not_fit():
    x = leaf(1.0, 2.0)
    for result in (
        lambda d: (d, d), lambda d: (), lambda d: 3.0, lambda d: lt.ones(3), lambda d: lt.ones(2, 3)
    ):  # fmt: skip
        with pytest.raises(lt.AutogradError, match="no gradient of the arguments"):
            made(result).apply(x).sum().backward()
    made(lambda d: (d, None)).apply(x).sum().backward()
    made(lambda d: lt.ones(4, 2)).apply(x).sum().backward()
    assert x.grad.tolist() == [5, 5] and x.grad.dtype is lt.float64


def test_a_function_is_not_made():
    with pytest.raises(lt.TypeError, match="it is called"):
        Cube()
    with pytest.raises(NotImplementedError):
        Function.apply(lt.ones(1))


def test_nothing_is_left_behind():
    def run(function):
        a = lt.ones(2, requires_grad=True)
        function.apply(a * 2).sum()
        return weakref.ref(a)

    for function in (Cube, Exp):
        found = run(function)
        gc.collect()
        assert found() is None, function


def test_traced():
    def inside(x):
        x = x.detach().requires_grad_()
        return grad(Cube.apply(x).sum(), x)[0]

    x = lt.tensor([1.0, 2.0])
    traced = lt.trace(inside)
    assert traced(x).tolist() == inside(x).tolist() == [3, 12]
    assert "pow" not in str(traced.explain(verbose=True)) or traced.counts["node_by_node"] == 0
    outside = lt.trace(lambda x: Cube.apply(x).sum())
    assert outside(x).item() == 9
    with pytest.raises(lt.TraceError, match="of the program's own would be lost"):
        outside(lt.ones(2, requires_grad=True))


class AddInPlace(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.add_(y)

    @staticmethod
    def backward(ctx, dx):
        return dx, 2 * dx  # not the derivative of the sum: this rule was asked


def test_a_write_to_a_view_reaches_the_history_of_its_base():
    a, b = lt.ones(3, 4, requires_grad=True), lt.ones(2, requires_grad=True)
    x = a * 3
    seen = AddInPlace.apply(x[1:, 2:], b)
    assert lt.equal(x[1:, 2:], seen) and x.grad_fn is not None
    (x * x).sum().backward()
    assert lt.equal(a.grad, 6 * x) and b.grad.tolist() == [32, 32]
    b.grad = None
    rest = lt.ones(4)  # no history, until the write gives it one
    AddInPlace.apply(rest[:2], b)
    assert rest.requires_grad
    rest.sum().backward()
    assert b.grad.tolist() == [2, 2]


def test_a_write_to_a_view_of_a_leaf_is_refused():
    a, b = lt.ones(4, requires_grad=True), lt.ones(2, requires_grad=True)
    with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
        AddInPlace.apply(a[:2], b)


def test_variables_made_in_forward_have_gradients_of_their_own():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with lt.enable_grad():
                ctx.x = lt.autograd.Variable(x, requires_grad=True)
                ctx.y = ctx.x * 3
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, dy):
            with lt.enable_grad():
                ctx.y.backward(dy)
            return ctx.x.grad

    x = lt.ones(2, requires_grad=True)
    Inner.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]
