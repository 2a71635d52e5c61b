"""What the outermost function of a script changes in what it was given, where data decides to
return; and objects, numbers and names that calls and rounds take."""

import pytest
from script_checks import check, f32, same

import lathe as lt


class Plain:
    shared = [0]

    def __init__(self):
        self.n, self.inner = 0, {"z": 0}

    def method(self, x):
        if x.sum() > 5:
            return x
        self.n += 1
        self.inner["z"] += 1
        Plain.shared[0] += 1
        return x * 2


class Net(lt.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("k", lt.zeros(1))


def items(s, x):
    if x.sum() > 5:
        return False
    s["n"] += 1
    s["inner"]["t"] = s["inner"]["t"] + x
    return s["n"] > 1


def attributes(s, x):
    if x.sum() > 5:
        s.n += 1
        return True
    s.inner["z"] = s.inner["z"] + 1
    return False


def a_list(s, x):
    if x.sum() > 5:
        return s
    s[0] = s[0] + 1
    return s


def nested(s, x):
    if x.sum() > 5:
        if x.sum() > 9:
            s["n"] += 1
            return 1
        s["inner"]["u"] += 2
        return 2
    return 3


def after_a_loop(s, x):
    for i in range(3):
        if x[0] > i + 3:
            return i
    s["n"] += 1
    return 5


def a_module(s, x):
    if x.sum() > 5:
        return x
    s.calls += 1
    s.k = s.k + 1
    return x * 2


def a_dict():
    return {"n": 0, "inner": {"t": lt.zeros(2), "u": 0}}


@pytest.mark.parametrize(
    "f, make",
    [(items, a_dict), (attributes, Plain), (a_list, lambda: [1, 2]), (nested, a_dict),
     (after_a_loop, a_dict), (a_module, Net)],
)  # fmt: skip
def test_what_is_changed_after_an_early_return_stays_changed(f, make):
    scripted, mine, theirs = lt.script(f), make(), make()
    for values in ((1, 1), (7, 1), (20, 2), (2, 0), (0, 1)):
        same(scripted(mine, f32(*values)), f(theirs, f32(*values)))
        same(mine, theirs)


def test_state_that_methods_closures_and_defaults_hold():
    def make():
        held = {"n": 0}

        def f(x, log=[0, 0]):  # noqa: B006, one for all calls
            if x.sum() > 5:
                return x
            held["n"] += 1
            log[0] += 1
            return x * 2

        f.__defaults__ = ([0, 0],)
        return f, held, Plain()

    (f, mine, my_object), (g, theirs, their_object) = make(), make()
    scripted, method = lt.script(f), lt.script(my_object.method)
    for value in (1.0, 7.0, 2.0, 9.0):
        same(scripted(f32(value)), g(f32(value)))
        before = list(Plain.shared)
        same(method(f32(value)), their_object.method(f32(value)))
        assert Plain.shared[0] - before[0] in (0, 2)
    same([mine, vars(my_object), f.__defaults__], [theirs, vars(their_object), g.__defaults__])


class Stopper:
    def __init__(self):
        self.asked = 0

    def __call__(self, loss, step=1):
        self.asked += step
        return loss > 2


def test_objects_that_are_called():
    def f(stop, x):
        while not stop(x.sum().item(), step=2):
            x = x * 2
        return x, bool(x.sum() > 3 or stop.asked >= 4), bool(x.max() > 1 and stop(1.0))

    scripted, mine, theirs = lt.script(f), Stopper(), Stopper()
    for values in ((1, 0.5), (2, 1.5), (0.25, 0.5)):
        same(scripted(mine, f32(*values)), f(theirs, f32(*values)))
        same(mine, theirs)


def test_whether_tensors_are_equal():
    def f(x, y):
        if lt.equal(x, y):
            x = x + 1
        if x.allclose(y, atol=1.5) and not x.equal(y):
            x = x * 2
        while not lt.allclose(x, x.round(), atol=0.3):
            x = x * 0.7
        return x, lt.equal(x, y)

    check(f, (f32(1, 2), f32(1, 2)), (f32(1, 2), f32(1.5, 2)), (f32(3.5, 2), f32(9, 9)))


def as_tensors(x, v):
    n = 0
    for e in x:
        if e > 1:
            n += 1
    return (
        lt.tensor(n), lt.tensor([x.max().item(), 0]), lt.tensor([[n, 1], [2, n]]),
        lt.tensor((n > 1, True)), lt.tensor(n, dtype=lt.float32), lt.tensor([n, 0.5]),
    )  # fmt: skip


def in_ops(x, v):
    n = v.item()
    y = x.clamp(min=n).add_(int(v)).mul_(n)
    i = lt.arange(3)
    return (
        y, lt.maximum(x, n), x.masked_fill(x > 2, n), lt.where(x > 2, n, x), x.lerp(x * 2, n),
        i.clamp(max=n), lt.maximum(i, int(v)), lt.add(x, n, alpha=2),
        x.div(n, rounding_mode="floor"),
    )  # fmt: skip


def divided(x, v):
    whole = divmod(int(x.sum() * 10), int(v))
    return whole, divmod(x.sum().item(), v.item())


@pytest.mark.parametrize("f", [as_tensors, in_ops, divided])
def test_numbers_that_calls_take(f):
    check(f, *((f32(1, 2, 3), lt.tensor(v)) for v in (2.0, 3.5, -1.5)))


def on_the_edge(x, v):
    n = v.item()
    return (
        lt.maximum(x, n).sum() + x.masked_fill(x > 2, n).sum() + lt.where(x > 2, n, x).sum()
        + x.lerp(x * 2, n).sum() + lt.add(x, n, alpha=2).sum() + x.div(n).sum()
        + lt.remainder(x, n).sum() + lt.minimum(x, int(v)).sum() + x.mul(n).sub(n).sum()
    )  # fmt: skip


def test_gradients_beside_numbers():
    scripted = lt.script(on_the_edge)
    for v in (2.0, 3.0, -1.5):
        got = []
        for f in (on_the_edge, scripted):
            x = f32(-2, 1, 2, 3, 4).requires_grad_()
            y = f(x, lt.tensor(v))
            y.backward()
            got.append((y.detach(), x.grad))
        same(got[0], got[1])
    with pytest.raises(lt.ScriptError, match="is an argument of clamp"):
        lt.script(lambda x, v: x.clamp(max=v.item()))(f32(1, 2).requires_grad_(), lt.tensor(2.0))


@pytest.mark.parametrize("call", ["x.pow(n)", "x.eq(n)", "x.fill_(n)", "lt.where(x > 1, n, 2 * n)"])
def test_numbers_that_calls_do_not_take(call, tmp_path):
    import runpy

    text = f"import lathe as lt\n\n\ndef f(x):\n    n = x.sum().item()\n    return {call}\n"
    (tmp_path / "calls.py").write_text(text)
    f = runpy.run_path(str(tmp_path / "calls.py"))["f"]
    with pytest.raises(lt.ScriptError, match="a number that data decides is an argument of"):
        lt.script(f)(f32(1, 2))


def a_queue(q):
    q, head, tail = q.clone(), 0, 2
    while head < tail and tail < 6:
        u = q[head]  # a view of what the round writes to, which no later round reads
        head += 1
        if u > 0:
            q[tail] = u - 1
            tail += 1
    return q, head, tail


def a_function_a_round(x):
    while x.numel() > 0:
        if x.sum() > 20:
            break
        double = lambda b: b * 2  # noqa: E731
        x = double(x)
    return x


def read_later(x):
    n = 0
    while n < x.sum():
        u = x * n
        n += 1
    return u


def read_by_an_outer_loop(x):
    n, u = 0, x
    for k in range(2):
        x = x + u
        while n < 4 + k * 3:
            u = x * n
            n = n + int(x[0])
    return x


@pytest.mark.parametrize("f", [a_queue, a_function_a_round, read_by_an_outer_loop])
def test_names_of_one_round(f):
    check(f, (f32(2, 1, 0, 0, 0, 0, 0),), (f32(1, 0, 5, 0, 0, 0, 0),))


def test_a_name_that_is_read_after_the_loop_is_none_of_one_round():
    scripted = lt.script(read_later)
    with pytest.raises(lt.ScriptError, match="'u' may be undefined here"):
        scripted(lt.tensor([1.0, 2.0]))
