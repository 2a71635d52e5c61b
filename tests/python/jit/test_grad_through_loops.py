"""A gradient that is taken inside of a trace through loops that the program has as loops: the same
bits as eager's, of every length by one program."""

import pytest

import lathe as lt

F = lt.nn.functional


def weights(*shapes):
    lt.manual_seed(0)
    return [(lt.randn(shape) * 0.4).requires_grad_() for shape in shapes]


def scan_all(w, x):
    def step(h, row):
        h = (h @ w[0] + row).tanh()
        return h, h * h

    h, ys = lt.scan(step, lt.zeros(2, 4, dtype=x.dtype), x)
    return h.sum() + ys.square().sum()


def scan_backwards_with_what_is_used_besides(w, x):
    y = x @ w[1]
    h, ys = lt.scan(lambda h, row: (F.gelu(h @ w[0] + row),) * 2, y[0], y, reverse=True)
    return (ys * y).sum() + (h @ w[1]).sum() + w[0].square().sum()


def two_scans(w, x):
    _, a = lt.scan(
        lambda h, row: ((h @ w[0] + row).sigmoid(),) * 2, lt.zeros(2, 4, dtype=x.dtype), x
    )
    _, b = lt.scan(lambda h, row: ((h @ w[1] + row).tanh(),) * 2, lt.zeros(2, 4, dtype=x.dtype), a)
    return (a * b).sum()


def scan_in_a_scan(w, x):
    def outer(h, rows):
        g, ys = lt.scan(lambda g, row: ((g * w[2] + row).tanh(),) * 2, h, rows)
        return g, ys.sum(0)

    h, ys = lt.scan(outer, lt.zeros(4, dtype=x.dtype), x)
    return h.sum() + ys.square().sum()


def counted(w, x):
    return lt.fori_loop(
        0, x.shape[0], lambda i, h: (h @ w[0]).tanh() + x[i], lt.zeros(2, 4, dtype=x.dtype)
    ).sum()


def written_rows(w, x):
    out = x @ w[1]

    def step(i, h):
        h = (h @ w[0] + x[i]).tanh()
        out[i] = h * w[2]
        return h

    h = lt.fori_loop(0, x.shape[0], step, lt.zeros(2, 4, dtype=x.dtype))
    return out.square().sum() + h.sum()


def carried_and_read(w, x):
    start = x[0] @ w[1]
    return lt.fori_loop(0, x.shape[0], lambda i, h: h * start + w[2], start).sum()


def mapped(w, x):
    return lt.map(lambda row: (row @ w[0]).relu() @ w[1], x).square().mean()


LOSSES = [
    scan_all, scan_backwards_with_what_is_used_besides, two_scans, scan_in_a_scan, counted,
    written_rows, carried_and_read, mapped,
]  # fmt: skip


def gradients(w):
    return [None if p.grad is None else p.grad.tolist() for p in w]


@pytest.mark.parametrize("loss", LOSSES)
def test_bits_are_those_of_eager_code(loss):
    ws = weights((4, 4), (4, 4), (4,))

    def step(x):
        for p in ws:
            p.grad = None
        value = loss(ws, x)
        value.backward()
        return value

    traced = lt.trace(step)
    for length in (5, 3, 9, 5, 1):
        x = lt.randn(length, 2, 4)
        expected, grads = step(x), gradients(ws)
        for p in ws:
            p.grad = None
        assert traced(x).item() == expected.item()
        assert gradients(ws) == grads
    assert traced.counts["traces"] <= 2  # a size of 1 is another


@pytest.mark.parametrize("loss", LOSSES)
def test_by_grad_and_of_inputs(loss):
    ws = weights((4, 4), (4, 4), (4,))

    def step(x):
        x = x.clone().requires_grad_()
        return lt.autograd.grad(loss(ws, x), [x, ws[0]], allow_unused=True)

    traced = lt.trace(step)
    for length in (4, 6):
        x = lt.randn(length, 2, 4)
        for a, b in zip(step(x), traced(x)):
            assert (a is None) == (b is None) and (a is None or lt.equal(a, b))


@pytest.mark.parametrize("loss", LOSSES)
def test_steps_of_an_optimizer(loss):
    runs = []
    for wrap in (lambda f: f, lt.trace):
        ws = weights((4, 4), (4, 4), (4,))
        optimizer = lt.optim.AdamW(ws, lr=0.01)

        def step(x, ws=ws, optimizer=optimizer):
            optimizer.zero_grad()
            value = loss(ws, x)
            value.backward()
            optimizer.step()
            return value.detach()

        call = wrap(step)
        lt.manual_seed(1)
        losses = [call(lt.randn(3 + i % 3, 2, 4)).item() for i in range(6)]
        runs.append((losses, [p.tolist() for p in ws]))
    assert runs[0] == runs[1]


def test_backward_twice_and_in_parts():
    w = weights((4, 4))[0]

    def step(x):
        w.grad = None
        _, ys = lt.scan(
            lambda h, row: ((h @ w + row).tanh(),) * 2, lt.zeros(2, 4, dtype=x.dtype), x
        )
        ys.sum().backward(retain_graph=True)
        ys.square().sum().backward()
        return w.grad.clone()

    x = lt.randn(5, 2, 4)
    assert lt.equal(lt.trace(step)(x), step(x))


def test_what_was_taken_inside_is_a_number_outside():
    """As in eager code: the gradient has no history of its own."""
    w, v = weights((4, 4), (4,))

    def step(x):
        loss = lt.scan(
            lambda h, row: ((h @ w + row).tanh(), None), lt.zeros(2, 4, dtype=x.dtype), x
        )[0].sum()
        (grad,) = lt.autograd.grad(loss, [w])
        return (grad * v).sum() + (w * v).sum()

    x = lt.randn(5, 2, 4)
    for f in (step, lt.trace(step)):
        w.grad = v.grad = None
        f(x).backward()
        if f is step:
            expected = w.grad.tolist(), v.grad.tolist()
        assert (w.grad.tolist(), v.grad.tolist()) == expected


NONE_OR_REFUSED = [counted, carried_and_read]  # it is linear in x; see below


@pytest.mark.parametrize("loss", [f for f in LOSSES if f not in NONE_OR_REFUSED])
def test_second_order_agrees_to_rounding(loss):
    ws = [p.detach().double().requires_grad_() for p in weights((4, 4), (4, 4), (4,))]

    def penalty(x):
        for p in ws:
            p.grad = None
        x = x.clone().requires_grad_()
        (dx,) = lt.autograd.grad(loss(ws, x), [x], create_graph=True)
        value = (dx * dx).sum() + dx.sin().sum()
        value.backward()
        return value, x.grad

    traced = lt.trace(penalty)
    for length in (5, 3, 2, 1):
        x = lt.randn(length, 2, 4).double()
        value, dx = penalty(x)
        expected = [value, dx, *(lt.zeros(()) if p.grad is None else p.grad.clone() for p in ws)]
        value, dx = traced(x)
        found = [value, dx, *(lt.zeros(()) if p.grad is None else p.grad for p in ws)]
        for a, b in zip(expected, found):
            assert lt.allclose(a, b, rtol=1e-11, atol=1e-12)


def test_second_order_of_a_start_that_rounds_read_besides_is_refused():
    ws = weights((4, 4), (4, 4), (4,))

    def penalty(x):
        x = x.clone().requires_grad_()
        (dx,) = lt.autograd.grad(carried_and_read(ws, x), [x], create_graph=True)
        dx.square().sum().backward()

    with pytest.raises(lt.TraceError, match="data decides whether"):
        lt.trace(penalty)(lt.randn(5, 2, 4))


def test_third_order():
    def f(x):
        return lt.fori_loop(0, x.shape[0], lambda i, h: h * h.sin() + x[i], x.sum()).sum()

    def third(x):
        x = x.clone().requires_grad_()
        (d,) = lt.autograd.grad(f(x), [x], create_graph=True)
        (d,) = lt.autograd.grad(d.square().sum(), [x], create_graph=True)
        return lt.autograd.grad(d.sum(), [x])[0]

    x = lt.randn(3).double() * 0.3
    assert lt.allclose(lt.trace(third)(x), third(x), rtol=1e-9, atol=1e-9)


def test_functional_gradients_inside():
    w = weights((4, 4))[0].detach()

    def loss(w, x):
        return lt.scan(
            lambda h, row: ((h @ w + row).tanh(), None), lt.zeros(2, 4, dtype=x.dtype), x
        )[0].sum()

    x = lt.randn(4, 2, 4)
    grad = lt.func.grad(loss)
    assert lt.equal(lt.trace(grad)(w, x), grad(w, x))
    forward = lambda w, x: lt.func.jvp(lambda w: loss(w, x), (w,), (w,))  # noqa: E731
    for a, b in zip(lt.trace(forward)(w, x), forward(w, x)):
        assert lt.allclose(a, b)


def test_what_a_loop_writes_keeps_its_own_history():
    """A tensor that a loop writes to has, inside of the loop, a history of the loop alone."""
    w = weights((4, 4))[0]

    def step(x):
        w.grad = None
        out = x @ w

        def write(i, h):
            out[i] = out[i] + h
            return h + out[i].mean()

        h = lt.fori_loop(0, x.shape[0], write, w.sum())
        (out.square().sum() + h).backward()
        return out.detach()

    x = lt.randn(5, 3, 4)
    expected, grad = step(x), w.grad.clone()
    assert lt.equal(lt.trace(step)(x), expected) and lt.equal(w.grad, grad)


def test_where_data_decides_whether_anything_arrives_it_is_refused():
    w = weights((4, 4))[0]

    def decided(x):
        y = lt.cond(x.sum() > 0, lambda: (x @ w).sum(), lambda: x.sum())
        y.backward()

    with pytest.raises(lt.TraceError, match="data decides whether"):
        lt.trace(decided)(lt.randn(2, 4))


@pytest.mark.parametrize("kind", [lt.nn.LSTM, lt.nn.GRU, lt.nn.RNN])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}])
def test_recurrent_layers_are_one_program_for_every_length(kind, options):
    lt.manual_seed(0)
    layer = kind(4, 6, **options)

    def step(x):
        layer.zero_grad()
        loss = layer(x)[0].square().sum()
        loss.backward()
        return loss.detach()

    traced, forward = lt.trace(step), lt.trace(layer)
    for length in (5, 2, 9, 4):
        x = lt.randn(length, 3, 4)
        expected, grads = step(x), [p.grad.tolist() for p in layer.parameters()]
        assert lt.equal(traced(x), expected)
        assert [p.grad.tolist() for p in layer.parameters()] == grads
        assert lt.equal(forward(x)[0], layer(x)[0])
    assert traced.counts["traces"] == forward.counts["traces"] == 1


def test_recurrent_layers_of_mixed_dtypes():
    x = lt.randn(5, 2, 4)
    layers = [
        lt.nn.RNN(4, 6), lt.nn.GRU(4, 6), lt.nn.LSTM(4, 6, bidirectional=True),
        lt.nn.LSTM(4, 6, proj_size=3),
    ]  # fmt: skip

    def mixed(layer, x):
        with lt.autocast("cpu", dtype=lt.bfloat16):
            return layer(x)[0]

    for layer in layers:
        for length in (5, 1):
            given = x[:length]
            y = mixed(layer, given)
            assert lt.equal(lt.trace(mixed)(layer, given), y)
            assert lt.allclose(y.float(), layer(given)[0], atol=0.05)
        layer.double()
        y = layer(x)[0]
        assert y.dtype == lt.float64 and lt.allclose(y, layer(x.double())[0])


class Squared(lt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


def test_a_derivative_of_the_programs_own_in_a_loop_is_refused():
    w = lt.tensor(2.0, requires_grad=True)

    def read(x):
        return lt.fori_loop(0, x.shape[0], lambda i, h: h * Squared.apply(w) + w, lt.ones(()))

    def carried(x):
        return lt.fori_loop(0, x.shape[0], lambda i, h: Squared.apply(h) + 1, w)

    for f in (read, carried):
        with pytest.raises(lt.TraceError, match="its own derivative would be lost"):
            lt.trace(f)(lt.ones(3))
        with lt.no_grad():
            assert lt.equal(lt.trace(f)(lt.ones(3)), f(lt.ones(3)))


def test_a_leaf_that_a_loop_writes_to_stays_one():
    v = lt.tensor(1.5, requires_grad=True)

    def step(w, x):
        def body(i, h):
            with lt.no_grad():
                w.mul_(0.5)
            return h * v

        y = lt.fori_loop(0, x.shape[0], body, x.sum())
        y.backward()
        return y.detach()

    found = []
    for f in (step, lt.trace(step)):
        w, v.grad = lt.tensor(2.0, requires_grad=True), None
        y = f(w, lt.ones(3))
        assert w.is_leaf
        (w * w).backward()
        found.append((y.item(), w.item(), w.grad.item(), v.grad.item()))
    assert found[0] == found[1]


def test_gradients_of_what_a_loop_hands_on():
    """Taken outside: they go through the gradients that its rounds take."""
    w = lt.tensor(2.0, requires_grad=True)
    v = lt.tensor(0.5, requires_grad=True)

    def descend(x):
        inner = lt.func.grad(lambda q: q * q * q * v)
        return lt.fori_loop(0, x.shape[0], lambda i, p: p - 0.01 * inner(p), w)

    found = []
    for f in (descend, lt.trace(descend)):
        w.grad = v.grad = None
        f(lt.ones(3)).backward()
        found.append((w.grad, v.grad))
    for a, b in zip(*found):
        assert lt.allclose(a, b, rtol=1e-5)


def test_a_scan_of_nothing_reads_what_requires_grad():
    w = lt.tensor(2.0, requires_grad=True)
    carried, ys = lt.scan(lambda h, row: (h * w, h + row), lt.ones(()), lt.ones(0))
    assert carried.item() == 1 and ys.shape == (0,)
