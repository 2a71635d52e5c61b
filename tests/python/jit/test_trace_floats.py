"""Floats that a traced function reads: constants at first, inputs from the first change on."""

import dataclasses
import math
import subprocess
import sys
import types

import numpy as np
import pytest

import lathe as lt
from lathe import nn, optim


def same(a, b):
    return a.numpy().tobytes() == b.numpy().tobytes()


X = lt.tensor([[0.5, -1.25, 3.0], [0.1, 2.0, -0.7]])
VALUES = [0.3, 0.1, -2.5, 0.0, -0.0, 1.0, 1e-40, 1e30, 7.25]


def check(function, change, values=VALUES, traces=2):
    """change(v), then function(X): traced at most `traces` times, with eager's bits."""
    traced = lt.trace(function)
    for v in values:
        change(v)
        expected = function(X)
        assert same(traced(X), expected), v
        assert same(traced(X), expected), v  # and by the witness, if there is one
    assert traced.counts["traces"] == traces, traced.counts
    return traced


# ── where floats are found ──────────────────────────────────────────────────────────────────────

SCALE = 1.0


def by_global(x):
    return x * SCALE + 1


def test_a_global():
    def change(v):
        global SCALE
        SCALE = v

    check(by_global, change)


def test_a_closure_cell():
    scale = 1.0

    def change(v):
        nonlocal scale
        scale = v

    check(lambda x: x / (scale + 20.0), change)


def test_an_attribute_and_a_module():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 1.0

        def forward(self, x):
            return x * self.scale - self.scale

    m = Scaled()
    check(m, lambda v: setattr(m, "scale", v))
    space = types.SimpleNamespace(scale=1.0)
    check(lambda x: x * space.scale, lambda v: setattr(space, "scale", v))


def test_an_attribute_of_a_class_and_a_slot():
    class Settings:
        scale = 1.0

    class Slotted:
        __slots__ = ("scale",)

    slotted = Slotted()
    check(lambda x: x * Settings.scale, lambda v: setattr(Settings, "scale", v))
    slotted.scale = 1.0
    check(lambda x: x * slotted.scale, lambda v: setattr(slotted, "scale", v))


def test_items_of_dicts_and_lists():
    settings, several = {"scale": 1.0, "eps": 1e-5}, [1.0, 2.0]

    def change(v):
        settings["scale"] = v
        several[1] = v

    check(lambda x: x * settings["scale"] + several[1] / settings["eps"], change)


@dataclasses.dataclass
class Pair:
    x: object
    scale: float


@pytest.mark.parametrize("how", ["positional", "named", "list", "tuple", "dict", "record"])
def test_arguments(how):
    def function(x, scale):
        if isinstance(scale, (list, tuple)):
            scale = scale[0]
        if isinstance(scale, dict):
            scale = scale["scale"]
        if isinstance(scale, Pair):
            scale = scale.scale
        return x * scale + (1 - scale)

    traced = lt.trace(function)
    wrap = {
        "positional": lambda v: v, "named": lambda v: v, "list": lambda v: [v],
        "tuple": lambda v: (v, 1), "dict": lambda v: {"scale": v}, "record": lambda v: Pair(X, v),
    }[how]  # fmt: skip
    for v in VALUES:
        expected = function(X, wrap(v))
        for _ in range(2):
            got = traced(X, scale=wrap(v)) if how == "named" else traced(X, wrap(v))
            assert same(got, expected)
    assert traced.counts["traces"] == 2


def test_numbers_of_numpy():
    settings = {"scale": np.float64(0.5)}
    check(lambda x: x * settings["scale"], lambda v: settings.update(scale=np.float64(v)))


def test_a_tensor_of_a_number_of_numpy():
    settings = {}
    f = lt.trace(lambda x: x + lt.tensor(2 * settings["scale"] + 1).expand(2))
    for kind, dtype in ((float, lt.float32), (np.float64, lt.float64)):
        for v in VALUES:
            settings["scale"] = kind(v)
            expected = lt.ones(2) + lt.tensor(2 * kind(v) + 1).expand(2)
            assert expected.dtype is dtype and same(f(lt.ones(2)), expected)
    assert f.counts["traces"] <= 4


@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_a_tensor_of_numbers_that_only_a_run_knows(way):
    settings = {}

    def f(x):
        share = settings["share"]
        w = x.clone().requires_grad_()
        return (
            lt.tensor([share, 1 - share]) * x,
            lt.tensor([[w.sum(), 1], [2.5, x[0]]]),
            lt.tensor((x.argmax(), 3), dtype=lt.int32),
            lt.as_tensor([w.mean(), share], dtype=lt.float64),
        )

    run = way(f)
    for v in VALUES:
        settings["share"] = v
        x = lt.tensor([1.0 + v, 2.0])
        for made, expected in zip(run(x), f(x)):
            assert made.dtype is expected.dtype and not made.requires_grad
            assert same(made, expected)
    assert run.counts["traces"] <= 2


def test_a_tuple_that_is_found_twice():
    holder = {}
    f = lt.trace(lambda x, pair: x * pair[0] + holder["pair"][0])
    for v in VALUES:
        holder["pair"] = (v, 1)
        expected = X * v + v
        for _ in range(2):
            assert same(f(X, holder["pair"]), expected)
    for v in VALUES:  # another one, beside that of the last call
        assert same(f(X, (v, 1)), X * v + VALUES[-1])


def test_several_floats_cost_one_trace_for_each_first_change():
    s = {"a": 1.0, "b": 1.0}
    f = lt.trace(lambda x: x * s["a"] + s["b"])
    for a, b in [(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (3.0, 4.0), (5.0, 6.0)]:
        s.update(a=a, b=b)
        assert same(f(X), X * a + b)
    assert f.counts["traces"] == 3


def test_what_is_left_as_it_was():
    settings = {"scale": 1.0}
    cell = 2.0
    f = lt.trace(lambda x: x * settings["scale"] * cell)
    for v in (1.0, 2.0, 3.0):
        settings["scale"] = cell = v
        f(X)
        assert type(settings["scale"]) is float and settings["scale"] == v
        assert type(cell) is float and cell == v


# ── what may be done with one ───────────────────────────────────────────────────────────────────

OPERATIONS = {
    "add": lambda r: r + 2, "radd": lambda r: 2 + r, "sub": lambda r: r - 0.1,
    "rsub": lambda r: 0.1 - r, "mul": lambda r: r * 3, "rmul": lambda r: 3 * r,
    "div": lambda r: r / 7, "rdiv": lambda r: 7 / r, "neg": lambda r: -r, "pos": lambda r: +r,
    "abs": lambda r: abs(r), "whole": lambda r: (1 - r * 0.01) / (r * r + True),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_is_symbolic_and_pythons(name):
    operation, s = OPERATIONS[name], {"r": 1.0}
    f = lt.trace(lambda x: (x * operation(s["r"]), operation(s["r"])))
    for r in [1.0, 0.1, -3.7, 1e-310, 1e300, 0.3]:
        s["r"] = r
        tensor, number = f(X)
        assert type(number) is float
        assert number.hex() == operation(r).hex()
        assert same(tensor, X * operation(r))
    assert f.counts["traces"] == 2


GUARDED = {
    "pow": lambda r: r**2, "rpow": lambda r: 2**r, "sqrt": lambda r: math.sqrt(abs(r)),
    "float": lambda r: float(r), "int": lambda r: int(r), "text": lambda r: len(f"{r:.3f}"),
    "str": lambda r: len(str(r)), "round": lambda r: round(r, 1), "floordiv": lambda r: r // 0.3,
    "mod": lambda r: r % 0.7, "divmod": lambda r: divmod(r, 2.0)[0],
    "key": lambda r: {1.0: 3}.get(r, 4),
    "method": lambda r: r.is_integer(), "hex": lambda r: len(r.hex()),
    "exp": lambda r: math.exp(r),
}  # fmt: skip


@pytest.mark.parametrize("name", GUARDED)
def test_other_uses_guard_the_value(name):
    operation, s = GUARDED[name], {"r": 1.0}
    f = lt.trace(lambda x: x * operation(s["r"]))
    for r in [1.0, 0.5, 2.25, 0.5, 1.0, 2.25]:
        s["r"] = r
        assert same(f(X), X * operation(r))
    assert f.counts["traces"] == 4  # by value, then as an input whose value is asked for


def test_a_guard_of_a_value_names_the_line():
    s = {"r": 1.0}
    f = lt.trace(lambda x: x * s["r"] ** 2)
    for r in (1.0, 2.0, 3.0):
        s["r"] = r
        f(X)
    assert "test_trace_floats.py" in f.explain(verbose=True)
    assert "is 3.0" in f.explain(verbose=True), f.explain(verbose=True)


def test_a_comparison_is_a_guard():
    s = {"r": 1.0}

    def function(x):
        if s["r"] > 0.5:
            return x * s["r"]
        return x + s["r"]

    f = check(function, lambda v: s.update(r=v), [1.0, 0.75, 0.9, 0.1, 0.2, 3.0, -1.0, 0.5], 3)
    assert f.counts["programs"] == 2


def test_it_is_a_float_without_being_one():
    s = {"r": 1.0}

    def asks(x):
        return x * (s["r"] if isinstance(s["r"], float) and not isinstance(s["r"], int) else 9.0)

    check(asks, lambda v: s.update(r=v))
    assert not issubclass(lt._lathe.SymFloat, float)


def test_division_by_zero_is_pythons():
    s = {"r": 1.0}
    f = lt.trace(lambda x: x * (1 / s["r"]))
    for r in (1.0, 2.0):
        s["r"] = r
        f(X)
    s["r"] = 0.0
    with pytest.raises(ZeroDivisionError):
        f(X)
    s["r"] = 4.0
    assert same(f(X), X * 0.25)


def test_beside_other_numbers():
    s, two = {"r": 1.0}, np.float64(2)
    operations = [
        lambda x: x * (s["r"] * x.shape[0]) + x.shape[1] / s["r"] - s["r"] / x.shape[0],
        lambda x: x * (x.shape[0] - s["r"]) if x.shape[0] > s["r"] else x,
        lambda x: x * (s["r"] < x.shape[0]),
        lambda x: s["r"] < x,
        lambda x: x * (s["r"] * two) + two * s["r"],
        lambda x: lt.full((2,), s["r"]),
        lambda x: lt.tensor(s["r"]) * x,
        lambda x: lt.where(x > s["r"], x, s["r"]),
        lambda x: x.clamp(-s["r"] * s["r"], s["r"] * s["r"]),
        lambda x: x.masked_fill(x > 0, s["r"]),
        lambda x: max(s["r"], 0.5) * x,
        lambda x: x.half() * s["r"],
        lambda x: x.double() + s["r"],
    ]
    for operation in operations:
        f = lt.trace(operation)
        for r in (1.0, 0.1, 0.7):
            s["r"] = r
            assert same(f(X), operation(X))


def test_shapes_that_a_float_decides():
    s = {"step": 0.5}
    f = lt.trace(lambda x: lt.arange(0.0, 2.0, s["step"]))
    for step in (0.5, 0.25, 0.3):
        s["step"] = step
        assert same(f(X), lt.arange(0.0, 2.0, step))


def test_one_that_is_kept_is_a_float():
    s, kept = {"r": 1.0}, []
    f = lt.trace(lambda x: kept.append(s["r"] * 2) or x * s["r"])
    for r in (1.0, 2.0, 3.0):
        s["r"] = r
        assert same(f(X), X * r)
    assert kept == [2.0, 4.0, 6.0] and [type(k) for k in kept] == [float] * 3
    assert s["r"] == 3.0


def test_a_setting_that_the_traced_code_changes():
    s = {"r": 1.0}

    def function(x):
        s["r"] = s["r"] * 0.5
        return x * s["r"]

    f = lt.trace(function)
    for r in (1.0, 0.5, 0.25, 0.125):
        assert s["r"] == r
        assert same(f(X), X * (r * 0.5))
    assert f.counts["traces"] == 1


def test_in_a_script():
    s = {"r": 1.0}

    @lt.script
    def f(x):
        y = x * s["r"]
        while y.sum() > s["r"]:
            y = y - s["r"] * 2
        if y.mean() > 0:
            return y * s["r"]
        return y + s["r"]

    def eager(x):
        y = x * s["r"]
        while y.sum() > s["r"]:
            y = y - s["r"] * 2
        return y * s["r"] if y.mean() > 0 else y + s["r"]

    for r in (1.0, 0.25, 0.7, 0.3):
        s["r"] = r
        assert same(f(X), eager(X))
    assert f.counts["traces"] == 2


def test_save_makes_constants(tmp_path):
    class Scaled(nn.Module):
        scale = 0.5

        def forward(self, x):
            return x * self.scale

    m = Scaled()
    lt.save(m, tmp_path / "m.lathe", X)
    m.scale = 2.0
    assert same(lt.load(tmp_path / "m.lathe")(X), X * 0.5)


# ── training ────────────────────────────────────────────────────────────────────────────────────


def training(traced, steps, cosine=True, kind=optim.Adam, change=True):
    lt.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 2))
    opt = kind(model.parameters(), lr=0.05, weight_decay=0.01)
    anneal = {"temperature": 2.0}
    x, y = lt.randn(16, 3), lt.randint(0, 2, (16,))

    def step(x, y):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x) / anneal["temperature"], y)
        loss.backward()
        opt.step()
        return loss

    run = lt.trace(step) if traced else step
    losses = []
    for i in range(steps):
        if cosine:
            for group in opt.param_groups:
                group["lr"] = 0.025 * (1 + math.cos(math.pi * i / steps))
            if change:
                anneal["temperature"] = 0.5 + 1.5 * 0.99**i
            if i == 7 and change:
                opt.param_groups[0]["weight_decay"] = 0.02
        losses.append(run(x, y).item().hex())
    return losses, run


@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW])
def test_a_schedule_costs_no_trace(kind):
    steps = 60
    expected, _ = training(False, steps, kind=kind)
    losses, run = training(True, steps, kind=kind)
    traces, equal = run.counts["traces"], sum(map(str.__eq__, losses, expected))
    print(f"\n{kind.__name__}: {traces} traces, {equal} of {len(expected)} losses equal")
    assert losses == expected and len(losses) == steps
    assert traces <= 3, run.counts
    assert run.counts["node_by_node"] == 0


@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW, optim.NAdam, optim.RAdam, optim.Adamax])
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64])
def test_a_schedule_of_the_momentum_costs_no_trace(kind, dtype):
    def run(traced):
        weight = nn.Parameter(lt.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3))
        opt = kind([weight], lr=0.05)
        schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=12)

        def step(x):
            opt.zero_grad()
            loss = lt.square(x @ weight).sum()
            loss.backward()
            opt.step()
            return loss

        step = lt.trace(step) if traced else step
        losses = []
        for i in range(12):
            losses.append(step(lt.tensor([[1.0, i / 4]], dtype=dtype)).item().hex())
            if i < 11:
                schedule.step()
        assert opt.param_groups[0]["betas"][0] == pytest.approx(0.95)
        return losses, traced and step.counts

    losses, counts = run(True)
    assert losses == run(False)[0]
    assert counts["traces"] <= 3, counts


def test_a_schedule_makes_no_kernel_after_the_fourth_call():
    _, run = training(True, 4)
    before = run.counts["kernels"]
    losses, run = training(True, 40)
    later = run.counts["kernels"] - before
    print(f"\n{before} kernels in a run of 4 steps, {later} more in one of {len(losses)}")
    assert later == 0 < before


# ── memory ──────────────────────────────────────────────────────────────────────────────────────


def test_programs_that_are_replaced_are_freed():
    s = {"r": 1.0}
    f = lt.trace(lambda x: x * s["r"])
    for r in range(50):
        s["r"] = r / 3
        f(X)
    assert f.counts["programs"] == 1
    assert f.counts["traces"] == 2


def test_states_are_forgotten_oldest_first():
    f = lt.trace(lambda x, text: x + len(text))
    for n in range(200):
        for _ in range(2):  # each serves again
            assert same(f(X, "-" * n), X + n)
    assert f.counts["programs"] <= 128
    assert f.counts["traces"] == 200
    assert same(f(X, ""), X)
    assert f.counts["traces"] == 201


_LONG = """
import math, resource, sys, time
import lathe as lt
from lathe import nn, optim

def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

lt.manual_seed(3)
lt.set_flag("threads", 1)
model = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 2))
opt = optim.Adam(model.parameters(), lr=0.05, weight_decay=0.01)
anneal = {"temperature": 2.0}
x, y = lt.randn(16, 3), lt.randint(0, 2, (16,))

def step(x, y):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x) / anneal["temperature"], y)
    loss.backward()
    opt.step()
    return loss

run = lt.trace(step)

def steps(first, count, changes):
    began = time.thread_time()  # whatever else the machine does
    for i in range(first, first + count):
        if changes:
            opt.param_groups[0]["lr"] = 1e-3 * (1 + math.cos(math.pi * i / 100_000))
            anneal["temperature"] = 0.5 + 1.5 * 0.9999**i
            if i == 20_000:
                opt.param_groups[0]["weight_decay"] = 0.02
        run(x, y)
    return time.thread_time() - began

steps(0, 2000, True)
kernels, before = run.counts["kernels"], rss()
steps(2000, 98_000, True)
grown = rss() - before
changing = constant = math.inf
for i in range(40):
    constant = min(constant, steps(0, 250, False))
    changing = min(changing, steps(0, 250, True))
print(run.counts["traces"], run.counts["kernels"] - kernels, grown, changing / constant)
"""


@pytest.mark.slow
def test_100_000_steps_of_a_schedule():
    done = subprocess.run(
        [sys.executable, "-c", _LONG], capture_output=True, text=True, check=True, timeout=3000
    )
    traces, kernels, grown, ratio = map(float, done.stdout.split())
    print(
        f"100,000 steps: {traces:.0f} traces, {kernels:.0f} kernels after the first 2,000,", end=" "
    )
    print(f"{grown / 1024:.0f} KiB grown, {ratio:.3f} of the time at a constant rate")
    assert traces <= 3
    assert kernels == 0
    assert grown < 1 << 20  # bytes
    assert ratio < 1.1


_DROPPED = """
import resource
import lathe as lt

def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

settings = {"r": 1.0}
by_state = lt.trace(lambda x, n: ((x * (n + 0.5)).tanh() + n).exp())
by_value = lt.trace(lambda x: (x * settings["r"] ** 2).tanh())
x = lt.randn(64, 64)

def calls(first, count):
    for n in range(first, first + count):
        settings["r"] = float(n)
        by_state(x, n)
        by_value(x)

calls(0, 400)
before = rss()
calls(400, 600)
print(rss() - before)
"""


@pytest.mark.slow
def test_programs_that_are_dropped_free_their_memory():
    done = subprocess.run(
        [sys.executable, "-c", _DROPPED], capture_output=True, text=True, check=True, timeout=3000
    )
    assert int(done.stdout) < 4 << 20  # bytes, for 1,200 programs
