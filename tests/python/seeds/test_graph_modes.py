"""Rows TR, SC, DY: traces, scripts and sizes that change."""

import numpy as np
import pytest
from compare import same
from rows import shows

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812

torch = lt


@shows(
    "TR-01",
    "partly: `2*x + y` has eager's bits for new sizes, 1, 0 and 4096 too, with one trace. "
    "Not: example inputs",
)
def test_tr_01_foo():
    def foo(x, y):
        return 2 * x + y

    traced = lt.trace(foo)
    for n in (3, 1, 0, 4096, 7):
        x, y = torch.randn(n), torch.randn(n)
        assert same(traced(x, y), foo(x, y))
    assert traced.counts["traces"] == 1


@shows("TR-02", "a branch on data is refused with file, line and advice")
def test_tr_02_branch():
    def foo(x, y):
        return x if x.max() > y.max() else y

    with pytest.raises(lt.TraceError, match=r"(?s)test_graph_modes.py:\d+.*next:"):
        lt.trace(foo)(lt.ones(2), lt.ones(2))


@shows("TR-03", "a net without control flow traces to a graph without control-flow nodes")
def test_tr_03_straight():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 5),
    )
    traced = lt.trace(lambda x: net(x))
    x = lt.randn(2, 1, 8, 8)
    assert same(traced(x), net(x))
    assert not any(f"= {word} " in traced.graph for word in ("if", "while", "for", "call"))


@shows("TR-05", "partly: a new dtype or rank makes another graph, a new size none. Not: `graphs()`")
def test_tr_05_when_a_new_graph_is_made():
    f = lt.trace(lambda x: x * 2)
    for n in (2, 3, 9):
        f(lt.ones(n))
    assert f.counts["traces"] == 1
    f(lt.ones(2, 2))
    f(lt.ones(2, dtype=lt.float64))
    assert f.counts["traces"] == 3


@shows("TR-06", "a helper that is called inside becomes part of the graph")
def test_tr_06_helpers():
    def helper(x):
        return x.tanh() + 1

    traced = lt.trace(lambda x: helper(x) * helper(x))
    x = lt.randn(4)
    assert same(traced(x), helper(x) * helper(x)) and "tanh(" in traced.graph


@shows("TR-08", "the decorator is the only change to a debugged function; the bits are equal")
def test_tr_08_decorate():
    def f(x, w):
        return F.gelu(x @ w).softmax(-1)

    x, w = lt.randn(5, 6), lt.randn(6, 7)
    assert same(lt.trace(f)(x, w), f(x, w))


@shows("TR-09", "the same module eager, traced and saved; parameters are shared, not copied")
def test_tr_09_one_module(tmp_path):
    net = nn.Linear(3, 2)
    traced = lt.trace(net.forward)
    x = lt.randn(4, 3)
    assert same(traced(x), net(x))
    with lt.no_grad():
        net.weight.mul_(2)
    assert same(traced(x), net(x)), "the traced one sees the new weight"
    lt.save(net, tmp_path / "net.lathe", inputs=(x,))
    assert same(lt.load(tmp_path / "net.lathe")(x), net(x))


@shows(
    "TR-11", "a Python bool and train/eval are part of the trace's key: both variants, each right"
)
def test_tr_11_flags():
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))

    @lt.trace
    def call(x, is_training=False):
        y = net[0](x)
        return y if is_training else y.softmax(-1)

    x = lt.randn(2, 3)
    for flag in (True, False, True):
        want = net[0](x) if flag else net[0](x).softmax(-1)
        assert same(call(x, flag), want)
    assert call.counts["traces"] == 2
    traced = lt.trace(lambda x: net(x))
    net.eval()
    assert same(traced(x), net(x))
    net.train()
    assert (traced(lt.ones(64, 3)) == 0).any().item()


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * 6 * 6, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, self.num_flat_features(x))
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)

    def num_flat_features(self, x):
        size = x.size()[1:]
        num_features = 1
        for s in size:
            num_features *= s
        return num_features


@shows("TR-12", "LeNet traced with batch 1 is right for batch 7: sizes stay symbols through Python")
def test_tr_12_lenet_sizes():
    net = LeNet()
    traced = lt.trace(net.forward)
    for batch in (1, 7, 2):
        x = lt.randn(batch, 1, 32, 32)
        assert same(traced(x), net(x))


@shows(
    "TR-13",
    "a Python loop with a list and `cat`: unrolled by a trace, kept by a script; differentiable",
)
def test_tr_13_loop_and_cat():
    def f(x):
        out = []
        for k in range(3):
            out.append((x * (k + 1)).unsqueeze(1))
        return lt.cat(out, 1)

    x = lt.randn(4)
    assert same(lt.trace(f)(x), f(x)) and same(lt.script(f)(x), f(x))
    w = lt.ones(4, requires_grad=True)
    f(w).sum().backward()
    assert w.grad.tolist() == [6, 6, 6, 6]


@shows("TR-14", "partly: the captured graph and the plan with its reasons can be printed")
def test_tr_14_printing():
    f = lt.trace(lambda x, w, b: F.gelu(x @ w + b))
    f(lt.ones(2, 3), lt.ones(3, 4), lt.ones(4))
    assert "graph " in f.graph and "mm(" in f.graph and "gelu_erf(" in f.graph
    assert "own.gemm" in f.explain() and "generated" in f.explain()


@shows(
    "SC-02",
    "partly: a scripted branch follows the data. Not: gradients asked for from outside of it",
)
def test_sc_02_max():
    @torch.jit.script
    def foo(x, y):
        if x.max() > y.max():
            r = x
        else:
            r = y
        return r

    a, b = lt.tensor([1.0, 5.0]), lt.tensor([2.0, 3.0])
    assert foo(a, b).tolist() == [1, 5] and foo(b, a).tolist() == [1, 5]


@shows(
    "SC-06",
    "partly: `for` over a range and tensor rows, `while` with a tensor condition, `if/elif/else`",
)
def test_sc_06_control_flow():
    def f(x, n: int):
        total = x * 0
        for i in range(n):
            if x.sum() > 3:
                x = x - 1
            elif x.sum() > 0:
                x = x * 0.5
            else:
                x = x + 2
            total = total + x * i
        while total.sum() > 1:
            total = total / 2
        return total

    scripted = lt.script(f)
    for seed in range(6):
        lt.manual_seed(seed)
        x = lt.randn(3) * 3
        assert same(scripted(x, 5), f(x, 5)), seed


@shows(
    "SC-15", "partly: `break`, `continue` and `return` after a loop as in Python. Not: nested loops"
)
def test_sc_15_early_exits():
    def f(x, n: int):
        for i in range(n):
            if i == 2:
                continue
            if x.sum() > 10:
                break
            x = x * 2
        return x

    scripted = lt.script(f)
    for start in (0.5, 3.0, 20.0):
        x = lt.tensor([start])
        assert same(scripted(x, 6), f(x, 6))


@shows("DY-05", "partly: one trace serves 300 random shapes, 0 and 1 among them")
def test_dy_05_random_shapes():
    f = lt.trace(lambda x, w, b: F.gelu(x @ w + b))
    rng = np.random.default_rng(0)
    for _ in range(300):
        m, k, n = (int(v) for v in rng.integers(0, 9, 3))
        x, w, b = lt.randn(m, k), lt.randn(k, n), lt.randn(n)
        assert same(f(x, w, b), F.gelu(x @ w + b))
    assert f.counts["traces"] == 1 and f.counts["node_by_node"] == 0


@shows("DY-10", "partly: `gather` and `scatter` with counts known at run time, compiled")
def test_dy_10_gather_scatter():
    def message(x, source, target):
        return x.index_add(0, target, x.index_select(0, source))

    f = lt.trace(message)
    for nodes, edges in ((4, 7), (9, 2), (1, 0)):
        x = lt.randn(nodes, 3)
        source, target = (lt.randint(0, nodes, (edges,)) for _ in range(2))
        assert same(f(x, source, target), message(x, source, target))
    assert f.counts["traces"] == 1
