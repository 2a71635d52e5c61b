"""lathe.trace: equal to the function undecorated, by bytes, or refused with the user's line."""

import random

import pytest

import lathe as lt
import lathe.nn.functional as F
from lathe import nn, optim


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B")) if t.numel() else b""


def test_equals_eager_for_many_shapes_with_one_trace():
    def layer(x, w, b):
        return F.gelu(x @ w + b)

    traced = lt.trace(layer)
    lt.manual_seed(3)
    for m in (4, 1, 0, 7):
        for k in (3, 1, 0):
            for n in (5, 1, 0, 33):
                args = lt.randn(m, k), lt.randn(k, n), lt.randn(n)
                assert bits(traced(*args)) == bits(layer(*args))
    assert traced.counts["traces"] == 1
    assert traced.counts["node_by_node"] == 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(4 * 16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.out(self.drop(x.flatten(1)))


def train(wrap, steps=6):
    lt.manual_seed(0)
    net = Net()
    opt = optim.Adam(net.parameters(), lr=1e-2)

    def step(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    step = wrap(step)
    x, y = lt.randn(16, 1, 8, 8), lt.randint(0, 10, (16,))
    losses = [bits(step(x, y)) for _ in range(steps)]
    return losses, [bits(t) for t in net.state_dict().values()]


def test_a_whole_training_step_gives_the_same_bits():
    assert train(lambda f: f) == train(lt.trace)


def test_a_module_in_another_mode_is_traced_again():
    lt.manual_seed(0)
    net = Net()
    traced = lt.trace(lambda x: net(x))
    x = lt.randn(2, 1, 8, 8)
    with lt.no_grad():
        net.eval()
        assert bits(traced(x)) == bits(net(x))
        net.train()
        lt.manual_seed(5)
        a = bits(traced(x))
        lt.manual_seed(5)
        assert a == bits(net(x))


def test_rebound_globals_and_attributes_are_noticed():
    class Config:
        pass

    config = Config()
    config.scale = 2.0
    config.act = lt.relu
    traced = lt.trace(lambda x: config.act(x) * config.scale)
    x = lt.tensor([-1.0, 1.0])
    assert traced(x).tolist() == [0.0, 2.0]
    config.scale = 3.0
    assert traced(x).tolist() == [0.0, 3.0]
    config.act = lt.neg
    assert traced(x).tolist() == [3.0, -3.0]


def test_in_place_writes_reach_the_caller():
    def bump(x):
        x[0] += 1
        return x * 2

    a, b = lt.zeros(2, 3), lt.zeros(2, 3)
    assert bits(lt.trace(bump)(a)) == bits(bump(b))
    assert bits(a) == bits(b)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / x.max().item(),
        lambda x: x * 2 if x.sum() > 0 else x,
        lambda x: x * float(x.sum()),
        lambda x: x + len(f"{x.sum()}") if bool(x.sum() > 1) else x,
        lambda x: x * random.random(),
    ],
)
def test_what_depends_on_data_or_chance_is_refused_at_the_users_line(function):
    with pytest.raises(lt.TraceError, match=r"test_trace\.py"):
        lt.trace(function)(lt.tensor([1.0, 2.0]))


def test_changing_python_state_is_refused():
    calls = []

    def f(x):
        calls.append(1)
        return x + len(calls)

    with pytest.raises(lt.TraceError, match="changed Python state"):
        lt.trace(f)(lt.zeros(1))


def test_gradients_through_a_traced_call():
    def f(x):
        return (x.sin() * x).sum()

    x = lt.randn(5, requires_grad=True)
    y = x.detach().requires_grad_()
    lt.trace(f)(x).backward()
    f(y).backward()
    assert bits(x.grad) == bits(y.grad)


def test_explain_names_lines_choices_and_reasons():
    traced = lt.trace(lambda x, w: F.relu(x @ w) + 1)
    traced(lt.randn(2, 3), lt.randn(3, 4))
    text = traced.explain()
    assert "test_trace.py" in text and "chosen" in text and "built without CUDA" in text
