"""lathe.func: derivatives of functions, against differences and NumPy."""

import collections

import numpy as np
import pytest

import lathe as lt
from lathe.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    value_and_grad,
    vjp,
    vmap,
)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def tensor(*shape, seed=0):
    return lt.tensor(numbers(*shape, seed=seed))


def differences(f, x, step=1e-6):
    """The Jacobian of a NumPy function by central differences."""
    columns = []
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = step
        e = e.reshape(x.shape)
        columns.append((f(x + e) - f(x - e)) / (2 * step))
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def close(a, b, tolerance=1e-6):
    np.testing.assert_allclose(
        a.numpy() if isinstance(a, lt.Tensor) else a, b, tolerance, tolerance
    )


W = numbers(4, 3, seed=7)


def curve(x):
    return (lt.tensor(W) @ x).sin() * x.sum()


def curve_np(x):
    return np.sin(W @ x) * x.sum()


JACOBIAN = differences(curve_np, numbers(3))


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
@pytest.mark.parametrize("chunk", [None, 1, 2])
def test_jacobians(jacobian, chunk):
    close(jacobian(curve, chunk_size=chunk)(tensor(3)), JACOBIAN)
    close(lt.trace(jacobian(curve, chunk_size=chunk))(tensor(3)), JACOBIAN)


def test_products():
    x, t, c = tensor(3), tensor(3, seed=1), tensor(4, seed=2)
    y, dy = jvp(curve, (x,), (t,))
    close(y, curve_np(x.numpy()))
    close(dy, JACOBIAN @ t.numpy())
    y, push = linearize(curve, x)
    close(push(t), JACOBIAN @ t.numpy())
    close(push(2 * t), 2 * JACOBIAN @ t.numpy())
    y, pull = vjp(curve, x)
    close(pull(c)[0], c.numpy() @ JACOBIAN)
    close(vmap(pull)(lt.eye(4, dtype=lt.float64))[0], JACOBIAN)


def test_hessian():
    def f(x):
        return curve(x).pow(2).sum()

    def gradient(x):
        return grad(f)(lt.tensor(x)).numpy()

    x = numbers(3)
    expected = differences(gradient, x)
    close(hessian(f)(lt.tensor(x)), expected, 1e-5)
    close(jacfwd(jacrev(f))(lt.tensor(x)), expected, 1e-5)
    close(jacrev(jacfwd(f))(lt.tensor(x)), expected, 1e-5)
    v = numbers(3, seed=3)
    product = jvp(grad(f), (lt.tensor(x),), (lt.tensor(v),))[1]
    close(product, expected @ v, 1e-5)


def test_trees():
    Point = collections.namedtuple("Point", "x y")

    def f(d):
        return (d["a"] * d["b"][0]).sum() + (d["p"].x * 3 + d["p"].y * d["a"].sum()).sum()

    given = {"a": tensor(3), "b": [tensor(3, seed=1)], "p": Point(tensor(2), tensor(2, seed=4))}
    found = grad(f)(given)
    assert list(found) == ["a", "b", "p"] and isinstance(found["p"], Point)
    close(found["a"], given["b"][0].numpy() + given["p"].y.numpy().sum())
    close(found["b"][0], given["a"].numpy())
    close(found["p"].x, np.full(2, 3.0))
    close(found["p"].y, np.full(2, given["a"].numpy().sum()))


def test_jacobian_of_trees():
    def f(x, d):
        return {"u": x * d["k"], "v": (x.sum(),)}

    x, k = tensor(2), tensor(2, seed=1)
    found = jacrev(f, argnums=(0, 1))(x, {"k": k})
    close(found["u"][0], np.diag(k.numpy()))
    close(found["u"][1]["k"], np.diag(x.numpy()))
    close(found["v"][0][0], np.ones(2))
    close(found["v"][0][1]["k"], np.zeros(2))
    forward = jacfwd(f, argnums=(0, 1))(x, {"k": k})
    close(forward["u"][1]["k"], np.diag(x.numpy()))


def test_aux_and_values():
    def f(x):
        return (x * x).sum(), {"double": x * 2, "word": "as it is"}

    x = tensor(3)
    found, aux = grad(f, has_aux=True)(x)
    close(found, 2 * x.numpy())
    close(aux["double"], 2 * x.numpy())
    assert aux["word"] == "as it is" and not aux["double"].requires_grad
    found, (value, aux) = grad_and_value(f, has_aux=True)(x)
    close(value, (x.numpy() ** 2).sum())
    value, found = value_and_grad(lambda x: (x * x).sum())(x)
    close(found, 2 * x.numpy())
    assert not value.requires_grad and not found.requires_grad


def test_nothing_depends_on_the_argument():
    x = tensor(3)
    close(grad(lambda x: lt.ones(()))(x), np.zeros(3))
    close(jvp(lambda x: lt.ones(2), (x,), (x,))[1], np.zeros(2))
    close(jacrev(lambda x: lt.ones(2, dtype=lt.float64))(x), np.zeros((2, 3)))


def test_history_goes_on_where_it_should():
    w, x = tensor(3, seed=5).requires_grad_(), tensor(3)
    found = grad(lambda x: (w * x * x).sum())(x)
    close(lt.autograd.grad(found.sum(), w)[0], 2 * x.numpy())
    found = vmap(grad(lambda x: (w * x * x).sum()))(x.expand(2, 3))
    close(lt.autograd.grad(found.sum(), w)[0], 4 * x.numpy())
    with lt.no_grad():
        y = x.clone().requires_grad_()
        found = grad(lambda x: (x * x).sum())(y)
    close(found, 2 * x.numpy())
    assert not found.requires_grad


def test_nesting():
    x = lt.tensor(0.7, dtype=lt.float64)
    f = lt.sin
    close(grad(grad(grad(f)))(x), -np.cos(0.7))
    # What the inner function differentiates by is its own argument alone.
    close(grad(lambda x: x * grad(lambda y: x * y)(x))(x), 2 * 0.7)
    xs = tensor(5)
    close(vmap(grad(grad(f)))(xs), -np.sin(xs.numpy()))
    close(grad(lambda xs: vmap(grad(f))(xs).sum())(xs), -np.sin(xs.numpy()))
    close(lt.trace(vmap(grad(grad(f))))(xs), -np.sin(xs.numpy()))
    close(vmap(lambda x: jvp(f, (x,), (x,))[1])(xs), np.cos(xs.numpy()) * xs.numpy())


class Net(lt.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = lt.nn.Linear(3, 5).double(), lt.nn.Linear(5, 2).double()

    def forward(self, x):
        return self.last(self.first(x).tanh())


def loss_np(p, x, y):
    h = np.tanh(x @ p["first.weight"].T + p["first.bias"])
    return (((h @ p["last.weight"].T + p["last.bias"]) - y) ** 2).sum()


def test_gradients_of_each_sample():
    net = Net()
    parameters = {n: p.detach() for n, p in net.named_parameters()}

    def loss(p, x, y):
        return (functional_call(net, p, (x,), strict=True) - y).pow(2).sum()

    xs, ys = tensor(4, 3), tensor(4, 2, seed=1)
    each = vmap(grad(loss), in_dims=(None, 0, 0))
    plain = {n: p.numpy() for n, p in parameters.items()}
    for found in (each(parameters, xs, ys), lt.trace(each)(parameters, xs, ys)):
        for name, p in plain.items():
            for i in range(4):

                def of(value, name=name, i=i):
                    return loss_np({**plain, name: value}, xs[i].numpy(), ys[i].numpy())

                close(found[name][i], differences(of, p), 1e-5)


def test_ensembles():
    nets = [Net() for _ in range(3)]
    parameters, buffers = stack_module_state(nets)
    assert buffers == {} and all(p.requires_grad and p.is_leaf for p in parameters.values())
    x = tensor(4, 3)

    def run(p, b, x):
        return functional_call(nets[0], (p, b), (x,))

    found = vmap(run, in_dims=(0, 0, None))(parameters, buffers, x)
    close(found.detach(), np.stack([net(x).detach().numpy() for net in nets]))
    found.pow(2).sum().backward()
    nets[1](x).pow(2).sum().backward()
    close(parameters["first.weight"].grad[1], nets[1].first.weight.grad.numpy())


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: grad(lambda x: x * 2)(lt.ones(2)), lt.ValueError),
        (lambda: grad(lambda x: x.sum())(lt.ones(2, dtype=lt.int64)), lt.DTypeError),
        (lambda: grad(lambda x: x.sum(), argnums=1)(lt.ones(2)), lt.ValueError),
        (lambda: jvp(lambda x: x, lt.ones(2), lt.ones(2)), lt.TypeError),
        (lambda: jvp(lambda x: x, (lt.ones(2),), (lt.ones(3),)), lt.ValueError),
        (lambda: jvp(lambda x: x, (lt.ones(2),), (lt.ones(2),) * 2), lt.ValueError),
        (lambda: jvp(lambda x: lt.ones(2), (lt.ones(2),), (lt.ones(2),), strict=True),
         lt.ValueError),
        (lambda: vjp(lambda x: (x, x), lt.ones(2))[1](lt.ones(2)), lt.ValueError),
        (lambda: jacrev(lambda x: 2.0)(lt.ones(2)), lt.TypeError),
        (lambda: stack_module_state([Net(), lt.nn.Linear(2, 2)]), lt.ValueError),
    ],
)  # fmt: skip
def test_refusals(call, error):
    with pytest.raises(error) as raised:
        call()
    assert raised.value.op and raised.value.next


def test_jacobians_of_scalars():
    x = lt.tensor(3.0, dtype=lt.float64)
    for jacobian in (jacrev, jacfwd):
        assert jacobian(lambda a: a**3)(x).item() == 27
        assert jacobian(jacobian(lambda a: a**3))(x).item() == 18
        assert jacobian(lambda a: a * lt.ones(2, dtype=lt.float64))(x).tolist() == [1, 1]
    assert hessian(lambda a: a**3)(x).item() == 18


def test_products_of_vjp_under_no_grad_have_no_history():
    x = lt.tensor(3.0, requires_grad=True)
    y, pull = vjp(lambda a: a**2, x)
    with lt.no_grad():
        (dx,) = pull(lt.tensor(1.0))
    assert dx.item() == 6 and not dx.requires_grad and y.requires_grad
    assert pull(lt.tensor(1.0))[0].requires_grad
