"""What a recorded branch or loop writes to a tensor from outside has a history only if it is made
of what has one."""

import pytest

import lathe as lt


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def in_fori(b, w):
    def body(i, c):
        b.add_(0.1)
        return c * w

    return lambda x, n: lt.fori_loop(0, n, body, x)


def in_while(b, w):
    def body(i, c):
        b.mul_(2).add_(i)
        return i + 1, c * w

    return lambda x, n: lt.while_loop(lambda i, c: i < n, body, (n * 0, x))[1]


def in_cond(b, w):
    def yes():
        b.add_(1)
        return w * 2

    return lambda x, n: lt.cond(n > 0, yes, lambda: w * 3) * x


def in_scan(b, w):
    def step(c, row):
        b.copy_(row)
        return c * w, c

    return lambda x, n: lt.scan(step, x, lt.ones(3, 2))[0]


@pytest.mark.parametrize("make", [in_fori, in_while, in_cond, in_scan])
def test_a_plain_buffer_stays_one(make):
    got = []
    for capture in (lambda f: f, lt.trace):
        b, w = lt.zeros(2), lt.ones(2, requires_grad=True)
        f = capture(make(b, w))
        for n in (2, 3, 1):
            y = f(lt.full((2,), 1.5), lt.tensor(n))
            assert not b.requires_grad and b.grad_fn is None and y.requires_grad
            y.sum().backward()
        got.append([bits(b), bits(w.grad)])
    assert got[0] == got[1]


def test_a_branch_of_a_script():
    def make(best, saved, w):
        def step(x):
            loss = (x * w).sum()
            if loss < best:
                best.copy_(loss.detach())
                saved.copy_(w.detach())
            return loss

        return step

    got = []
    for capture in (lambda f: f, lt.script):
        best, saved, w = lt.tensor(9.0), lt.zeros(3), lt.ones(3, requires_grad=True)
        step = capture(make(best, saved, w))
        for scale in (2.0, 1.0, 3.0):
            step(lt.full((3,), scale)).backward()
            assert not best.requires_grad and not saved.requires_grad
        got.append([bits(best), bits(saved), bits(w.grad)])
    assert got[0] == got[1]


def test_what_is_made_of_a_weight_has_its_history():
    def f(x, n, w):
        total = lt.zeros(2)

        def body(i, c):
            total.add_(c)
            return c * w

        lt.fori_loop(0, n, body, x)
        return total

    traced, grads = lt.trace(f), []
    for call in (f, traced, traced):
        w = lt.full((2,), 1.5, requires_grad=True)
        call(lt.ones(2), lt.tensor(3), w).sum().backward()
        grads.append(bits(w.grad))
    assert grads[0] == grads[1] == grads[2]


@pytest.mark.parametrize("in_loop", [True, False])
def test_batch_norm_in_training(in_loop):
    def make():
        lt.manual_seed(0)
        norm = lt.nn.BatchNorm1d(3)

        def f(x, n):
            if in_loop:
                return lt.fori_loop(0, n, lambda i, h: norm(h), x)
            return lt.cond(n > 1, lambda: norm(x), lambda: x * 2)

        return norm, f

    got = []
    for capture in (lambda f: f, lt.trace):
        norm, f = make()
        f = capture(f)
        for n in (2, 1, 3):
            lt.manual_seed(n)
            f(lt.randn(4, 3, requires_grad=True), lt.tensor(n)).square().sum().backward()
        got.append([bits(t) for t in norm.state_dict().values()])
        got[-1] += [bits(p.grad) for p in norm.parameters()]
    assert got[0] == got[1]


def test_what_is_detached_in_a_branch_that_writes_to_it():
    def make(d):
        def f(x, w):
            u = w.clone()
            if u.sum() > 0:
                x = u.detach() + x
                d["a"] = u.sum()
                u[0] = 1.0
            return x, u

        return f

    for sign in (1.0, -1.0):
        got = []
        for capture in (lambda f: f, lt.script):
            d = {"a": lt.zeros(())}
            f = capture(make(d))
            for _ in range(2):
                x, u = f(lt.ones(4), lt.full((4,), sign))
            got.append([bits(t) for t in (x, u, d["a"])])
        assert got[0] == got[1]


def test_data_does_not_decide_whether_there_is_a_gradient():
    model = lt.nn.Linear(3, 2)
    optimizer = lt.optim.SGD(model.parameters(), lr=0.1)

    def make(to_none):
        def step(x, most):
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            if loss > most:
                optimizer.zero_grad(set_to_none=to_none)
            else:
                optimizer.step()
            return loss.detach()

        return step

    with pytest.raises(lt.ScriptError, match="data decides whether a tensor has a gradient"):
        lt.script(make(True))(lt.ones(2, 3), lt.tensor(0.1))
    start = {k: v.clone() for k, v in model.state_dict().items()}
    got = []
    for capture in (lambda f: f, lt.script):
        model.load_state_dict(start)
        step = capture(make(False))
        losses = [bits(step(lt.ones(2, 3), lt.tensor(most))) for most in (0.0, 99.0, 99.0)]
        got.append([losses, *(bits(p) for p in model.parameters())])
    assert got[0] == got[1]


@pytest.mark.parametrize("to_data", [True, False])
def test_a_parameter_that_a_branch_copies_to_stays_a_leaf(to_data):
    def make(q):
        def f(p, c):
            if c > 0:
                if to_data:
                    q.data.copy_(p)
                else:
                    v = q.detach()
                    v.copy_(p)
            return p * c

        return f

    got = []
    for capture in (lambda f: f, lt.script):
        q = lt.zeros(2, requires_grad=True)
        f, p = capture(make(q)), lt.ones(2, requires_grad=True)
        for c in (-1.0, 1.0, 2.0):
            (f(p, lt.tensor(c)) * q).sum().backward()
            assert q.is_leaf and q.requires_grad
        got.append([bits(q), bits(q.grad), bits(p.grad)])
    assert got[0] == got[1]


def test_detached_in_one_branch_and_written_in_the_other():
    def f(b, p, q, r):
        v3 = b - 0.5
        if r > 0.3:
            v5 = b.detach()  # noqa: F841
            v3[1:2] = b[1:2]
        else:
            if r > 0:
                b[1::2].mul_(0.25)
                v6 = b.detach()  # noqa: F841
            v3 = b * lt.tanh(q.sum())
        return v3, lt.where(b > 0, b, q) * 0.25, b

    script = lt.script(f)
    for r in (1.0, 0.1, -1.0):
        got = []
        for call in (f, script):
            b, p, q = lt.ones(4, 4), lt.ones(4, 4), lt.ones(4, 4)
            p.requires_grad_(), q.requires_grad_()
            out = call(b, p, q, lt.tensor(r))
            sum(x.sum() for x in out if x.requires_grad).backward()
            got.append([*(bits(o) for o in out), bits(b), bits(q.grad)])
        assert got[0] == got[1]


@pytest.mark.parametrize("deep", [False, True])
def test_a_leaf_that_a_branch_writes_to_and_reads_is_refused(deep):
    def f(w, b, x):
        def inner():
            b.mul_(w)
            return x * 1

        def yes():
            with lt.no_grad():
                w.copy_(x)
            return lt.cond(x.sum() > 1, inner, lambda: x * 2) if deep else inner()

        return lt.cond(x.sum() > 0, yes, lambda: x * 2)

    for capture in (lt.trace, lt.script):
        w, b = lt.ones(2, requires_grad=True), lt.ones(2)
        with pytest.raises(lt.TraceError, match="leads back to a leaf that is written to inside"):
            capture(f)(w, b, lt.full((2,), 3.0))


def test_a_leaf_that_a_branch_writes_to_alone_stays_one():
    def make(w, b):
        def f(x):
            def yes():
                with lt.no_grad():
                    w.copy_(x)
                b.mul_(x)
                return x * 1

            return lt.cond(x.sum() > 0, yes, lambda: x * 2)

        return f

    got = []
    for capture in (lambda f: f, lt.trace, lt.script):
        w, b = lt.ones(2, requires_grad=True), lt.ones(2)
        f = capture(make(w, b))
        for v in (3.0, -1.0, 2.0):
            y = f(lt.full((2,), v))
        got.append([bits(w), bits(b), bits(y), w.is_leaf, b.requires_grad, y.requires_grad])
    assert got[0] == got[1] == got[2]
