"""Rows EX, CP, HL, PR: graphs at work, files, layers."""

import subprocess
import sys

import numpy as np
import pytest
from compare import same
from rows import shows

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812


@shows(
    "EX-04",
    "every step of a graph has its implementation and reasons; nothing fails for want of a vendor",
)
def test_ex_04_every_step_is_explained(flag):
    f = lt.trace(lambda x, w: (x @ w).softmax(-1).cumsum(0))
    x, w = lt.randn(4, 5), lt.randn(5, 6)
    y = f(x, w)
    assert "own.gemm (defined): chosen" in f.explain() and "onednn.matmul" in f.explain()
    flag("disabled", "onednn,openblas,eigen")
    assert same((x @ w).softmax(-1).cumsum(0), y)


@shows("EX-05", "partly: a chain of 100 equal ops keeps few buffers. Not: branches that overlap")
def test_ex_05_buffers_of_a_chain(tmp_path):
    def chain(x):
        for _ in range(100):
            x = x.cumsum(0)
        return x

    x = lt.randn(1000)
    lt.save(chain, tmp_path / "chain.lathe", inputs=(x,))
    program = lt.load(tmp_path / "chain.lathe")
    assert same(program(x), chain(x))
    assert program.peak_bytes <= 3 * 4096


@shows("EX-12", "a write inside a graph (running statistics) is kept and seen after the call")
def test_ex_12_writes():
    eager, traced = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    f = lt.trace(lambda x: traced(x))
    for _ in range(3):
        x = lt.randn(4, 3, 2, 2)
        assert same(f(x), eager(x))
    assert same(traced.running_mean, eager.running_mean)
    assert same(traced.running_var, eager.running_var)
    assert traced.num_batches_tracked.item() == 3


@shows("EX-14", "no session, no placeholder; feeding by name works")
def test_ex_14_by_name(tmp_path):
    lt.save(lambda x, y: x - y, tmp_path / "f.lathe", inputs=(lt.ones(2), lt.ones(2)))
    f = lt.load(tmp_path / "f.lathe")
    assert f(y=lt.ones(2), x=lt.ones(2) * 3).tolist() == [2, 2]


@shows("EX-15", "a program's file and text come back equal")
def test_ex_15_round_trip(tmp_path):
    lt.save(lambda x: F.gelu(x) + 1, tmp_path / "a.lathe", inputs=(lt.ones(2),))
    a = lt.load(tmp_path / "a.lathe")
    a.save(tmp_path / "b.lathe")
    assert (tmp_path / "a.lathe").read_bytes() == (tmp_path / "b.lathe").read_bytes()
    assert lt.load(tmp_path / "b.lathe").graph == a.graph


@shows(
    "EX-16",
    "partly: eager and compiled steps raise the same typed error. Not: one test each for the rest",
)
def test_ex_16_errors():
    def f(x, i):
        return x.index_select(0, i)

    traced = lt.trace(f)
    traced(lt.ones(3), lt.tensor([0]))
    said = []
    for way in (f, traced):
        with pytest.raises(lt.IndexError) as caught:
            way(lt.ones(3), lt.tensor([0, 7]))
        said.append((caught.value.op, caught.value.problem, caught.value.got))
    assert said[0] == said[1]


@shows("CP-12", "a saved program needs no Python source and no pickle")
def test_cp_12_no_pickle(tmp_path):
    net = nn.Linear(3, 2)
    lt.save(net, tmp_path / "n.lathe", inputs=(lt.ones(1, 3),))
    x = lt.randn(5, 3)
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "y.npy", net(x).detach().numpy())
    code = (
        "import sys, numpy as np, lathe as lt\n"
        "y = lt.load('n.lathe')(lt.from_numpy(np.load('x.npy')))\n"
        "assert y.numpy().tobytes() == np.load('y.npy').tobytes()\n"
        "assert 'pickle' not in open('n.lathe', 'rb').read().decode('latin1')\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@shows(
    "CP-13",
    "partly: a file has graph, weights and the inputs' names, dtypes and symbolic sizes. "
    "Not: `lathe show`",
)
def test_cp_13_signature(tmp_path):
    net = nn.Linear(30, 20)
    lt.save(net, tmp_path / "n.lathe", inputs=(lt.ones(1, 30),))
    program = lt.load(tmp_path / "n.lathe")
    assert len(program.inputs) == 1 and "f32[" in program.graph and "const#" in program.graph


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


@shows("HL-16", "partly: `autograd.grad`, and of higher order. Not: `grad(f)` and `value_and_grad`")
def test_hl_16_grad():
    x = lt.tensor(2.0, requires_grad=True)
    (first,) = lt.autograd.grad(x**3, x, create_graph=True)
    (second,) = lt.autograd.grad(first, x)
    assert first.item() == 12 and second.item() == 12


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
    assert len(text.splitlines()) <= 12 and "test_use.py" in text and "[5, 3]" in text


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
