"""Rows EA: eager execution and the tape. Programs of the seeds run with `lathe as torch`."""

import gc

import numpy as np
import pytest
from rows import shows

import lathe as lt
from lathe import nn

torch = lt


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


@shows("EA-07", "partly: frozen parameters get no gradient and no update. Not: tape nodes counted")
def test_ea_07_frozen_layers():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    for p in model[0].parameters():
        p.requires_grad_(False)
    before = model[0].weight.clone(), model[1].weight.clone()
    optimizer = lt.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model(lt.ones(4, 2)).sum().backward()
    optimizer.step()
    assert model[0].weight.grad is None and lt.equal(model[0].weight, before[0])
    assert not lt.equal(model[1].weight, before[1])


@shows("EA-08", "partly: memory is flat over 2,000 steps. Not: over 100,000")
def test_ea_08_the_tape_of_a_step_is_freed():
    w = lt.ones(1000, requires_grad=True)

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    for step in range(2000):
        ((w * 2).tanh().sum() * 1.0).backward()
        w.grad = None
        if step == 200:
            before = resident()
    assert resident() - before < 4 << 20


@shows("EA-13", "partly: 0 to 8 axes through arithmetic and reductions. Not: through every op")
def test_ea_13_every_rank():
    for rank in range(9):
        a = np.arange(1, 2 ** min(rank, 8) + 1, dtype=np.float32).reshape((2,) * rank)
        x = lt.from_numpy(a)
        np.testing.assert_array_equal((x * 2 + x).numpy(), a * 2 + a)
        assert x.sum().item() == a.sum() and x.max().item() == a.max()
        for axis in range(rank):
            np.testing.assert_array_equal(x.sum(axis).numpy(), a.sum(axis))


@shows(
    "EA-14",
    "partly: the sigmoid written out is one kernel when compiled, without overflow at "
    "+-100. Not: a count of memory accesses",
)
def test_ea_14_sigmoid():
    def sigmoid(x):
        return 1 / (1 + (-x).exp())

    x = lt.tensor([-100.0, -1.0, 0.0, 2.0, 100.0])
    traced = lt.trace(sigmoid)
    lt.set_flag("engine", "llvm")
    try:
        y = traced(x)
    finally:
        lt.set_flag("engine", "auto")
    assert y.numpy().tobytes() == sigmoid(x).numpy().tobytes()
    assert traced.counts["kernels_generated"] == 1
    assert np.isfinite(y.numpy()).all() and y.tolist()[0] < 1e-40 and y.tolist()[-1] == 1


class TreeLSTM(nn.Module):
    def __init__(self, inputs, memory, children):
        super().__init__()
        self.memory_size = memory
        for gate in "iouf":
            setattr(self, f"w{gate}_net", nn.Linear(inputs, memory))

        def nets():
            return nn.ModuleList([nn.Linear(memory, memory) for _ in range(children)])

        self.ui_nets, self.uo_nets, self.uu_nets = nets(), nets(), nets()
        self.uf_nets = nn.ModuleList([nets() for _ in range(children)])

    def forward(self, inputs, children):
        i = self.wi_net(inputs)
        o = self.wo_net(inputs)
        u = self.wu_net(inputs)
        f_base = self.wf_net(inputs)
        fc_sum = lt.zeros(self.memory_size)
        for k, child in enumerate(children):
            child_h, child_c = torch.chunk(child, 2, dim=1)
            i.add_(self.ui_nets[k](child_h))
            o.add_(self.uo_nets[k](child_h))
            u.add_(self.uu_nets[k](child_h))
            f = f_base
            for l, _ in enumerate(children):  # noqa: E741
                other_child_h, _ = torch.chunk(child, 2, dim=1)
                f.add_(self.uf_nets[k][l](other_child_h))
            fc_sum.add(torch.sigmoid(f) * child_c)
        c = torch.sigmoid(i) * torch.tanh(u) + fc_sum
        h = torch.sigmoid(o) * torch.tanh(c)
        return torch.cat([h, c], dim=1)


@shows(
    "EA-15",
    "partly: the TreeLSTM cell: the alias accumulates, the lost `add` stays lost, and it "
    "trains; a write to a saved value raises with both lines. Not: compared with PyTorch here",
)
def test_ea_15_tree_lstm():
    lt.manual_seed(1)
    cell = TreeLSTM(4, 5, 3)
    inputs, children = lt.randn(2, 4), [lt.randn(2, 10) for _ in range(3)]
    out = cell(inputs, children)
    i, o, u = (
        lt.nn.functional.linear(inputs, n.weight, n.bias)
        for n in (cell.wi_net, cell.wo_net, cell.wu_net)
    )
    for k, child in enumerate(children):
        h = child[:, :5]
        i, o, u = i + cell.ui_nets[k](h), o + cell.uo_nets[k](h), u + cell.uu_nets[k](h)
    c = lt.sigmoid(i) * lt.tanh(u)
    want = lt.cat([lt.sigmoid(o) * lt.tanh(c), c], 1)
    assert (out - want).abs().max().item() < 1e-6
    optimizer = lt.optim.SGD(cell.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        loss = (cell(inputs, children) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    x = lt.ones(2, requires_grad=True) * 1
    y = x * x
    x.add_(1)
    with pytest.raises(
        lt.AutogradError, match=r"saved at .*test_eager.py.*written at .*test_eager.py"
    ):
        y.sum().backward()


@shows(
    "EA-17",
    "partly: `chunk`, `cat`, `unsqueeze`, `view`, `clamp`, `floor`, `long`, `arange`; `chunk` and "
    "`view` alias. Not: `repeat`",
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
    "EA-25",
    "partly: an eager tensor goes into a compiled function without a copy (a write inside "
    "it is seen outside). Not: pointer equality in C++",
)
def test_ea_25_one_tensor():
    x = lt.ones(3)

    @lt.trace
    def f(x):
        x.add_(1)
        return x.sum()

    assert f(x).item() == 6 and x.tolist() == [2, 2, 2]
    assert type(f(x)) is lt.Tensor
