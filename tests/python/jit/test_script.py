"""lathe.script: control flow that data decides, equal by bytes to the function undecorated; what
cannot be captured is refused at the user's line."""

import math

import pytest
from networks import SmallCNN
from script_checks import bits, check, f32, same

import lathe as lt
import lathe.nn.functional as F
from lathe import nn, optim


def test_if_on_a_tensor():
    def f(x, y):
        if x.sum() > y.sum():
            r, n = x * 10, 1
        elif x.sum() > 0:
            r, n = y, 2
        else:
            r, n = x - y, 3
        return r, n

    s = check(f, (f32(1), f32(2)), (f32(3), f32(2)), (f32(-3), f32(2)))
    assert s.counts["traces"] == 1
    assert "if %" in s.graph


def test_while_on_data():
    def f(x):
        steps = 0
        while x.sum() < 100:
            x = x * 2
            steps += 1
        return x, steps

    s = check(f, (f32(1, 2),), (f32(101, 0),), (f32(0.5, 0.5),))
    assert s.counts["traces"] == 1
    assert "while (" in s.graph


def test_numbers_of_tensors():
    def f(x, n):
        s = x.max().item()
        for i in range(int(n)):
            x = x * 2 + i
        k = int(n) + 1 if s > 2 else -1
        return x / s, k, s, bool(n)

    s = check(f, (f32(1, 2), lt.tensor(1)), (f32(1, 4), lt.tensor(3)), (f32(5, 4), lt.tensor(0)))
    assert s.counts["traces"] == 1


def test_early_returns():
    def f(x):
        if x.sum() > 10:
            return x * 1, 1
        y = x + 1
        if y.sum() > 5:
            if y.sum() > 8:
                return y * 2, 2
            y = y - 3
        return y, 3

    check(f, (f32(20, 1),), (f32(3, 2),), (f32(5, 2),), (f32(0, 0),))


def test_the_parameters_of_a_module():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))

    def f(x):
        penalty = sum((p * p).sum() for p in net.parameters())
        names = [n for n, _ in net.named_parameters()]
        return (net(x) + penalty).sum() * len(names)

    scripted = lt.script(f)
    for step in range(3):
        x = f32(step, 1)
        grads = []
        for g in (scripted, f):
            net.zero_grad()
            loss = g(x)
            loss.backward()
            grads.append([loss.detach(), *(p.grad.clone() for p in net.parameters())])
        same(*grads)
        if step == 1:
            net[0].weight = nn.Parameter(net[0].weight.detach() * 2)


def test_returns_in_loops():
    def in_while(x):
        while x.sum() < 100:
            x = x * 2 + 1
            if x[0] > 30:
                return {"x": x - 1}, 1
        return {"x": x}, 2

    def in_for(x):
        for i in range(5):
            x = x * 1.5
            if x.sum() > 20:
                return x[:1], i
        return x, -1

    def in_both(x, n):
        k = 0
        for i in range(int(n)):
            while x.sum() < 30 + i:
                x = x + 2
                k += 1
                if k > 5:
                    return x, k
                if k == 3:
                    break
            else_way = x.sum() > 25
            if else_way:
                return x * 3, -k
        return x * 0, 0

    starts = [f32(0.1, 0.2), f32(1, 2), f32(40, 20), f32(-3, 1)]
    for f in (in_while, in_for):
        assert check(f, *[(x,) for x in starts]).counts["traces"] == 1
    calls = [(x, lt.tensor(n)) for x in starts for n in (0, 1, 4)]
    assert check(in_both, *calls).counts["traces"] == 1


def test_returns_of_two_kinds_in_a_loop_are_refused():
    def f(x):
        while x.sum() < 100:
            x = x * 2 + 1
            if x[0] > 30:
                return x
        return x, 1

    with pytest.raises(lt.ScriptError, match="another kind of thing"):
        lt.script(f)(f32(1, 2))


def test_break_and_continue():
    def f(x):
        s = x * 0
        for _ in range(6):
            x = x * 1.5
            if x.sum() > 50:
                break
            if x.sum() < 3:
                continue
            s = s + x
        return s, x

    check(f, (f32(0.1, 0.2),), (f32(40, 20),), (f32(1, 1),))

    def g(x):
        n = 0
        while True:
            n = n + 1
            x = x * 2
            if x.sum() > 50 or n > 20:
                break
        return x, n

    check(g, (f32(1),), (f32(0),), (f32(60),))


def test_booleans_and_comparisons():
    def f(x, n: int):
        k = n or 7
        if n < 2 and x[n] > 0:
            k += 10
        if 0 < x.sum() < 5 and x.sum() != 3:
            k += 100
        return k, 3 in x, max(x[0], x[1])

    check(f, (f32(1, 1), 0), (f32(1, 1), 5), (f32(-1, -1), 1), (f32(3, 4), 1))


def test_writes_inside_branches_and_loops():
    def f(x, y):
        if x.sum() > 0:
            x.add_(y)
            x[0] = 5.0
        else:
            y.mul_(2)
        while y.sum() < 10:
            y += 1
        return x * y

    check(f, (f32(1, 2), f32(1, 1)), (f32(-1, -2), f32(3, 4)))


def test_functions_methods_and_modules_are_read_too():
    def clip(x, top):
        if x.max() > top:
            return x * (top / x.max())
        return x * 1

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.top = 0.5

        def forward(self, x):
            x = self.inner(x)
            return clip(x, self.top) if x.sum() > 1 else x + 1

    gate = Gate().requires_grad_(False)
    s = check(gate, (lt.randn(2, 3),), (lt.randn(2, 3) * 10,), (-lt.ones(2, 3),))
    assert s.counts["traces"] == 1
    gate.top = 0.1
    same(s(lt.ones(2, 3) * 9), gate(lt.ones(2, 3) * 9))


def train(wrap):
    lt.manual_seed(0)
    net = SmallCNN()
    opt = optim.Adam(net.parameters(), lr=1e-2)

    def step(images, labels, parts: int):
        opt.zero_grad()
        total = lt.zeros(())
        size = images.shape[0] // parts
        for i in range(parts):
            x, y = images[i * size : (i + 1) * size], labels[i * size : (i + 1) * size]
            loss = F.cross_entropy(net(x), y) / parts
            loss.backward()
            total = total + loss.detach()
        taken = False
        if total.isfinite():
            opt.step()
            taken = True
        return total, taken

    step = wrap(step)
    seen = []
    for k in range(6):
        x, y = lt.randn(16, 1, 8, 8), lt.randint(0, 10, (16,))
        if k == 3:
            x = x * math.inf
        total, taken = step(x, y, 4)
        seen.append((bits(total), taken))
    return seen, [bits(t) for t in net.state_dict().values()]


def test_a_training_step_that_skips_bad_losses_over_micro_batches():
    eager, scripted = train(lambda f: f), train(lt.script)
    assert [taken for _, taken in eager[0]] == [True, True, True, False, True, True]
    assert eager == scripted


def test_state_that_is_read_is_guarded():
    class Config:
        scale = 2.0

    config = Config()

    def f(x):
        return x * config.scale if x.sum() > 0 else x

    s = lt.script(f)
    same(s(f32(1)), f32(2))
    config.scale = 3.0
    same(s(f32(1)), f32(3))


def test_a_choice_between_tensors_does_not_hide_a_write():
    def f(x, y):
        r = x if x.sum() > 0 else y
        r.add_(1)
        return r

    def g(x, y):
        r = x if x.sum() > 0 else y
        x.add_(1)
        return r * 2

    check(f, (f32(1), f32(2)), (f32(-1), f32(2)))
    with pytest.raises(lt.TraceError, match=r"test_script\.py"):
        lt.script(g)(f32(1), f32(2))


def line_of(function):
    return function.__code__.co_firstlineno


def grows(x):
    seen = {}
    if x.sum() > 0:  # here
        seen["x"] = x
    return len(seen)


def changes_kind(x):
    if x.sum() > 0:  # here
        y = 1
    else:
        y = x
    return y


def half_defined(x):
    if x.sum() > 0:
        y = x
    return y  # here


def formats(x):
    return len(f"{float(x.sum()):.1f}")  # here


def imports(x):
    import math  # here

    return x * math.pi


def loops_on_kinds(x):
    o, p = 0, x
    while x.sum() < 10:  # here
        o, p = p, o
        x = x + 1
    return o


@pytest.mark.parametrize(
    "function",
    [grows, changes_kind, half_defined, formats, loops_on_kinds],
)
def test_refusals_name_the_line(function):
    with open(__file__) as file:
        lines = file.read().split("\n")
    first = line_of(function)
    near = [i for i in range(first, first + 8) if "# here" in lines[i - 1]]
    with pytest.raises((lt.ScriptError, lt.TraceError)) as caught:
        lt.script(function)(f32(1, 2))
    found = [i for i in near + [first + 1] if f"test_script.py:{i}" in str(caught.value)]
    assert found, str(caught.value)


def test_what_has_no_source_is_refused_at_once():
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(lt.ScriptError, match=r"test_script\.py"):
        lt.script(names["f"])


def test_a_detached_tensor_in_branches_and_loops():
    def branch(a):
        t = a.detach()
        if a.sum() > 0:
            a.mul_(2)
        return t * 1, a * 1

    def loop(a):
        t = a.detach()
        n = lt.tensor(0)
        while n < 3:
            a.add_(t * 0.5)
            n = n + 1
        return t * 1, a * 1

    for f in (branch, loop):
        scripted = lt.script(f)
        for sign in (1, -1):
            x, y = lt.arange(4).float() * sign, lt.arange(4).float() * sign
            try:
                got = scripted(x)
            except lt.ScriptError as e:
                assert "test_script.py" in str(e)
                raise
            for a, b in zip(got, f(y)):
                assert bits(a) == bits(b), f.__name__
            assert bits(x) == bits(y)


def test_what_is_detached_of_a_choice_is_not_read_after_a_write():
    def f(a, b):
        if a.sum() > 0:
            u = a
        else:
            u = b
        t = u.detach()
        a.add_(1)
        return t * 1

    with pytest.raises((lt.TraceError, lt.ScriptError), match="may share was written to"):
        lt.script(f)(lt.ones(2), lt.zeros(2))


def test_views_of_what_a_loop_has_grown():
    def grown(n, x):
        while x.sum() < n:
            x = lt.cat([x, x + 1.0], 1)
        y = x * 2.0
        return y[:, 0] + 1.0, y[:, 0:1][1] + 1.0, y[:, 0:1].t() @ y[:, 0:1]

    scripted, x = lt.script(grown), lt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for n in (10.0, 100.0, 1000.0, 30.0):
        want, got = grown(lt.tensor(n), x), scripted(lt.tensor(n), x)
        assert [t.tolist() for t in got] == [t.tolist() for t in want]
