"""All arguments of grad and backward, autograd.functional, anomaly detection, hooks, saved
tensors."""

import pytest

import lathe as lt
from lathe import nn
from lathe.autograd import (
    Function,
    GradcheckError,
    functional,
    grad,
    gradcheck,
    gradgradcheck,
    graph,
)
from lathe.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)


def leaf(*values):
    return lt.tensor(values, dtype=lt.float64, requires_grad=True)


def test_grad():
    a, b = leaf(1.0, 2.0), leaf(3.0)
    found = grad((a * 2).sum(), [a, b], materialize_grads=True)
    assert found[0].tolist() == [2, 2] and found[1].tolist() == [0]
    assert grad((a * 2).sum(), [a, b], allow_unused=True)[1] is None
    with pytest.raises(lt.AutogradError):
        grad((a * 2).sum(), [a, b])
    rows = grad(a * a, a, lt.eye(2, dtype=lt.float64), is_grads_batched=True)[0]
    assert rows.tolist() == [[2, 0], [0, 4]]
    with pytest.raises(lt.ValueError):
        grad(a.sum(), a, allow_unused=False, materialize_grads=True)
    (a * b).sum().backward(inputs=[a])
    assert a.grad.tolist() == [3, 3] and b.grad is None
    lt.autograd.backward([(a * b).sum()], inputs=a)
    assert a.grad.tolist() == [6, 6]
    with pytest.raises(lt.ValueError):
        (a * b).sum().backward(inputs=[])


def test_a_gradient_goes_no_further_than_what_it_is_by():
    """As in first-order MAML: the history behind the inputs is not spent, and no hook is called."""
    w, rate, seen = leaf(2.0), leaf(0.1), []
    step = rate * 3
    step.register_hook(seen.append)
    p = w - step * w.detach()
    (g,) = grad((p * p).sum(), p)
    assert seen == [] and g.item() == pytest.approx(2.8)
    ((p - rate * g) ** 2).sum().backward()
    assert len(seen) == 1 and w.grad.item() == pytest.approx(2 * 1.12)
    assert rate.grad.item() == pytest.approx(2 * 1.12 * (-6 - 2.8))
    a, b = leaf(2.0), leaf(3.0)
    c = b.exp()
    grad(a * a * c, a)
    c.backward()  # nor is what lies beside the way
    assert b.grad.item() == b.exp().item()
    c = b.exp()
    (a * c).backward(inputs=[a])
    c.backward()


def test_a_gradient_by_something_in_the_middle_of_a_long_history():
    x = leaf(1.0)
    early = x * 2
    y = early
    for _ in range(20000):
        y = y + early
    assert [g.item() for g in grad(y, [early, x], retain_graph=True)] == [20001, 40002]
    with pytest.raises(lt.AutogradError, match="does not influence"):
        grad(y, leaf(1.0))


def test_a_gradient_inside_of_another_asks_for_its_own_part():
    a, b, inner = leaf(2.0), leaf(3.0), []
    y = a * b
    z = y * y
    z.register_hook(lambda g: inner.append(grad(y, b, retain_graph=True)[0].item()))
    assert grad((z * a).sum(), a)[0].item() == 3 * 2.0**2 * 3.0**2
    assert inner == [2.0]


def test_hooks_after_a_gradient_grew():
    a, seen = leaf(1.0), []
    handle = a.register_post_accumulate_grad_hook(lambda t: seen.append((t is a, t.grad.item())))
    (a * 2).backward()
    (a * 2).backward()
    handle.remove()
    (a * 2).backward()
    assert seen == [(True, 2), (True, 4)]
    with pytest.raises(lt.AutogradError):
        (a * 2).register_post_accumulate_grad_hook(print)
    both, b = [], leaf(2.0)
    graph.register_multi_grad_hook([a, b], both.append)
    (a * b).backward()
    assert [[g.item() for g in gs] for gs in both] == [[2, 1]]


def test_functional():
    x, y = leaf(0.5, 1.5), leaf(2.0, 3.0)

    def f(a, b):
        return lt.sin(a) * b, (a * b).sum()

    (aa, ab), (sa, sb) = functional.jacobian(f, (x, y))
    assert lt.allclose(aa, lt.eye(2, dtype=lt.float64) * (x.cos() * y).detach())
    assert lt.allclose(ab, lt.eye(2, dtype=lt.float64) * x.sin().detach())
    assert sa.tolist() == [2, 3] and sb.tolist() == [0.5, 1.5]
    h = functional.hessian(lambda a: (a**3).sum(), x)
    assert lt.allclose(h, lt.eye(2, dtype=lt.float64) * 6 * x.detach())
    (xx, xy), (yx, yy) = functional.hessian(lambda a, b: (a * a * b).sum(), (x, y))
    assert lt.allclose(xy, yx.T) and not yy.any() and xx.tolist() == [[4, 0], [0, 6]]
    v = lt.tensor([1.0, 2.0], dtype=lt.float64)
    out, product = functional.vjp(lambda a: a * a, x, v)
    assert out.tolist() == [0.25, 2.25] and product.tolist() == [1, 6]
    assert functional.jvp(lambda a: a * a, x, v)[1].tolist() == [1, 6]
    for product in (functional.vhp, functional.hvp):
        assert product(lambda a: (a**3).sum(), x, v)[1].tolist() == [3, 18]
    with pytest.raises(lt.ValueError, match="does not depend"):
        functional.jacobian(lambda a: lt.ones(2), x, strict=True)
    assert functional.jacobian(lambda a: lt.ones(2), x).tolist() == [[0, 0], [0, 0]]
    for wrong in (
        lambda: functional.hessian(lambda a: a, x), lambda: functional.vjp(lambda a: a, x),
        lambda: functional.jacobian(lambda a: 3, x), lambda: functional.jvp(lambda a: a, x, v[:1]),
    ):  # fmt: skip
        with pytest.raises(lt.ValueError):
            wrong()


def test_anomalies_have_a_line():
    z = leaf(0.0)
    with lt.autograd.detect_anomaly():
        assert lt.autograd.is_anomaly_enabled()
        y = z / z  # the line
        with pytest.raises(lt.AutogradError, match="has a NaN") as caught:
            lt.sqrt(y).backward()
    assert not lt.autograd.is_anomaly_enabled() and caught.value.op == "sqrt"
    assert "test_gradients.py" in caught.value.site
    lt.sqrt(z / z).backward()


def test_saved_tensors_may_be_packed():
    log, x = [], leaf(1.0, 2.0)

    def pack(t):
        log.append("pack")
        return t.tolist()

    def unpack(kept):
        log.append("unpack")
        return lt.tensor(kept, dtype=lt.float64)

    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    z = y.sum()
    z.backward()
    assert lt.allclose(x.grad, 2 * x * lt.exp(x * x)) and set(log) == {"pack", "unpack"}
    with graph.save_on_cpu():
        (x * x).sum().backward()
    with graph.disable_saved_tensors_hooks("not here"):
        hooks = graph.save_on_cpu()
        with pytest.raises(lt.AutogradError, match="not here"):
            hooks.__enter__()
    with graph.saved_tensors_hooks(pack, lambda kept: 3):
        y = x * x
    with pytest.raises(lt.TypeError, match="unpacks"):
        y.sum().backward()


def test_checkpoint():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1))
    x = lt.randn(5, 3, requires_grad=True)

    def gradients(run):
        net.zero_grad()
        x.grad = None
        lt.manual_seed(3)
        run(x).sum().backward()
        return [x.grad.tolist(), *(p.grad.tolist() for p in net.parameters())], lt.rand(1).item()

    plain = gradients(net)
    assert gradients(lambda x: checkpoint(net, x, use_reentrant=False)) == plain
    assert gradients(lambda x: checkpoint_sequential(net, 2, x)) == plain
    u = leaf(0.3, -0.2)

    def part(t):
        return checkpoint(lambda u: (u.sin() * u.exp()).tanh(), t)

    assert lt.autograd.gradcheck(part, (u,)) and lt.autograd.gradgradcheck(part, (u,))
    runs = []

    def counted(t):
        runs.append(1)
        return t.exp() * t

    y = checkpoint(counted, u)
    assert len(runs) == 1
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(runs) == 3
    with lt.no_grad():
        checkpoint(counted, u)
    assert len(runs) == 4
    later = iter([True, False])
    y = checkpoint(lambda t: (t * t).exp() if next(later) else t * 2, u)
    with pytest.raises(CheckpointError, match="something else"):
        y.sum().backward()
    assert lt.trace(part)(u.detach()).tolist() == part(u.detach()).tolist()


def test_a_checkpoint_runs_again_as_far_as_it_must():
    steps, u = [], leaf(0.3, -0.2)

    def part(t):
        y = t.exp()
        steps.append("exp")
        z = y + 1  # of which no derivative reads anything
        steps.append("add")
        return z

    checkpoint(part, u).sum().backward()
    assert steps == ["exp", "add"]  # it ended inside exp()
    steps.clear()
    checkpoint(part, u, early_stop=False).sum().backward()
    assert steps == ["exp", "add"] * 2
    steps.clear()
    with set_checkpoint_early_stop(False):
        y = checkpoint(part, u)
    y.sum().backward()
    assert steps == ["exp", "add"] * 2 and lt.allclose(u.grad, 3 * u.exp())


class Noted:
    def __init__(self, name, log):
        self._name, self._log = name, log

    def __enter__(self):
        self._log.append(self._name)

    def __exit__(self, *_):
        self._log.append(self._name.upper())


def test_a_checkpoint_runs_in_the_blocks_of_its_context():
    log, u = [], leaf(0.3)

    def part(t):
        log.append("run")
        return t.sin()

    def blocks():
        return Noted("first", log), Noted("second", log)

    checkpoint(part, u, context_fn=blocks, use_reentrant=False).sum().backward()
    assert log == ["first", "run", "FIRST", "second", "run", "SECOND"]


def test_inference_mode():
    x = leaf(1.0)
    with lt.inference_mode():
        assert not (x * 2).requires_grad and lt.is_inference_mode_enabled()
    with lt.no_grad(), lt.inference_mode(False):
        assert (x * 2).requires_grad
    assert not lt.inference_mode(lambda t: t * 2)(x).requires_grad
    assert not lt.inference_mode()(lambda t: t * 2)(x).requires_grad


def test_a_tensor_that_requires_grad_may_be_asked_to():
    x = leaf(1.0)
    y = (x * 2).requires_grad_()
    y.requires_grad = True
    y.sum().backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(lt.AutogradError, match="only leaf tensors can change"):
        y.requires_grad_(False)


def test_a_retained_gradient_is_that_of_the_value_now():
    """After a write, of what was written; of the base, where a view was written to."""
    x = leaf(1.0, 2.0)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    assert y.grad.tolist() == [6, 12] and x.grad.tolist() == [18, 36]
    z = x * 1
    z.retain_grad()
    z[1].mul_(4)
    (z * z).sum().backward()
    assert z.grad.tolist() == [2, 16]


def test_functional_derivatives_of_scalars():
    x = lt.tensor(3.0, dtype=lt.float64)
    assert functional.hessian(lambda a: a**3, x).item() == 18
    assert functional.jacobian(lambda a: a**2, x).shape == ()


def test_a_block_of_hooks_is_left_as_often_as_entered():
    hooks = graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    with pytest.raises(lt.AutogradError, match="was not entered"):
        hooks.__exit__()
    with hooks:
        pass
    with pytest.raises(lt.AutogradError, match="was not entered"):
        hooks.__exit__()


def test_gradcheck_moves_what_a_function_reads_by_another_name():
    layer, x = nn.Linear(2, 2).double(), lt.randn(3, 2, dtype=lt.float64, requires_grad=True)
    kept = [p.clone() for p in layer.parameters()]
    given = (x, *layer.parameters())
    assert gradcheck(lambda *_: layer(x), given, fast_mode=True, nondet_tol=1e-6)
    assert gradgradcheck(lambda *_: layer(x).tanh(), given, check_undefined_grad=False)
    assert all(lt.equal(p, k) for p, k in zip(layer.parameters(), kept))
    turned = lt.randn(2, 3, dtype=lt.float64).t().requires_grad_()
    assert gradcheck(lt.sin, turned)


def test_gradcheck_of_complex_numbers():
    z = lt.tensor([0.3 + 0.4j, -1 + 2j], requires_grad=True, dtype=lt.complex128)
    x = leaf(0.5, 2.0)
    assert gradcheck(lambda z, x: (z.exp() * x, z.abs()), (z, x))
    assert gradgradcheck(lambda z, x: z.exp() * x, (z, x))
    assert gradcheck(lt.sin, z.detach().conj().requires_grad_())
    assert gradcheck(lt.sin, leaf(0.5).detach().expand(3).requires_grad_())
    broken = Broken.apply
    with pytest.raises(GradcheckError, match="output0"):
        gradcheck(broken, z)
    assert not gradcheck(broken, z, raise_exception=False)
    with pytest.raises(lt.UnsupportedError, match="check_forward_ad"):
        gradcheck(lt.sin, z, check_forward_ad=True)


class Broken(Function):
    @staticmethod
    def forward(ctx, z):
        return z * 1j

    @staticmethod
    def backward(ctx, dy):
        return dy * 1j  # of the conjugate


def test_gradients_of_some_inputs_are_added_where_grad_lies():
    p, flat = lt.ones(2, requires_grad=True), lt.zeros(2)
    p.grad = flat
    for _ in range(2):
        (p * 2).sum().backward(inputs=[p])
    assert flat.tolist() == [4, 4] and p.grad.tolist() == [4, 4]
    (p * p).sum().backward(inputs=[p], create_graph=True)
    assert p.grad.requires_grad and flat.tolist() == [4, 4]
