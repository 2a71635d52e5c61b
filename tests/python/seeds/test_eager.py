"""Rows EA: eager execution and the tape. Programs of the seeds run with `lathe as torch`."""

import ast
import gc
import inspect
import itertools
import json
import re
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
import tree_lstm
from built import BUILD, SANITIZED
from compare import bits, same
from rows import shows

import lathe as lt
from lathe import nn

torch = lt
ROOT = Path(__file__).resolve().parents[3]


@shows(
    "EA-01", "`x.mm(x) + t` as written: eager, traced, scripted, saved and loaded, the same bits"
)
def test_ea_01_foo(tmp_path, capsys):
    def foo(x, t):
        y = x.mm(x)
        return y + t

    x = torch.Tensor([[1, 2], [3, 5]])
    t = torch.Tensor([[3, 7], [1, 2]])
    print(foo(x, t))
    assert capsys.readouterr().out == "tensor([[10., 19.],\n        [19., 33.]])\n"
    lt.save(foo, tmp_path / "foo.lathe", inputs=(x, t))
    for way in (lt.trace(foo), lt.script(foo), lt.load(tmp_path / "foo.lathe")):
        assert way(x, t).numpy().tobytes() == foo(x, t).numpy().tobytes()


@shows("EA-02", "every op has computed before the next line")
def test_ea_02_define_by_run(capsys):
    x = lt.tensor([1.0, 2.0])
    y = x * 2
    print(y)
    z = y + 1
    print(z)
    assert capsys.readouterr().out == "tensor([2., 4.])\ntensor([3., 5.])\n"


@shows("EA-03", "a model whose depth depends on data trains without any annotation")
def test_ea_03_python_control_flow():
    layer = nn.Linear(3, 3)
    head = nn.Linear(3, 1)
    optimizer = lt.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.05)
    x = lt.randn(16, 3)
    target = x.sum(1, keepdim=True)
    depths, losses = set(), []
    for step in range(60):
        h, depth = x if step % 2 else -x, 1
        while h.sum() > 0 and depth < 3:
            h = lt.tanh(layer(h))
            depth += 1
        depths.add(depth)
        loss = ((head(h) - (target if step % 2 else -target)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert len(depths) > 1 and losses[-1] < losses[0]


@shows(
    "EA-05",
    "the core and its kernels know nothing of autodiff: their tests pass in a program that is "
    "linked without it (`lathe_core_tests`); `backward()` fills the grad of every leaf",
)
def test_ea_05_autodiff_stands_on_top():
    for folder in ("core", "kernels"):
        for path in (ROOT / folder).rglob("*.[hc]*"):
            assert '#include "autodiff/' not in path.read_text(), path
    program = BUILD / "bin/lathe_core_tests"
    assert b"TapeNode" not in program.read_bytes()
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"\[  PASSED  \] (\d+) tests", done.stdout).group(1)) > 100
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x = lt.randn(4, 2)
    net(x).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in net.parameters())
    assert net[2].bias.grad.tolist() == [4] and x.grad is None


@shows(
    "EA-06",
    "a tape as a block: `watch`, `gradient`, a tape that is persistent; `no_grad` records nothing. "
    "Not: a counter of what is recorded",
)
def test_ea_06_gradient_tape():
    x, w = lt.tensor([1.0, 2.0, 3.0]), lt.tensor([2.0], requires_grad=True)
    with lt.GradientTape() as tape:
        tape.watch(x)
        y = (x * x * w).sum()
    by_x, by_w = tape.gradient(y, [x, w])
    assert by_x.tolist() == [4, 8, 12] and by_w.tolist() == [14]
    assert x.grad is None and not x.requires_grad
    with lt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        with lt.no_grad():
            z = x * 5
        other = lt.ones(1) * 2
    assert tape.gradient(y, x).tolist() == tape.gradient(y, x).tolist() == [3, 12, 27]
    assert z.grad_fn is None and other.grad_fn is None
    assert tape.gradient(y, w) is None, "y does not depend on w"
    tape.stop()
    assert not x.requires_grad


def tape_nodes(t):
    """How many nodes its history has, leaves included."""
    seen, pending = 0, [t.grad_fn]
    while pending:
        node = pending.pop()
        seen += 1
        pending += [n for n, _ in node.next_functions if n is not None]
    return seen


@shows("EA-07", "frozen parameters get no gradient and no update, and the tape has fewer nodes")
def test_ea_07_frozen_layers():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    whole = tape_nodes(model(lt.ones(4, 2)))
    model[0].requires_grad_(False)
    assert tape_nodes(model(lt.ones(4, 2))) < whole
    before = model[0].weight.clone(), model[1].weight.clone()
    optimizer = lt.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model(lt.ones(4, 2)).sum().backward()
    optimizer.step()
    assert model[0].weight.grad is None and lt.equal(model[0].weight, before[0])
    assert not lt.equal(model[1].weight, before[1])


RULES = """
import sys
import lathe as lt
ran = []

def rule(saved, dy):
    return dy * saved.x * 2

def count(frame, event, argument):
    if event == "call" and frame.f_code is rule.__code__:
        ran.append(1)

@lt.library.custom_op("squared(Tensor x) -> Tensor", shape=lambda x: x, gradient=rule)
def squared(x):
    return x * x

def step(w):
    w = w.detach().requires_grad_()
    return lt.autograd.grad(lt.squared(w).sum(), [w])[0]

traced = lt.trace(step)
traced(lt.ones(2))
sys.setprofile(count)
for n in (3, 3, 5, 1):
    w = lt.randn(n)
    for _ in range(3):
        assert traced(w).numpy().tobytes() == (w * 2).numpy().tobytes()
print(len(ran), traced.counts["calls"])
step(lt.ones(2)), step(lt.ones(2))
print(len(ran))
"""


@shows("EA-09", "in graph mode a derivative rule runs at the capture, and at no later call")
def test_ea_09_rules_run_once():
    done = subprocess.run([sys.executable, "-c", RULES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 13\n2\n"  # eager runs it each time


class Tape:
    """A node of a step's tape holds it, and nothing else does."""


@shows(
    "EA-08",
    "the tape of a step is freed before the next step ends, by its last reference and without "
    "Python's collector: memory is flat over 100,000 steps",
)
def test_ea_08_the_tape_of_a_step_is_freed():
    tapes = []

    class Watched(lt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.tape = Tape()
            tapes.append(weakref.ref(ctx.tape))
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return dy

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    model = nn.Sequential(nn.Linear(4, 1), nn.Tanh())
    optimizer = lt.optim.SGD(model.parameters(), lr=0.01)
    x = lt.randn(8, 4)
    target = lt.tanh(x.sum(1, keepdim=True))
    steps = 2_000 if SANITIZED else 100_000  # a sanitizer keeps what is freed: its memory grows
    gc.collect()
    gc.disable()
    try:
        for step in range(steps):
            loss = ((Watched.apply(model(x)) - target) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert step == 0 or tapes.pop(0)() is None, f"the tape of step {step - 1} lives"
            if step == 1_000:
                before = resident()
        assert len(tapes) == 1 and tapes[0]() is not None, "the loss holds the last one"
        assert SANITIZED or resident() - before < 2 << 20  # 21 bytes a step
    finally:
        gc.enable()


def every_op_of_one_tensor():
    """Names of elementwise ops and of reductions that one tensor of floats is enough for."""
    maps, folds = [], []
    for row in lt._lathe._definitions():
        needed = [p for p in row["params"] if p["default"] is None]
        one = len(needed) == 1 and needed[0]["name"] == "input" and len(row["results"]) == 1
        if one and "float32" in row["dtypes"]:
            names = [p["name"] for p in row["params"]]
            if row["kind"] == "elementwise" and row["name"] not in (
                "cast",
                "bitwise_not",
                "imag_part",
            ):
                maps.append(row["name"])
            elif row["kind"] == "reduce" and "keepdim" in names:
                folds.append(row["name"])
    return maps, folds


@shows("EA-13", "0 to 8 axes through every elementwise op of one operand and every reduction")
def test_ea_13_every_rank():
    maps, folds = every_op_of_one_tensor()
    assert len(maps) > 30 and {"sum", "amax", "prod"} <= {*folds}
    for rank in range(9):
        shape = (2,) * rank
        a = np.linspace(0.25, 0.75, 2**rank, dtype=np.float32).reshape(shape)
        x, flat = lt.from_numpy(a), lt.from_numpy(a.reshape(-1))
        np.testing.assert_array_equal((x * 2 + x).numpy(), a * 2 + a)
        for name in maps:
            op = getattr(lt.ops, name)
            assert op(x).shape == shape and bits(op(x)) == bits(op(flat)), name
        for name in folds:
            op = getattr(lt.ops, name)
            assert op(x).shape == (), name
            np.testing.assert_array_equal(op(x).numpy(), op(flat).numpy(), name)
            for axis in range(rank):
                rows = lt.from_numpy(np.moveaxis(a, axis, -1).reshape(-1, 2).copy())
                assert op(x, axis).shape == shape[1:], name
                assert bits(op(x, axis)) == bits(op(rows, 1)), (name, axis)


@shows(
    "EA-14",
    "the sigmoid written out is one kernel when compiled, with one load and one store an element "
    "(`explain()` counts them), without overflow at +-100",
)
def test_ea_14_sigmoid():
    def sigmoid(x):
        return 1 / (1 + (-x).exp())

    x = lt.tensor([-100.0, -1.0, 0.0, 2.0, 100.0])
    traced = lt.trace(sigmoid)
    lt.set_flag("engine", "llvm")
    try:
        y = traced(x)
        explained = traced.explain(verbose=True)
    finally:
        lt.set_flag("engine", "auto")
    assert explained.count("generated (defined): chosen") == 1
    assert re.search(r"an element: 1 loads, about \d+ operations, 1 stores", explained)
    assert y.numpy().tobytes() == sigmoid(x).numpy().tobytes()
    assert traced.counts["generated_runs"] == 1
    assert np.isfinite(y.numpy()).all() and y.tolist()[0] < 1e-40 and y.tolist()[-1] == 1


TreeLSTM = tree_lstm.cells(lt)["nested"]


@shows(
    "EA-15",
    "the TreeLSTM cell, in both readings: values and all gradients equal PyTorch's (float64 to "
    "1e-12, float32 to 1e-6); the alias accumulates, `fc_sum` stays 0, and it trains; a write to a "
    "value saved for backward raises with both lines",
)
def test_ea_15_tree_lstm():
    kept = json.loads(tree_lstm.KEPT.read_text())
    for reading, dtype in itertools.product(tree_lstm.READINGS, tree_lstm.DTYPES):
        theirs = kept[f"{reading} {dtype}"]
        mine = tree_lstm.measured(lt, reading, dtype)
        assert mine.keys() == theirs.keys() and len(mine) > 90
        tolerance = {"float64": 1e-12, "float32": 1e-6}[dtype]
        for name, numbers in theirs.items():
            if numbers is None:
                assert mine[name] is None, name
            else:
                close = {"rtol": tolerance, "atol": tolerance, "err_msg": f"{reading} {name}"}
                np.testing.assert_allclose(mine[name], numbers, **close)
        # What is added to fc_sum is lost: the result does not depend on the forget gates.
        assert mine["out by wf_net.weight"] is None and mine["out by uf_nets.2.0.weight"] is None
        # f is f_base: whatever was added to it is in there.
        assert mine["f_base by wf_net.weight"] and mine["f_base by uf_nets.2.0.weight"]

    lt.manual_seed(1)
    cell = TreeLSTM(4, 5, 3)
    inputs, children = lt.randn(2, 4), [lt.randn(2, 10) for _ in range(3)]
    optimizer = lt.optim.SGD(cell.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        loss = (cell(inputs, children) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]

    loss = cell(inputs, children).sum()
    children[1].mul_(2)  # the weights' gradients need it as it was
    written = rf"test_eager\.py:{inspect.currentframe().f_lineno - 1}\b"
    saved = r"tree_lstm\.py:\d+"
    with pytest.raises(lt.AutogradError, match=rf"saved at .*{saved}.*written at .*{written}") as e:
        loss.backward()
    line = int(re.search(r"tree_lstm\.py:(\d+)", str(e.value))[1])
    assert "_nets[k](child_h))" in Path(tree_lstm.__file__).read_text().splitlines()[line - 1]


@shows("EA-16", "`.data`, `.new(size)`, `fill_` and `Variable` as the seed writes them")
def test_ea_16_old_names():
    inputs = torch.ones(2, 3, dtype=lt.float64, requires_grad=True)
    fc_sum = lt.autograd.Variable(inputs.data.new(4).fill_(0))
    assert fc_sum.tolist() == [0] * 4 and fc_sum.dtype == lt.float64 and not fc_sum.requires_grad
    assert inputs.data.new([1, 2]).tolist() == [1, 2]
    assert inputs.data.new(2, 2).fill_(3).tolist() == [[3, 3], [3, 3]]
    inputs.data[0, 0] = 5
    assert inputs[0, 0].item() == 5, "data shares the memory"
    x = lt.ones(2)
    v = lt.autograd.Variable(x)
    assert v is not x and v.data_ptr() == x.data_ptr(), "a tensor of its own, without a history"
    assert not lt.autograd.Variable(inputs * 2).requires_grad
    assert lt.autograd.Variable(x, requires_grad=True).requires_grad


@shows(
    "EA-17",
    "`chunk`, `cat`, `unsqueeze`, `view`, `repeat`, `clamp`, `floor`, `long`, `arange`; `chunk` "
    "and `view` alias",
)
def test_ea_17_names():
    x = lt.arange(6).float().view(2, 3)
    a, b = torch.chunk(x, 2, dim=0)
    a.add_(10)
    assert x.tolist() == [[10, 11, 12], [3, 4, 5]] and b.tolist() == [[3, 4, 5]]
    x.view(-1)[0] = 7
    assert x[0, 0].item() == 7
    assert torch.cat([a, b], 1).shape == (1, 6) and x.unsqueeze(0).shape == (1, 2, 3)
    assert torch.clamp(lt.tensor([-1.0, 3.0]), min=0).tolist() == [0, 3]
    assert torch.floor(lt.tensor([1.5])).long().tolist() == [1]
    assert torch.arange(0, 4).tolist() == [0, 1, 2, 3]
    row = np.arange(3, dtype=np.float32)
    for counts in ((2, 3), (1, 1), (0, 2), (4, 1, 2)):
        tiled = lt.from_numpy(row.reshape(1, 3)).repeat(*counts)
        np.testing.assert_array_equal(tiled.numpy(), np.tile(row.reshape(1, 3), counts))
    w = lt.ones(2, requires_grad=True)
    (w.repeat(3, 2) * lt.arange(12).view(3, 4)).sum().backward()
    assert w.grad.tolist() == [30, 36]
    with pytest.raises(lt.ValueError, match="a count of 0 or more"):
        lt.ones(2, 2).repeat(3)


@shows(
    "EA-18",
    "advanced indexing with five broadcast index tensors: values, and gradients that add "
    "up duplicates in a fixed order",
)
def test_ea_18_advanced_indexing():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2, 3, 4, 5, 6)).astype(np.float32)
    shapes = [(2, 1, 1, 1), (1, 3, 1, 1), (2, 1, 7, 8), (1, 1, 7, 8), (1, 1, 7, 8)]
    at = [rng.integers(0, n, s) for n, s in zip(data.shape, shapes)]
    grid = lt.tensor(data, requires_grad=True)
    picked = grid[tuple(lt.from_numpy(i) for i in at)]
    np.testing.assert_array_equal(picked.detach().numpy(), data[tuple(at)])
    cotangent = rng.standard_normal(picked.shape).astype(np.float32)
    grads = []
    for _ in range(2):
        grid.grad = None
        grid[tuple(lt.from_numpy(i) for i in at)].backward(lt.from_numpy(cotangent))
        grads.append(grid.grad.numpy().copy())
    want = np.zeros_like(data, dtype=np.float64)
    np.add.at(want, tuple(at), cotangent)
    np.testing.assert_allclose(grads[0], want, rtol=1e-5, atol=1e-5)
    assert grads[0].tobytes() == grads[1].tobytes()


@shows(
    "EA-21",
    "partly: NumPy-like ops on two devices, `cpu` and `sim`; `cuda` is refused by name. Not: a GPU",
)
def test_ea_21_devices():
    def f(x, w):
        return lt.softmax(lt.tanh(x @ w) + x.sum(1, keepdim=True), -1)

    x, w = lt.randn(4, 5), lt.randn(5, 6)
    away = f(x.to("sim"), w.to("sim"))
    assert str(away.device) == "sim" and same(away.cpu(), f(x, w))
    with pytest.raises(lt.DeviceError, match="cuda"):
        x.to("cuda")
    with pytest.raises(lt.DeviceError):
        x.to("sim") + x


PYTORCH = """
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.output = nn.Linear(8, 3)

    def forward(self, x):
        return self.output(F.relu(self.hidden(x)))
"""
CHAINER = """
import chainer
import chainer.functions as F
import chainer.links as L


class Net(chainer.ChainList):
    def __init__(self):
        super().__init__(L.Linear(4, 8), L.Linear(8, 3))

    def forward(self, x):
        return self[1](F.relu(self[0](x)))
"""
GLUON = """
from mxnet import gluon, npx
from mxnet.gluon import nn


class Net(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = nn.Dense(8)
        self.output = nn.Dense(3)

    def forward(self, x):
        return self.output(npx.relu(self.hidden(x)))
"""
STYLES = {  # (the program, its lines with imports, its names of classes)
    "PyTorch": (
        PYTORCH,
        {
            "import torch.nn as nn": "import lathe.nn as nn",
            "import torch.nn.functional as F": "import lathe.nn.functional as F",
        },
        {},
    ),
    "Chainer": (
        CHAINER,
        {
            "import chainer": "import lathe.nn as nn",
            "import chainer.functions as F": "import lathe.nn.functional as F",
            "import chainer.links as L": "import lathe.nn as L",
        },
        {"chainer.ChainList": "nn.Sequential"},
    ),
    "Gluon": (
        GLUON,
        {
            "from mxnet import gluon, npx": "import lathe.nn.functional as npx",
            "from mxnet.gluon import nn": "import lathe.nn as nn",
        },
        {"gluon.Block": "nn.Module", "nn.Dense": "nn.LazyLinear"},
    ),
}


def ported(program, imports, classes):
    lines = [imports.get(line, line) for line in program.splitlines()]
    text = "\n".join(lines)
    for theirs, ours in classes.items():
        text = re.sub(rf"(?<![\w.]){re.escape(theirs)}(?![\w.])", ours, text)
    return text


def but_imports_and_classes(program, classes):
    """The program's syntax tree without its imports; these names of classes look alike."""

    class Rest(ast.NodeTransformer):
        def visit(self, node):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                return None
            is_class = isinstance(node, ast.Attribute) and ast.unparse(node) in classes
            return ast.Name("a class") if is_class else self.generic_visit(node)

    return ast.dump(Rest().visit(ast.parse(program)))


def ready(net, weights, x):
    """The net in float64 with these weights; the input tells a layer of Gluon its width."""
    net.double()(x)
    parameters = list(net.parameters())
    assert [p.shape for p in parameters] == [w.shape for w in weights]
    with lt.no_grad():
        for p, w in zip(parameters, weights):
            p.copy_(lt.from_numpy(w))
    return net


def trained(net, x, target):
    """What a step of training computes: result, loss, gradients, new parameters, new loss."""
    parameters = list(net.parameters())
    optimizer = lt.optim.SGD(parameters, lr=0.05)
    out = net(x)
    loss = ((out - target) ** 2).mean()
    loss.backward()
    grads = [t.grad for t in (x, *parameters)]
    optimizer.step()
    after = ((net(x) - target) ** 2).mean()
    assert after.item() < loss.item()
    return [out, loss, *grads, *parameters, after]


@shows(
    "EA-22",
    "a model in the style of PyTorch, of Chainer (a `ChainList`) and of Gluon runs here once its "
    "imports and its names of classes are changed, and nothing else: equal results, gradients and "
    "training",
)
def test_ea_22_three_styles():
    rng = np.random.default_rng(22)
    weights = [rng.standard_normal(shape) / 2 for shape in ((8, 4), (8,), (3, 8), (3,))]
    a, target = (rng.standard_normal((16, n)) for n in (4, 3))
    results = []
    for program, imports, classes in STYLES.values():
        here, space = ported(program, imports, classes), {}
        assert not re.search("torch|chainer|mxnet|gluon", here), "something of theirs is left"
        exec(here, space)
        assert all(re.fullmatch(r"\w+\.[A-Z]\w+", name) for name in classes), "no class of theirs"
        assert all(isinstance(eval(name, space), type) for name in classes.values())
        rest = but_imports_and_classes(program, classes)
        assert but_imports_and_classes(here, classes.values()) == rest
        x = lt.tensor(a, requires_grad=True)
        results.append(trained(ready(space["Net"](), weights, x), x, lt.from_numpy(target)))
    for others in zip(*results):
        assert len({bits(t.detach()) for t in others}) == 1
    w, b, v, c = weights
    want = np.maximum(a @ w.T + b, 0) @ v.T + c
    np.testing.assert_allclose(results[0][0].tolist(), want, rtol=1e-12, atol=1e-12)


@shows(
    "EA-25",
    "an eager tensor goes into a compiled function without a copy: what comes out as a view of it "
    "lies at the same address, and a write inside is seen outside",
)
def test_ea_25_one_tensor():
    x = lt.ones(3)

    @lt.trace
    def f(x):
        x.add_(1)
        return x.sum(), x.view(3, 1)

    for calls in (1, 2, 3):
        where = x.data_ptr()
        total, view = f(x)
        assert total.item() == 3 + 3 * calls and x.tolist() == [1 + calls] * 3
        assert view.data_ptr() == x.data_ptr() == where
        assert type(total) is type(view) is lt.Tensor
