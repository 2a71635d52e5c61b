"""Rows TR and DY: traces, and sizes that change."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tree_lstm
from compare import same
from rows import shows
from tree_lstm import CHILDREN, INPUTS, MEMORY

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812

torch = lt


@shows(
    "TR-01",
    "`torch.jit.trace(foo, (randn(3), randn(3)))` as written has eager's bits for new sizes, 1, 0 "
    "and 4096 too, with one trace",
)
def test_tr_01_foo():
    def foo(x, y):
        return 2 * x + y

    traced_foo = torch.jit.trace(foo, (torch.randn(3), torch.randn(3)))
    assert traced_foo.counts["traces"] == 1
    for n in (3, 1, 0, 4096, 7):
        x, y = torch.randn(n), torch.randn(n)
        assert same(traced_foo(x, y), foo(x, y))
    assert traced_foo.counts["traces"] == 1 and len(traced_foo.graphs()) == 1


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


@shows("TR-05", "a new dtype or rank makes another graph, a new size none; `graphs()` lists them")
def test_tr_05_when_a_new_graph_is_made():
    f = lt.trace(lambda x: x * 2)
    for n in (2, 3, 9):
        f(lt.ones(n))
    assert f.counts["traces"] == 1
    f(lt.ones(2, 2))
    f(lt.ones(2, dtype=lt.float64))
    assert f.counts["traces"] == 3
    assert sorted(g.split("(", 1)[1] for g in f.graphs()) == [
        "%t0: f32[s0, s1]) -> (f32[s0, s1])",
        "%t0: f32[s0]) -> (f32[s0])",
        "%t0: f64[s0]) -> (f64[s0])",
    ]


@shows("TR-06", "a helper that is called inside becomes part of the graph")
def test_tr_06_helpers():
    def helper(x):
        return x.tanh() + 1

    traced = lt.trace(lambda x: helper(x) * helper(x))
    x = lt.randn(4)
    assert same(traced(x), helper(x) * helper(x)) and "tanh(" in traced.graph


@shows(
    "TR-07",
    "a script calls a trace and a trace a script, nested twice; saved as one file. "
    "Not: that file in C++ (SC-09 has a scripted one)",
)
def test_tr_07_mixed(tmp_path):
    scale = lt.trace(lambda y: y * 2 + 1)

    @lt.script
    def choose(x):
        if x.sum() > 0:
            r = scale(x)
        else:
            r = x
        return r

    outer = lt.trace(lambda x: choose(x) * 3)

    @lt.script
    def whole(x):
        y = outer(x) - 1
        while y.sum() > 10:
            y = y / 2
        return y

    def plain(x):
        y = (x * 2 + 1 if x.sum() > 0 else x) * 3 - 1
        while y.sum() > 10:
            y = y / 2
        return y

    lt.save(whole, tmp_path / "whole.lathe", inputs=(lt.ones(2),))
    loaded = lt.load(tmp_path / "whole.lathe")
    for x in (lt.tensor([1.0, 9.0, 2.0]), lt.tensor([-1.0, 0.5]), lt.zeros(1)):
        assert same(whole(x), plain(x)) and same(loaded(x), plain(x))
    assert whole.counts["traces"] == outer.counts.get("traces", 0) + 1 == 1


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
    "TR-10",
    "examples as a tuple, a list, one tensor, or by name in a dict; a wrong number names the "
    "function's signature",
)
def test_tr_10_examples():
    def f(x, y, scale=2.0):
        return x * scale - y

    x, y = lt.randn(3), lt.randn(3)
    for examples in ((x, y), [x, y], {"y": y, "x": x}, (x, y, 2.0)):
        traced = lt.trace(f, examples)
        assert traced.counts["traces"] == 1
        assert same(traced(x, y), f(x, y))
    one = lt.trace(lambda x: x + 1, x)
    assert same(one(x), x + 1) and one.counts["traces"] == 1
    for wrong in ((x,), {"x": x, "z": y}):
        with pytest.raises(lt.TypeError) as caught:
            lt.trace(f, wrong)
        assert caught.value.expected == "f(x, y, scale=2.0)"


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


@shows("TR-14", "the captured graph, the rewritten one and the plan with its reasons are printed")
def test_tr_14_printing():
    f = lt.trace(lambda x, w, b: F.gelu(x @ w + b))
    f(lt.ones(2, 3), lt.ones(3, 4), lt.ones(4))
    assert "graph " in f.graph and "mm(" in f.graph and "gelu_erf(" in f.graph
    assert "group" not in f.graph and "group 'pointwise'" in f.optimised
    assert "own.gemm" in f.explain(verbose=True) and "generated" in f.explain(verbose=True)


class Encoder(nn.Module):
    """One layer as in BERT: attention of two heads, and a perceptron, each with its norm."""

    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, 2, width // 2).transpose(1, 2)
            for t in self.qkv(x).chunk(3, dim=-1)
        )
        # Merged by a product a head: reshape() after a transpose is a view where a size is 1 and a
        # copy elsewhere, which a trace has to tell apart.
        heads = self.out.weight.T.view(2, width // 2, width)
        y = (F.scaled_dot_product_attention(q, k, v) @ heads).sum(1) + self.out.bias
        x = self.norm1(x + y)
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Recursive(nn.Module):
    """The TreeLSTM cell over trees that are tensors: by node its children, -1 for none."""

    def __init__(self):
        super().__init__()
        self.cell = tree_lstm.cells(lt)["nested"](INPUTS, MEMORY, CHILDREN)

    def forward(self, node, children, words):
        if node < 0:
            return lt.zeros(1, 2 * MEMORY)
        below = [self(children[node, k], children, words) for k in range(CHILDREN)]
        return self.cell(words[node], below)


def random_tree(rng, nodes):
    """Children of each node, the root first; and what stands in the nodes."""
    children = np.full((nodes, CHILDREN), -1)
    for node in range(1, nodes):
        free = np.argwhere(children[:node] < 0)
        children[tuple(free[rng.integers(len(free))])] = node
    return lt.tensor(children), lt.randn(nodes, 1, INPUTS)


@shows(
    "DY-01",
    "a TreeLSTM that calls itself: one program for 1,000 random trees, given as tensors, with "
    "eager's bits, gradients too; for trees of Python's each structure is captured",
)
def test_dy_01_recursion():
    model = Recursive()
    scripted, rng, root = lt.script(model), np.random.default_rng(3), lt.tensor(0)
    with lt.no_grad():
        for k in range(1000):
            tree = random_tree(rng, 1 + k % 7)
            assert same(scripted(root, *tree), model(root, *tree))
    assert scripted.counts["traces"] == 1
    tree = random_tree(rng, 12)
    grads = []
    for f in (scripted, model):
        model.zero_grad()
        f(root, *tree).sum().backward()
        grads.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(grads[0]) == len(grads[1]) > 20 and all(map(same, *grads))

    def fold(tree, x):
        if isinstance(tree, tuple):
            return lt.tanh(fold(tree[0], x) + fold(tree[1], x) * 0.5)
        return x * tree

    def grown(depth):
        if depth == 0 or rng.random() < 0.3:
            return float(rng.integers(1, 4))
        return (grown(depth - 1), grown(depth - 1))

    trees = [grown(4) for _ in range(60)]
    scripted, x = lt.script(fold), lt.randn(5)
    for tree in trees:
        assert same(scripted(tree, x), fold(tree, x))
    # A structure once, and again where the first change of a number makes an input of it.
    structures = {re.sub(r"[\d.]+", "n", repr(t)) for t in trees}
    assert 10 < len(structures) <= scripted.counts["traces"] <= len({repr(t) for t in trees})


@shows(
    "DY-02",
    "bounds of sizes by `mark_bounds`: one graph inside of them, a ValueError that names them "
    "outside; sizes that `mark_static` fixes have a graph each, chosen by guards; `graphs()` and "
    "`repr` say how many there are",
)
def test_dy_02_bounds():
    def bounded(x):
        lt.mark_bounds(x, {0: (1, 512)})
        return x.tanh() if x.shape[0] <= 512 else x

    f = lt.trace(bounded)
    for n in (5, 1, 512, 64):
        assert same(f(lt.ones(n, 2)), lt.ones(n, 2).tanh())
    assert len(f.graphs()) == 1 and "traces=1, programs=1" in repr(f)
    for n in (0, 513):
        with pytest.raises(lt.ValueError, match=f"(?s)got: +{n} along axis 0.*1 to 512"):
            f(lt.ones(n, 2))
    assert len(f.graphs()) == 1

    g = lt.trace(lambda x: lt.mark_static(x, 0) * 2)
    for n in (16, 32, 16, 64, 32):
        assert same(g(lt.ones(n, 2)), lt.full((n, 2), 2.0))
    assert len(g.graphs()) == 3 and "traces=3, programs=3" in repr(g)


@shows(
    "DY-03",
    "partly: written out are loops over what Python knows, and `explain()` says the line, how many "
    "times it stands in the graph and how many nodes that is; a loop over data stays one. Not: "
    "only on request (`fori_loop` writes out up to 16 rounds)",
)
def test_dy_03_written_out():
    def rounds(x, n):
        for _ in range(n):
            x = (x * 2).tanh() + 1
        return x

    traced, scripted, x = lt.trace(rounds), lt.script(rounds), lt.randn(4)
    assert same(traced(x, 100), rounds(x, 100)) and same(
        scripted(x, lt.tensor(100)), traced(x, 100)
    )
    grown = re.findall(
        r"written out (\d+) times, (\d+) of (\d+) nodes +(\S+)", traced.explain(verbose=True)
    )
    line = rounds.__code__.co_firstlineno + 2
    assert [g[:3] for g in grown] == [("100", "300", "300")]
    assert grown[0][3].endswith(f"test_graph_modes.py:{line}")
    assert (
        "written out" not in scripted.explain(verbose=True) and scripted.graph.count("tanh(") == 1
    )
    assert "written out" not in lt.trace(lambda x: x * 2 + x * 3, (x,)).explain(verbose=True)


@shows(
    "DY-06",
    "partly: an elementwise graph is captured once for each rank, at most. Not: ranks that are "
    "dynamic in the types",
)
def test_dy_06_ranks():
    f = lt.trace(lambda x: (x * 2).tanh() + x)
    for _ in range(2):
        for rank in range(6):
            x = lt.randn(tuple(range(2, 2 + rank)))
            assert same(f(x), (x * 2).tanh() + x)
    assert f.counts["traces"] == 6 and len(f.graphs()) == 6


@shows(
    "DY-07",
    "partly: `exp`, copies of transposes, the depth of products and convolutions at extents 7, "
    "13, 127 and 1021 take at most 1.3 times the time per element of the faster round neighbour. "
    "Not: sums over rows (2 to 3 times at 13), `softmax`, the width of products "
    "(`tests/bench/primes.py`)",
)
@pytest.mark.slow
@pytest.mark.serial
def test_dy_07_prime_extents():
    bench = Path(__file__).parents[2] / "bench/primes.py"
    primes = SimpleNamespace(**runpy.run_path(str(bench)))
    threads = lt.get_num_threads()
    lt.set_num_threads(1)
    try:
        with lt.no_grad():
            for name in primes.WITHIN:
                ratios = primes.measured(name, 60)
                assert list(ratios) == [7, 13, 127, 1021]
                assert max(ratios.values()) <= primes.BAR, (name, ratios)
    finally:
        lt.set_num_threads(threads)


@shows(
    "DY-08",
    "an encoder as in BERT, lengths from 1 to 512, batches too: one graph, eager's bits (heads are "
    "merged by a product: a reshape of transposed axes is captured anew where a size is 1)",
)
def test_dy_08_encoder():
    net = Encoder(16)
    with lt.no_grad():
        traced = lt.trace(lambda x: net(x))
        for batch, length in ((2, 5), (1, 1), (3, 512), (1, 77), (2, 1), (4, 128)):
            x = lt.randn(batch, length, 16)
            assert same(traced(x), net(x)), length
    assert traced.counts["traces"] == len(traced.graphs()) == 1


@shows(
    "DY-10",
    "gather, scatter and segment sums with counts known at run time: compiled, differentiable",
)
def test_dy_10_gather_scatter():
    def message(x, source, target):
        return x.index_add(0, target, x.index_select(0, source))

    f = lt.trace(message)
    for nodes, edges in ((4, 7), (9, 2), (1, 0)):
        x = lt.randn(nodes, 3)
        source, target = (lt.randint(0, nodes, (edges,)) for _ in range(2))
        assert same(f(x, source, target), message(x, source, target))
    assert f.counts["traces"] == 1

    def segment_sum(values, segments, like):
        total = lt.zeros_like(like).index_add(0, segments, values * values)
        return (total * total).sum(), total

    @lt.trace
    def step(values, segments, like):
        values = values.detach().requires_grad_()
        return lt.autograd.grad(segment_sum(values, segments, like)[0], [values])[0]

    for count, many in ((5, 3), (8, 2), (2, 6)):
        values, like = lt.randn(count, 2), lt.zeros(many, 2)
        segments = lt.randint(0, many, (count,))
        _, total = segment_sum(values, segments, like)
        want = 4 * values * total[segments]
        got = step(values, segments, like)
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)
    assert step.counts["traces"] == 1
