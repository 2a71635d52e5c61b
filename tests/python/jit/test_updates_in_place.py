"""Updates of a training step: each writes where its parameter lies, whatever stands in between."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn

OPTIMIZERS = {
    "SGD": lambda p: lt.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: lt.optim.Adam(p, lr=1e-2),
    "AdamW": lambda p: lt.optim.AdamW(p, lr=1e-2, weight_decay=0.1),
    "RMSprop": lambda p: lt.optim.RMSprop(p, lr=1e-2),
}


def trained(name, steps, through):
    """(what a training step is, bytes of every loss, parameter, gradient and state)."""
    lt.manual_seed(3)
    model = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 3))
    optimizer = OPTIMIZERS[name](model.parameters())
    rng = np.random.default_rng(0)
    batches = [lt.tensor(rng.standard_normal((5, 7), dtype=np.float32)) for _ in range(steps)]

    def step(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss, x * 2

    run = through(step)
    seen = []
    for x in batches:
        results = run(x)
        seen += [t.detach().numpy().tobytes() for t in results]
        seen += [p.detach().numpy().tobytes() for p in model.parameters()]
        seen += [p.grad.numpy().tobytes() for p in model.parameters()]
    states = [s for _, s in sorted(optimizer.state_dict()["state"].items())]
    seen += [v.numpy().tobytes() for s in states for v in s.values() if isinstance(v, lt.Tensor)]
    return run, seen


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_bits_of_whole_steps(name):
    assert trained(name, 4, lt.trace)[1] == trained(name, 4, lambda f: f)[1]


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_every_parameter_is_written_where_it_lies(name):
    run, _ = trained(name, 4, lt.trace)
    last = run.explain(verbose=True).rsplit("one node of the tape", 1)[0]
    assert last.count("writes where the input lies that it replaces") >= 4


def test_a_result_of_an_update_has_memory_of_its_own():
    w = lt.ones([6])

    @lt.trace
    def step(x):
        moved = w * 0.5 + x
        w.copy_(moved)
        return moved * 2, moved + 1

    first = step(lt.ones([6]))
    kept = [t.tolist() for t in first]
    step(lt.ones([6]) * 3)
    assert [t.tolist() for t in first] == kept == [[3.0] * 6, [2.5] * 6]
    assert w.tolist() == [3.75] * 6


def test_an_update_that_another_reads_comes_after_it():
    a, b = lt.ones([4]), lt.ones([4]) * 2

    @lt.trace
    def swap(k):
        x = a * k + b
        total = (x * x).sum()
        y = b - a * total
        a.copy_(x)
        b.copy_(y)
        return total

    c, d = a.clone(), b.clone()
    for k in (1.0, 2.0, 3.0):
        x = c * k + d
        total = (x * x).sum()
        y = d - c * total
        c.copy_(x)
        d.copy_(y)
        assert swap(lt.tensor(k)).item() == total.item()
        assert a.tolist() == c.tolist() and b.tolist() == d.tolist()
