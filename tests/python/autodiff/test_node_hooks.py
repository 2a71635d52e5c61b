"""Hooks of a grad_fn, as PyTorch has them: on gradients of a node's results and inputs."""

import pytest

import lathe as lt


def leaf(*values):
    return lt.tensor(values, dtype=lt.float64, requires_grad=True)


def test_a_hook_sees_both_sides_and_may_replace_what_is_handed_on():
    x, y, seen = leaf(2.0, 3.0), leaf(5.0, 7.0), []
    z = x * y
    handle = z.grad_fn.register_hook(lambda dxs, dys: seen.append((dxs, dys)))
    z.grad_fn.register_hook(lambda dxs, dys: (dxs[0] * 10, None))
    z.sum().backward(retain_graph=True)
    ((dxs, dys),) = seen
    assert [d.tolist() for d in dxs] == [[5, 7], [2, 3]] and dys[0].tolist() == [1, 1]
    assert x.grad.tolist() == [50, 70] and y.grad is None
    handle.remove()
    z.sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [100, 140]


def test_a_prehook_comes_before_and_hooks_of_the_tensor_before_it():
    x, order = leaf(2.0), []
    z = x.exp()
    node = z.grad_fn
    node.register_hook(lambda dxs, dys: order.append(("after", dys[0].item())))
    node.register_prehook(lambda dys: order.append(("before", dys[0].item())))
    node.register_prehook(lambda dys: (dys[0] * 2,))
    z.register_hook(lambda dy: dy * 3)
    z.sum().backward()
    assert order == [("before", 3), ("after", 6)]
    assert x.grad.item() == pytest.approx(6 * z.item())


def test_what_is_not_wanted_is_none():
    x, y, seen = leaf(2.0), leaf(3.0), []
    z = x * y
    z.grad_fn.register_hook(lambda dxs, dys: seen.append([d is None for d in dxs]))
    lt.autograd.grad(z, x)
    assert seen == [[False, True]]
    with lt.no_grad():
        w = x * 1
    assert w.grad_fn is None


class Twice(lt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


@pytest.mark.parametrize("make", [
    lambda x: x[1:] * 1, lambda x: Twice.apply(x), lambda x: lt.cat([x, x]),
    lambda x: lt.layer_norm(x, (4,)), lambda x: lt.softmax(x, 0), lambda x: x[1:3],
    lambda x: x.reshape(2, 2), lambda x: lt.trace(lambda x: x * x + 1)(x),
    lambda x: lt.stack([x, x])[0],
], ids=["product", "function", "cat", "norm", "softmax", "slice", "view", "trace",
        "stack"])  # fmt: skip
def test_hooks_that_only_look_change_nothing(make):
    weight = lt.tensor([0.3, -1.0, 2.0, 0.7], dtype=lt.float64)

    def gradients(hooked):
        x, seen = leaf(0.5, -1.0, 2.0, 0.25), []
        for _ in range(2):  # added to what is there
            y = make(x * weight)
            if hooked:
                y.grad_fn.register_hook(lambda dxs, dys: seen.append(len(dxs)))
                y.grad_fn.register_prehook(lambda dys: None)
            ((y * y).sum() + (x * x).sum()).backward(create_graph=True)
        assert len(seen) == 2 * hooked
        return x.grad.tolist()

    assert gradients(True) == gradients(False)


def test_a_hook_is_part_of_a_second_derivative():
    x = leaf(2.0)
    z = x * x
    z.grad_fn.register_hook(lambda dxs, dys: tuple(d * x.detach() for d in dxs))
    (dx,) = lt.autograd.grad(z, x, create_graph=True)
    assert dx.item() == 8 and lt.autograd.grad(dx, x)[0].item() == 4


def test_wrong():
    x = leaf(2.0, 3.0)
    for give, error in ((lambda dxs, dys: dxs * 2, lt.AutogradError),
                        (lambda dxs, dys: (dxs[0].sum(),), lt.AutogradError),
                        (lambda dxs, dys: 3, lt.TypeError)):  # fmt: skip
        z = x.exp()
        z.grad_fn.register_hook(give)
        with pytest.raises(error) as caught:
            z.sum().backward()
        assert caught.value.next

    def raises(dys):
        raise RuntimeError("mine")

    z = x.exp()
    z.grad_fn.register_prehook(raises)
    with pytest.raises(RuntimeError, match="mine"):
        z.sum().backward()
    (node, _), *_ = x.exp().grad_fn.next_functions
    for register in (node.register_hook, node.register_prehook):
        with pytest.raises(lt.AutogradError, match="not seen together"):
            register(print)

    def hooked(x):
        y = x.exp()
        y.grad_fn.register_hook(lambda dxs, dys: None)
        return y

    with pytest.raises(lt.TraceError):
        lt.trace(hooked)(x)
