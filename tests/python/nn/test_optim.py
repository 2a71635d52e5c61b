"""Optimizers against the papers' formulas in NumPy, and their state."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn, optim

START, TARGET = [1.0, -2.0, 3.0], [0.5, 0.5, 0.5]


def gradient(x):
    return 2 * (x - np.array(TARGET)) * np.array([1.0, 2.0, 3.0])


def run(make, steps=5):
    p = nn.Parameter(lt.tensor(START, dtype=lt.float64))
    optimizer = make([p])
    for _ in range(steps):
        optimizer.zero_grad()
        weights = lt.tensor([1.0, 2.0, 3.0], dtype=lt.float64)
        (weights * (p - lt.tensor(TARGET, dtype=lt.float64)).square()).sum().backward()
        optimizer.step()
    return p.detach().numpy()


def sgd(x, steps, lr, momentum=0.0, dampening=0.0, decay=0.0, nesterov=False):
    v = None
    for _ in range(steps):
        g = gradient(x) + decay * x
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        x = x - lr * g
    return x


def adam(x, steps, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.0, decoupled=False, amsgrad=False):
    m = v = top = np.zeros_like(x)
    for t in range(1, steps + 1):
        g = gradient(x)
        if decoupled:
            x = x * (1 - lr * decay)
        else:
            g = g + decay * x
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        top = np.maximum(top, v)
        used = top if amsgrad else v
        x = x - lr * (m / (1 - b1**t)) / (np.sqrt(used / (1 - b2**t)) + eps)
    return x


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True},
        {"momentum": 0.9, "dampening": 0.3},
        {"momentum": 0.5, "weight_decay": 0.1},
    ],
    ids=str,
)
def test_sgd(settings):
    got = run(lambda p: optim.SGD(p, lr=0.05, **settings))
    names = {"weight_decay": "decay"}
    want = sgd(np.array(START), 5, 0.05, **{names.get(k, k): v for k, v in settings.items()})
    # float64, and the same operations in another order: some last places a step.
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW])
@pytest.mark.parametrize(
    "settings",
    [{}, {"betas": (0.8, 0.95)}, {"weight_decay": 0.1}, {"amsgrad": True}, {"betas": (0.0, 0.9)}],
    ids=str,
)
def test_adam(kind, settings):
    got = run(lambda p: kind(p, lr=0.1, **settings), 8)
    b1, b2 = settings.get("betas", (0.9, 0.999))
    decay = settings.get("weight_decay", 1e-2 if kind is optim.AdamW else 0.0)
    want = adam(
        np.array(START), 8, 0.1, b1, b2, decay=decay, decoupled=kind is optim.AdamW,
        amsgrad=settings.get("amsgrad", False),
    )  # fmt: skip
    # float64, and the same operations in another order: some last places a step.
    np.testing.assert_allclose(got, want, rtol=1e-12)


def rmsprop(x, steps, lr, alpha=0.99, eps=1e-8, decay=0.0, momentum=0.0, centered=False):
    v = mean = velocity = np.zeros_like(x)
    for _ in range(steps):
        g = gradient(x) + decay * x
        v, mean = alpha * v + (1 - alpha) * g * g, alpha * mean + (1 - alpha) * g
        step = g / (np.sqrt(v - mean * mean if centered else v) + eps)
        velocity = momentum * velocity + step
        x = x - lr * velocity
    return x


def adagrad(x, steps, lr, lr_decay=0.0, decay=0.0, start=0.0, eps=1e-10):
    total = np.full_like(x, start)
    for t in range(steps):
        g = gradient(x) + decay * x
        total = total + g * g
        x = x - lr / (1 + t * lr_decay) * g / (np.sqrt(total) + eps)
    return x


def test_rmsprop_and_adagrad():
    x = np.array(START)
    for settings in ({}, {"momentum": 0.9}, {"centered": True, "alpha": 0.9}, {"decay": 0.1}):
        given = {"weight_decay" if k == "decay" else k: v for k, v in settings.items()}
        got = run(lambda p, given=given: optim.RMSprop(p, lr=0.05, **given))
        np.testing.assert_allclose(got, rmsprop(x, 5, 0.05, **settings), rtol=1e-12)
    for settings in ({}, {"lr_decay": 0.5}, {"decay": 0.1}, {"start": 2.0}):
        names = {"decay": "weight_decay", "start": "initial_accumulator_value"}
        given = {names.get(k, k): v for k, v in settings.items()}
        got = run(lambda p, given=given: optim.Adagrad(p, lr=0.5, **given))
        # As Adam's: float64 in another order.
        np.testing.assert_allclose(got, adagrad(x, 5, 0.5, **settings), rtol=1e-12)
    with pytest.raises(lt.ValueError, match="must not be negative"):
        optim.RMSprop([nn.Parameter(lt.ones(1))], lr=-1)


def test_maximize():
    up = run(lambda p: optim.SGD(p, lr=0.01, maximize=True), 1)
    np.testing.assert_allclose(up, np.array(START) + 0.01 * gradient(np.array(START)))


def test_groups():
    a, b = nn.Parameter(lt.ones(1)), nn.Parameter(lt.ones(1))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    (a + b).sum().backward()
    optimizer.step()
    assert abs(a.item() - 0.9) < 1e-6 and b.item() == 0
    optimizer.add_param_group({"params": nn.Parameter(lt.ones(1)), "lr": 3.0})
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 1.0, 3.0]
    assert "lr: 3.0" in repr(optimizer)
    groups = repr(optimizer)[len("SGD (\n") : -len("\n)")].split("\n\n")
    assert [g.split("\n")[0] for g in groups] == [f"Parameter Group {i}" for i in range(3)]
    names = [line.split(":")[0].strip() for line in groups[1].split("\n")[1:]]
    assert names == sorted(optimizer.param_groups[1].keys() - {"params"})


@pytest.mark.parametrize(
    "make", [lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1)]
)
def test_state_round_trip(make, tmp_path):
    def steps(p, optimizer, n):
        for _ in range(n):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()

    p = nn.Parameter(lt.tensor(START))
    whole = make([p])
    steps(p, whole, 3)
    q = nn.Parameter(p.detach().clone())
    other = make([q])
    lt.save(whole.state_dict(), tmp_path / "optimizer.safetensors")
    other.load_state_dict(lt.load(tmp_path / "optimizer.safetensors"))
    steps(p, whole, 3)
    steps(q, other, 3)
    assert p.tolist() == q.tolist()
    with pytest.raises(ValueError, match="parameters"):
        make([q, nn.Parameter(lt.ones(1))]).load_state_dict(whole.state_dict())


def test_zero_grad_and_closures():
    p = nn.Parameter(lt.ones(2))
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad(set_to_none=False)
        loss = (p * p).sum()
        loss.backward()
        return loss

    with lt.no_grad():
        assert optimizer.step(closure).item() == 2
    assert p.tolist() == [0, 0]
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert p.grad is None
    optimizer.step()  # without gradients nothing moves
    assert p.tolist() == [0, 0]


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda p: optim.SGD([p], lr=-1), "lr"),
        (lambda p: optim.Adam([p], eps=-1), "eps"),
        (lambda p: optim.Adam([p], betas=(1.0, 0.9)), "beta"),
        (lambda p: optim.SGD([p], nesterov=True), "nesterov"),
        (lambda p: optim.SGD([]), "no parameters"),
        (lambda p: optim.SGD(p), "list"),
        (lambda p: optim.SGD([p, p]), "twice"),
        (lambda p: optim.SGD([p * 2]), "leaf"),
        (lambda p: optim.SGD([3]), "tensor"),
    ],
)
def test_refused(make, error):
    with pytest.raises(lt.Error, match=error):
        make(nn.Parameter(lt.ones(1)))


def test_a_network_learns():
    lt.manual_seed(3)
    x = lt.randn(64, 2)
    y = (x[:, 0] * x[:, 1] > 0).long()
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    assert (net(x).argmax(1) == y).float().mean().item() > 0.95


@pytest.mark.parametrize("kind", [lt.optim.Rprop, lt.optim.ASGD])
def test_a_rate_that_is_set_before_the_first_step_counts(kind):
    w = lt.tensor([1.0, -2.0], dtype=lt.float64, requires_grad=True)
    optimizer = kind([w], lr=0.1)
    optimizer.param_groups[0]["lr"] = 0.001
    (w**2).sum().backward()
    optimizer.step()
    # ASGD shrinks by lambd * lr as well, 1e-7 here, and keeps its rate in f32.
    moved = 0.001 * (np.sign([2.0, -4.0]) if kind is lt.optim.Rprop else np.array([2.0, -4.0]))
    assert np.allclose(w.detach().numpy(), np.array([1.0, -2.0]) - moved, atol=1e-6)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_a_line_search_keeps_to_max_eval(most):
    w = lt.tensor([3.0, -2.0], dtype=lt.float64, requires_grad=True)
    optimizer = lt.optim.LBFGS(
        [w], lr=0.01, max_iter=3, max_eval=most, line_search_fn="strong_wolfe"
    )
    looked = []

    def closure():
        optimizer.zero_grad()
        loss = (w**4).sum()
        loss.backward()
        looked.append(loss.item())
        return loss

    optimizer.step(closure)
    assert len(looked) == most + 1  # and one at the point that is taken first


@pytest.mark.parametrize("traced", [False, True])
def test_a_momentum_that_is_set_later(traced):
    """As schedules of the momentum do: the velocity begins with the first step that has one."""
    p = nn.Parameter(lt.tensor([1.0, -2.0]))
    o = optim.SGD([p], lr=0.1)

    def step():
        o.zero_grad()
        (p * p).sum().backward()
        o.step()

    run = lt.trace(step) if traced else step
    want, velocity = np.array([1.0, -2.0]), np.zeros(2)
    for momentum, dampening in ((0, 0), (0, 0), (0.9, 0), (0.8, 0), (0.8, 0.5), (0, 0), (0.9, 0)):
        o.param_groups[0]["momentum"], o.param_groups[0]["dampening"] = momentum, dampening
        run()
        g = 2 * want
        if momentum:
            velocity = velocity * momentum + g * (1 - dampening)
            g = velocity
        want = want - 0.1 * g
        # f32 beside f64: seven steps of some roundings each.
        np.testing.assert_allclose(p.detach().numpy(), want, rtol=1e-5)


def test_schedules_of_the_momentum_take_an_sgd_without():
    p = nn.Parameter(lt.ones(3))
    o = optim.SGD([p], lr=0.1)
    schedule = optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=5)
    for _ in range(4):
        p.sum().backward()
        o.step()
        schedule.step()
    assert "momentum_buffer" in o.state[p]


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_towards_a_higher_loss(search):
    def run(sign):
        p = nn.Parameter(lt.tensor([2.0, -1.0], dtype=lt.float64))
        opt = optim.LBFGS([p], lr=0.5, max_iter=5, line_search_fn=search, maximize=sign < 0)

        def closure():
            opt.zero_grad()
            loss = sign * ((p - 1) ** 2 + lt.exp(p)).sum()
            loss.backward()
            return loss

        first = opt.step(closure).item()
        return p.tolist(), sign * first

    assert run(-1) == run(1)


def test_a_decay_that_rprop_has_not_does_nothing():
    ends = []
    for settings in ({}, {"weight_decay": 0.5}):
        p = nn.Parameter(lt.tensor([1.0, -2.0]))
        opt = optim.Rprop([{"params": [p], **settings}])
        for _ in range(20):
            p.grad = p.detach() * 2
            opt.step()
        ends.append(p.tolist())
    assert ends[0] == ends[1]


@pytest.mark.parametrize("shape", [(2, 8), (8, 2)])
def test_muon_scales_by_rows_to_columns(shape):
    ends = []
    for how in ("original", "spectral_unclamped"):
        p = nn.Parameter(lt.zeros(shape))
        p.grad = lt.arange(16.0).reshape(shape).sin()
        optim.Muon([p], adjust_lr_fn=how).step()
        ends.append(p.detach())
    factor = 1.0 if shape[0] > shape[1] else 0.5
    assert lt.allclose(ends[1], ends[0] * factor)


def test_all_parameters_have_names_or_none():
    p, q = (nn.Parameter(lt.ones(1)) for _ in range(2))
    opt = optim.SGD([{"params": [("p", p)]}, {"params": [("q", q)]}])
    assert [g["param_names"] for g in opt.param_groups] == [["p"], ["q"]]
    for first, second in [([("p", p)], [q]), ([p], [("q", q)])]:
        with pytest.raises(lt.ValueError, match="some parameters have names"):
            optim.SGD(first + second)
        with pytest.raises(lt.ValueError, match="some parameters have names"):
            optim.SGD([{"params": first}, {"params": second}])
