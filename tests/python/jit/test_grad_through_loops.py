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

    h, ys = lt.scan(step, lt.zeros(2, 4), x)
    return h.sum() + ys.square().sum()


def scan_backwards_with_what_is_used_besides(w, x):
    y = x @ w[1]
    h, ys = lt.scan(lambda h, row: (F.gelu(h @ w[0] + row),) * 2, y[0], y, reverse=True)
    return (ys * y).sum() + (h @ w[1]).sum() + w[0].square().sum()


def two_scans(w, x):
    _, a = lt.scan(lambda h, row: ((h @ w[0] + row).sigmoid(),) * 2, lt.zeros(2, 4), x)
    _, b = lt.scan(lambda h, row: ((h @ w[1] + row).tanh(),) * 2, lt.zeros(2, 4), a)
    return (a * b).sum()


def scan_in_a_scan(w, x):
    def outer(h, rows):
        g, ys = lt.scan(lambda g, row: ((g * w[2] + row).tanh(),) * 2, h, rows)
        return g, ys.sum(0)

    h, ys = lt.scan(outer, lt.zeros(4), x)
    return h.sum() + ys.square().sum()


def counted(w, x):
    return lt.fori_loop(0, x.shape[0], lambda i, h: (h @ w[0]).tanh() + x[i], lt.zeros(2, 4)).sum()


def written_rows(w, x):
    out = x @ w[1]

    def step(i, h):
        h = (h @ w[0] + x[i]).tanh()
        out[i] = h * w[2]
        return h

    h = lt.fori_loop(0, x.shape[0], step, lt.zeros(2, 4))
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
        _, ys = lt.scan(lambda h, row: ((h @ w + row).tanh(),) * 2, lt.zeros(2, 4), x)
        ys.sum().backward(retain_graph=True)
        ys.square().sum().backward()
        return w.grad.clone()

    x = lt.randn(5, 2, 4)
    assert lt.equal(lt.trace(step)(x), step(x))


def test_what_was_taken_inside_is_a_number_outside():
    """As in eager code: the gradient has no history of its own."""
    w, v = weights((4, 4), (4,))

    def step(x):
        loss = lt.scan(lambda h, row: ((h @ w + row).tanh(), None), lt.zeros(2, 4), x)[0].sum()
        (grad,) = lt.autograd.grad(loss, [w])
        return (grad * v).sum() + (w * v).sum()

    x = lt.randn(5, 2, 4)
    for f in (step, lt.trace(step)):
        w.grad = v.grad = None
        f(x).backward()
        if f is step:
            expected = w.grad.tolist(), v.grad.tolist()
        assert (w.grad.tolist(), v.grad.tolist()) == expected


def test_second_order_and_what_data_decides_are_refused():
    w = weights((4, 4))[0]

    def penalty(x):
        x = x.clone().requires_grad_()
        y = lt.scan(lambda h, row: ((h @ w + row).tanh(), None), lt.zeros(2, 4), x)[0].sum()
        (dx,) = lt.autograd.grad(y, [x], create_graph=True)
        dx.square().sum().backward()

    with pytest.raises(lt.TraceError, match="second order"):
        lt.trace(penalty)(lt.randn(5, 2, 4))

    def decided(x):
        y = lt.cond(x.sum() > 0, lambda: (x @ w).sum(), lambda: x.sum())
        y.backward()

    with pytest.raises(lt.TraceError, match="data decides whether"):
        lt.trace(decided)(lt.randn(2, 4))
