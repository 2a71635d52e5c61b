"""Gradients taken inside a traced function by its own arguments: as in eager, bit for bit."""

import pytest

import lathe as lt


def same(a, b):
    return a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


def loss_of(x, w):
    return ((x @ w).tanh() * 3).sum()


def data(n=4):
    lt.manual_seed(n)
    return lt.randn(n, 3), lt.randn(3, 2, requires_grad=True)


@pytest.mark.parametrize("wrap", [lt.trace, lt.script])
def test_grad_by_an_argument(wrap):
    def step(x, w):
        (g,) = lt.autograd.grad(loss_of(x, w), [w])
        return g

    traced = wrap(step)
    for n in (4, 7, 4):
        x, w = data(n)
        assert same(traced(x, w), step(x, w))
        assert w.grad is None
    if wrap is lt.trace:
        assert traced.counts["traces"] == 1


def test_backward_reaches_the_argument_and_adds_up():
    def step(x, w):
        loss = loss_of(x, w)
        loss.backward()
        return loss

    traced = lt.trace(step)
    x, eager = data()
    _, graph = data()
    for _ in range(4):
        assert same(traced(x, graph), step(x, eager))
        assert graph.grad is not None and same(graph.grad, eager.grad)
    eager.grad = graph.grad = None
    step(x, eager), traced(x, graph)
    assert same(graph.grad, eager.grad)


def test_one_tensor_given_twice():
    def step(a, b):
        (a * b).sum().backward()
        return a.sum()

    eager, graph = (lt.tensor([2.0, 3.0], requires_grad=True) for _ in range(2))
    step(eager, eager), lt.trace(step)(graph, graph)
    assert same(graph.grad, eager.grad)


def test_a_descent_on_an_argument():
    def step(x, w):
        (g,) = lt.autograd.grad(loss_of(x, w), [w])
        with lt.no_grad():
            w.sub_(g * 0.1)
        return g

    x, eager = data()
    _, graph = data()
    traced = lt.trace(step)
    for _ in range(5):
        assert same(traced(x, graph), step(x, eager)) and same(graph, eager)


def test_what_eager_refuses_is_refused():
    def write(w):
        w.add_(1)
        return w.sum()

    for way in (write, lt.trace(write)):
        with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
            way(lt.ones(2, requires_grad=True))


def test_a_result_still_has_its_history():
    x, w = data()
    lt.trace(loss_of)(x, w).backward()
    _, eager = data()
    loss_of(x, eager).backward()
    assert same(w.grad, eager.grad)


@pytest.mark.parametrize(
    "ask", [lambda t: t.register_hook(lambda g: g * 2), lambda t: t.retain_grad()]
)
def test_a_history_outside_of_the_trace_is_refused_by_name(ask):
    x = lt.ones(3, requires_grad=True) * 2

    def f(x):
        ask(x)
        return (x * x).sum()

    said = "outside of the function being traced|while tracing only"
    with pytest.raises((lt.AutogradError, lt.TraceError), match=said):
        lt.trace(f)(x)


def test_backward_does_not_stop_at_an_arguments_history():
    def step(h):
        loss = (h * h).sum()
        loss.backward()
        return loss

    w = lt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(lt.TraceError, match="an argument with history") as refused:
        lt.trace(step)(w * 2)
    assert f"{__file__}:" in str(refused.value)
    assert w.grad is None
    # Gradients by name do not go on into the history.
    x = lt.tensor([1.0, 2.0], requires_grad=True)

    def by_name(h, x):
        return lt.autograd.grad((h * x).sum(), [x])[0]

    assert same(lt.trace(by_name)(w * 2, x), by_name(w * 2, x))


def test_no_gradient_flows_through_what_is_detached():
    def product(a):
        b = a * 3
        return (b.detach() * a).sum(), b.detach(), a.detach()

    def later(a):
        t = a.detach()
        a = a * 2
        u = a.data
        return (a * t * u).sum()

    x = lt.tensor([2.0, -1.0], requires_grad=True)
    for f in (product, later):
        grads = []
        for way in (f, lt.trace(f), lt.script(f)):
            x.grad = None
            results = way(x)
            results = results if isinstance(results, tuple) else (results,)
            assert [r.requires_grad for r in results] == [True, False, False][: len(results)]
            results[0].backward()
            grads.append(x.grad.tolist())
        assert grads[0] == grads[1] == grads[2]
    assert grads[0] != [0, 0]


def test_the_gradient_of_a_result_may_be_an_argument():
    def pull(x, w, dy):
        y = (x @ w).tanh()
        return lt.autograd.grad(y, [w], [dy])[0]

    traced = lt.trace(pull)
    for n in (4, 1, 7):
        x, w = data(n)
        dy = lt.randn(n, 2)
        assert same(traced(x, w, dy), pull(x, w, dy))
    assert traced.counts["traces"] == 1
    with pytest.raises(lt.ShapeError, match="another shape than the result"):
        traced(*data(4), lt.randn(5, 2))


def test_one_row_needs_no_trace_of_its_own():
    def gradient(x, w):
        loss = (x @ w).tanh().mean(dim=0).sum() + ((x @ w) ** 2).sum()
        return lt.autograd.grad(loss, [w])[0]

    traced = lt.trace(gradient)
    for n in (400, 1, 7):
        x, w = data(n)
        assert same(traced(x, w), gradient(x, w))
    assert traced.counts["traces"] == 1
