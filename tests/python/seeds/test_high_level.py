"""Rows HL and PR: networks, training, derivatives of functions, what both modes share."""

import re
from pathlib import Path

import numpy as np
import pytest
from compare import bits, same
from rows import shows
from test_graph_modes import LeNet

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812

torch = lt
ROOT = Path(__file__).resolve().parents[3]


def digits():
    """The 8x8 digits of scikit-learn: images in 0 to 1 and their classes, as arrays."""
    data = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    read = data.load_digits()
    return (read.data / 16).astype(np.float32), read.target


@shows(
    "HL-01",
    "partly: LeNet as the seed writes it learns digits (upsampled to 32x32); traced, scripted and "
    "saved it has eager's bits. Not: to 97 %, which the demo's network reaches",
)
def test_hl_01_lenet(tmp_path):
    lt.manual_seed(3)
    images, classes = digits()
    big = np.kron(images[:96].reshape(-1, 1, 8, 8), np.ones((4, 4), np.float32))
    x, t = lt.from_numpy(big), lt.from_numpy(classes[:96])
    net = LeNet()
    optimizer = lt.optim.Adam(net.parameters(), lr=2e-3)
    losses = []
    for _ in range(25):
        loss = F.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 2.2 and losses[-1] < 0.5
    assert (net(x).argmax(1) == t).float().mean().item() > 0.85
    lt.save(net, tmp_path / "lenet.lathe", inputs=(x[:1],))
    with lt.no_grad():
        for way in (lt.trace(net.forward), lt.script(net), lt.load(tmp_path / "lenet.lathe")):
            for n in (1, 7):
                assert same(way(x[:n]), net(x[:n]))


@shows("HL-05", "modules: parameters, names, state, hooks; Sequential in order")
def test_hl_05_modules():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    names = [n for n, _ in net.named_parameters()]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert list(net.state_dict()) == names and len(list(net.parameters())) == 4
    seen = []
    net[1].register_forward_hook(lambda m, i, o: seen.append(type(m).__name__))
    net(lt.ones(1, 2))
    assert seen == ["ReLU"]


@shows(
    "HL-06",
    "partly: SGD (momentum, Nesterov, weight decay), Adam, AdamW, RMSprop and Adagrad by their "
    "formulas (`test_optim.py`); a traced step of each has eager's bits. Not: LBFGS, PyTorch's own",
)
def test_hl_06_optimizers():
    makers = {
        "SGD": lambda p: lt.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        "Adam": lambda p: lt.optim.Adam(p, lr=0.05),
        "AdamW": lambda p: lt.optim.AdamW(p, lr=0.05),
        "RMSprop": lambda p: lt.optim.RMSprop(p, lr=0.02, momentum=0.5, centered=True),
        "Adagrad": lambda p: lt.optim.Adagrad(p, lr=0.3, lr_decay=0.01),
    }
    x = lt.randn(32, 3)
    t = x @ lt.tensor([[1.0], [-2.0], [0.5]])
    for name, make in makers.items():
        lt.manual_seed(1)
        nets = [nn.Linear(3, 1), nn.Linear(3, 1)]
        nets[1].load_state_dict(nets[0].state_dict())

        def step(x, t, net, optimizer):
            loss = F.mse_loss(net(x), t)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        plain, other = (make(net.parameters()) for net in nets)
        traced = lt.trace(lambda x, t, n=nets[1], o=other: step(x, t, n, o))
        losses = []
        for k in range(40):
            loss = step(x, t, nets[0], plain)
            # The first makes the gradients that the capture then finds.
            compiled = step(x, t, nets[1], other) if k == 0 else traced(x, t)
            assert same(loss, compiled), name
            losses.append(loss.item())
        assert losses[-1] < 0.2 * losses[0], name


@shows("HL-12", "a module without call conventions holds, names and saves what it is made of")
@shows(
    "HL-30",
    "partly: a layer library with its own way to call stands on `Module` alone: shared parts, "
    "state, training. Not: as an example of its own",
)
def test_hl_12_module_as_container():
    class Holder(nn.Module):
        """Keeps things; is not called."""

        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(lt.ones(2))
            self.parts = nn.ModuleDict({"inner": nn.Linear(2, 2)})
            self.register_buffer("count", lt.tensor(0))

    holder = Holder()
    names = [n for n, _ in holder.named_parameters()]
    assert names == ["scale", "parts.inner.weight", "parts.inner.bias"]
    assert [n for n, _ in holder.named_buffers()] == ["count"]
    with pytest.raises(NotImplementedError):
        holder(lt.ones(2))

    class Layer(nn.Module):
        """Called with keyword arguments, built at its first call."""

        def __init__(self, units, name):
            super().__init__()
            self.units, self.name, self.w = units, name, None

        def apply_to(self, *, inputs, train=False):
            if self.w is None:
                self.w = nn.Parameter(lt.randn(inputs.shape[-1], self.units) * 0.3)
            y = (inputs @ self.w).tanh()
            return F.dropout(y, 0.5, train)

    class Stack(nn.Module):
        def __init__(self, *layers):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def apply_to(self, *, inputs, train=False):
            for layer in self.layers:
                inputs = layer.apply_to(inputs=inputs, train=train)
            return inputs

    shared = Layer(4, "shared")
    stack = Stack(Layer(4, "first"), shared, shared)
    x = lt.randn(8, 3)
    first = stack.apply_to(inputs=x)
    assert len(list(stack.parameters())) == 2, "a shared layer counts once"
    twin = Stack(Layer(4, "first"), Layer(4, "second"))
    twin.apply_to(inputs=x)
    optimizer = lt.optim.SGD(stack.parameters(), lr=0.5)
    for _ in range(10):
        loss = (stack.apply_to(inputs=x) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < (first**2).sum().item()
    dropped = stack.apply_to(inputs=lt.ones(64, 3), train=True)
    assert 0.3 < (dropped == 0).float().mean().item() < 0.7


@shows("HL-16", "`func.grad(f)` and `value_and_grad`, of higher order, beside `backward()`")
def test_hl_16_grad():
    x = lt.tensor(2.0, requires_grad=True)
    (first,) = lt.autograd.grad(x**3, x, create_graph=True)
    (second,) = lt.autograd.grad(first, x)
    assert first.item() == 12 and second.item() == 12

    def cube(x):
        return (x**3).sum()

    value, slope = lt.func.value_and_grad(cube)(lt.tensor([1.0, 2.0]))
    assert value.item() == 9 and slope.tolist() == [3, 12]
    assert not value.requires_grad and not slope.requires_grad
    curve = lt.func.grad(lt.func.grad(cube))
    assert curve(lt.tensor(2.0)).item() == 12
    assert lt.func.grad(lambda x: curve(x))(3.0).item() == 6
    by_both = lt.func.grad(lambda x, y: (x * y * y).sum(), argnums=(0, 1))
    assert [g.tolist() for g in by_both(lt.tensor([2.0]), lt.tensor([3.0]))] == [[9], [12]]
    assert lt.func.grad(lambda x, y: (y * 2).sum())(lt.ones(2), lt.ones(2)).tolist() == [0, 0]
    # What the inner function knows of the outer one's argument is not its own argument.
    outer = lt.func.grad(lambda x: x * lt.func.grad(lambda y: x * y)(lt.tensor(5.0)))
    assert outer(lt.tensor(3.0)).item() == 6
    same_name = lt.func.grad(lambda x: x * lt.func.grad(lambda y: x * y)(x))
    assert same_name(lt.tensor(3.0)).item() == 6
    w = lt.tensor([2.0], requires_grad=True)
    lt.func.grad(lambda w: (w**3).sum())(w).sum().backward()
    assert w.grad.tolist() == [12], "a gradient of a tracked tensor has a history"


@shows(
    "HL-17",
    "`hybridize()` makes a network run compiled, in place, and `hybridize(False)` undoes it",
)
def test_hl_17_hybridize():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    names = list(net.state_dict())
    x = lt.randn(5, 3)
    want = net(x)
    assert net.hybridize() is net
    with lt.no_grad():
        assert same(net(x), want) and same(net(lt.randn(1, 3).expand(5, 3) * 0 + x), want)
        assert net.forward.counts["traces"] == 1
        net[0].weight.mul_(2)
        changed = net(x)
    assert list(net.state_dict()) == names
    net.hybridize(False)
    assert same(net(x), changed) and not hasattr(net.forward, "counts")
    assert bits(changed) != bits(want)


def numpy_program(np):
    """Array code for numpy, or for lathe under its name; two names differ."""
    ours = np.__name__ != "numpy"
    t = np.linspace(0.0, 1.0, 9)
    grid = np.reshape(np.arange(12), (3, 4)) * 0.5
    rows = np.sum(grid, axis=1)
    columns = np.mean(grid, axis=0, keepdims=True)
    centred = grid - columns
    gram = np.matmul(centred, centred.T)
    wave = np.sin(t * np.pi) + np.cos(t) * np.exp(-t)
    stepped = np.where(wave > 1.0, np.floor(wave * 4), np.sqrt(np.abs(wave)))
    top = np.maximum(stepped, np.minimum(wave, 0.5))
    joined = np.stack([top, wave, t], axis=0)
    running = np.cumsum(joined, axis=1)
    order = np.argsort(-rows)
    picked = grid[order][:, ::2]
    edges = (np.cat if ours else np.concatenate)([rows, rows])
    largest = np.argmax(running, axis=1)
    spread = np.std(grid, correction=0) if ours else np.std(grid)
    return gram, running, picked, edges, largest, spread


@shows(
    "HL-18",
    "partly: an array program of NumPy's names, with `axis` and `keepdims`, gives NumPy's values; "
    "`trace` and `func.grad` compose. Not: `concatenate`; `std` and `transpose` are PyTorch's",
)
def test_hl_18_numpy_style():
    lt.set_default_dtype(lt.float64)
    for got, want in zip(numpy_program(lt), numpy_program(np)):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)

    def loss(w, x):
        return lt.sum(lt.tanh(x @ w) ** 2)

    slope = lt.trace(lt.func.grad(loss))
    for n in (3, 5, 8):
        w, x = lt.randn(4), lt.randn(n, 4)
        assert same(slope(w, x), lt.func.grad(loss)(w, x))
    assert slope.counts["traces"] == 1


@shows("HL-20", "`utils.lr_find(step, optimizer)` gives the curve and a rate; nothing is changed")
def test_hl_20_lr_find():
    lt.manual_seed(4)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = lt.optim.SGD(net.parameters(), lr=0.123, momentum=0.9)
    x = lt.randn(64, 8)
    t = x.sum(1, keepdim=True)

    def step():
        loss = F.mse_loss(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    step()
    before = [p.detach().clone() for p in net.parameters()]
    velocity = [v["momentum_buffer"].clone() for v in optimizer.state.values()]
    curve, rate = lt.utils.lr_find(step, optimizer, lowest=1e-5, highest=10.0)
    assert all(same(p.detach(), q) for p, q in zip(net.parameters(), before))
    kept = [v["momentum_buffer"] for v in optimizer.state.values()]
    assert all(same(p, q) for p, q in zip(kept, velocity))
    assert optimizer.param_groups[0]["lr"] == 0.123
    rates, losses = zip(*curve)
    assert list(rates) == sorted(rates) and 1e-3 < rate < 1 and rate in rates
    assert min(losses) < 0.5 * losses[0] and len(curve) < 60, "it stops where the loss explodes"
    with pytest.raises(lt.ValueError, match="rates that grow"):
        lt.utils.lr_find(step, optimizer, lowest=1, highest=0.1)


@shows(
    "HL-23",
    "Normal, Bernoulli, Categorical: samples, log densities, gradients through samples; one stream "
    "in eager and graph",
)
def test_hl_23_distributions():
    d = lt.distributions
    normal = d.Normal(lt.tensor([1.0, -2.0]), lt.tensor([0.5, 2.0]))
    many = normal.sample((20000,))
    assert many.shape == (20000, 2) and not many.requires_grad
    np.testing.assert_allclose(many.mean(0).numpy(), [1, -2], atol=0.05)
    np.testing.assert_allclose(many.std(0).numpy(), [0.5, 2], rtol=0.03)
    z = (np.array([1.5, 0.0]) - [1, -2]) / [0.5, 2]
    want = -0.5 * z * z - np.log([0.5, 2]) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(normal.log_prob(lt.tensor([1.5, 0.0])).numpy(), want, rtol=1e-6)
    loc, scale = lt.tensor(3.0, requires_grad=True), lt.tensor(2.0, requires_grad=True)
    lt.manual_seed(8)
    sample = d.Normal(loc, scale).rsample((4,))
    sample.sum().backward()
    noise = (sample.detach() - 3) / 2
    assert loc.grad.item() == 4
    np.testing.assert_allclose(scale.grad.item(), noise.sum().item(), rtol=1e-5)
    coin = d.Bernoulli(lt.tensor([0.2, 0.9]))
    np.testing.assert_allclose(coin.sample((20000,)).mean(0).numpy(), [0.2, 0.9], atol=0.02)
    odds = lt.tensor([0.2, 0.9]) / lt.tensor([0.8, 0.1])
    for one in (coin, d.Bernoulli(logits=odds.log())):
        said = one.log_prob(lt.tensor([1.0, 0.0]))
        np.testing.assert_allclose(said.numpy(), np.log([0.2, 0.1]), rtol=1e-5)
    faces = lt.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    die = d.Categorical(faces * 3)
    drawn = die.sample((20000,))
    for row in range(2):
        shares = [(drawn[:, row] == k).float().mean().item() for k in range(3)]
        np.testing.assert_allclose(shares, faces[row].tolist(), atol=0.02)
    said = die.log_prob(lt.tensor([2, 0]))
    np.testing.assert_allclose(said.numpy(), np.log([0.25, 0.1]), rtol=1e-5)
    logits = lt.zeros(3, requires_grad=True)
    d.Categorical(logits=logits).log_prob(lt.tensor(1)).backward()
    np.testing.assert_allclose(logits.grad.numpy(), [-1 / 3, 2 / 3, -1 / 3], rtol=1e-6)

    def draw(loc):
        normal = d.Normal(loc, 2.0)
        x = normal.sample((3,))
        return x, normal.log_prob(x), d.Categorical(logits=x).sample(), d.Bernoulli(0.5).sample()

    traced = lt.trace(draw)
    lt.manual_seed(3)
    eager = [draw(lt.tensor(1.0)) for _ in range(3)]
    lt.manual_seed(3)
    for want in eager:
        assert all(same(a, b) for a, b in zip(traced(lt.tensor(1.0)), want))
    with pytest.raises(lt.UnsupportedError, match="not a smooth function"):
        d.Bernoulli(0.5).rsample()
    with pytest.raises(lt.ValueError, match="either probs or logits"):
        d.Categorical()


@shows(
    "HL-24",
    "a saved model loaded as a layer: it stays as it is, and a head that is trained stands on it",
)
def test_hl_24_features(tmp_path):
    lt.manual_seed(5)
    base = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
    lt.save(base, tmp_path / "base.lathe", inputs=(lt.ones(1, 4),))

    class Tuned(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = lt.load(tmp_path / "base.lathe")
            self.head = nn.Linear(16, 2)

        def forward(self, x):
            return self.head(self.features(x))

    net = Tuned()
    assert [n for n, _ in net.named_parameters()] == ["head.weight", "head.bias"]
    x = lt.randn(64, 4)
    t = (x[:, 0] > x[:, 1]).long()
    before = net.features(x)
    optimizer = lt.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(40):
        loss = F.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0] and same(net.features(x), before)


@shows("HL-26", "half precision at inference: the classes of 99.5 % of the digits stay; 0 to 16 "
       "becomes 0 to 1")  # fmt: skip
def test_hl_26_half_inference():
    lt.manual_seed(1)
    images, classes = digits()
    x, t = lt.from_numpy(images), lt.from_numpy(classes)
    net = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = lt.optim.Adam(net.parameters(), lr=0.01)

    @lt.script
    def step(x, t):
        loss = F.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(40):
        step(x, t)
    net.eval()
    with lt.no_grad():
        full = net(x).argmax(1)
        assert (full == t).float().mean().item() > 0.97
        half = net.half()(x.half())
        assert half.dtype == lt.float16
        assert (half.argmax(1) == full).float().mean().item() >= 0.995


@shows(
    "HL-27",
    "partly: logistic regression from primitives learns; traced it has eager's bits. "
    "Not: named axes",
)
def test_hl_27_logistic_regression():
    lt.manual_seed(2)
    x = lt.randn(64, 3)
    y = (x @ lt.tensor([1.0, -2.0, 0.5]) > 0).float()

    def loss_of(w, b):
        y_hat = 1 / ((-(x @ w + b)).exp() + 1)
        return -(y * y_hat.log() + (1 - y) * (1 - y_hat).log()).sum() / 64

    w, b = lt.zeros(3, requires_grad=True), lt.zeros(1, requires_grad=True)
    traced = lt.trace(loss_of)
    optimizer = lt.optim.SGD([w, b], lr=1.0)
    losses = []
    for _ in range(30):
        loss = loss_of(w, b)
        assert same(traced(w, b), loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.4 * losses[0]


@shows(
    "HL-28",
    "partly: a wrong layer size gives a short message with got, expected, line and advice. "
    "Not: the layer",
)
def test_hl_28_messages():
    with pytest.raises(lt.ShapeError) as caught:
        nn.Sequential(nn.Linear(2, 3), nn.Linear(4, 1))(lt.ones(5, 2))
    text = str(caught.value)
    assert len(text.splitlines()) <= 12 and "test_high_level.py" in text and "[5, 3]" in text


# ── principles ──────────────────────────────────────────────────────────────────────────────────


@shows("PR-07", "partly: another device leaves the user's program as it is: one network on `cpu` "
       "and `sim`, the same bits. Not: hardware that is not the host")  # fmt: skip
def test_pr_07_same_program_elsewhere():
    def train(device):
        lt.manual_seed(6)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
        optimizer = lt.optim.Adam(net.parameters(), lr=0.01)
        x, t = lt.randn(16, 4).to(device), lt.randint(0, 2, (16,)).to(device)
        losses = []
        for _ in range(5):
            loss = F.cross_entropy(net(x), t)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach().cpu())
        return lt.stack(losses), [p.detach().cpu() for p in net.parameters()]

    here, there = train("cpu"), train("sim")
    assert same(here[0], there[0])
    assert all(same(p, q) for p, q in zip(here[1], there[1]))


@shows(
    "PR-08",
    "eager and graph give the same bits, gradients too, so that debugging in eager is valid",
)
def test_pr_08_same_bits():
    lt.manual_seed(4)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    twin = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    twin.load_state_dict(net.state_dict())

    def step(model, optimizer, x, t):
        loss = F.cross_entropy(model(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    a, b = (lt.optim.Adam(m.parameters(), lr=0.01) for m in (net, twin))
    x, t = lt.randn(32, 8), lt.randint(0, 4, (32,))
    step(net, a, x, t)  # the first makes the gradients that the traced code then finds
    step(twin, b, x, t)
    traced = lt.trace(lambda x, t: step(twin, b, x, t))
    for _ in range(10):
        assert same(step(net, a, x, t), traced(x, t))
    assert all(same(p, q) for p, q in zip(net.parameters(), twin.parameters()))


@shows(
    "PR-10",
    "a training step and an inference are graphs of one kind, through the same passes to the same "
    "steps",
)
def test_pr_10_one_graph_for_both():
    net = nn.Linear(3, 2)
    optimizer = lt.optim.SGD(net.parameters(), lr=0.1)

    def step(x, t):
        loss = F.mse_loss(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    x, t = lt.randn(4, 3), lt.randn(4, 2)
    step(x, t)
    training, inference = lt.trace(step), lt.trace(lambda x: net(x))
    training(x, t)
    with lt.no_grad():
        inference(x)
    names = []
    for f in (training, inference):
        names.append(re.findall(r"(?m)^(\w+) +\d+ -> +\d+ nodes", f.explain(verbose=True)))
        assert "own.gemm (defined): chosen" in f.explain(verbose=True)
    assert set(names[0]) == set(names[1])
    assert training.graph.count("mm(") > inference.graph.count("mm(") == 1


@shows("PR-15", "partly: a licence and a page for contributors. Not: a log of changes")
def test_pr_15_open():
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert "./dev test" in (ROOT / "CONTRIBUTING.md").read_text()
