"""What is written where the same stands already, and what code makes of a refusal."""

from types import SimpleNamespace

import pytest

import lathe as lt

count = 0


def agree(function, make, change, read):
    """Eager code and captured code leave the same state, when it was changed in between."""
    found = []
    for form in (function, lt.trace(function)):
        state = make()
        seen = []
        for _ in range(3):
            form(state, lt.ones(2))
            seen.append(read(state))
            change(state)
        found.append(seen)
    assert found[0] == found[1]


class Slotted:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 0


def set_attribute(s, x):
    s.n = 0
    return x * 2


def set_key(s, x):
    s["n"] = 0
    return x * 2


def add_member(s, x):
    s.add(1)
    return x * 2


def set_flag(s, x):
    s.requires_grad = True
    return x * 2


def clear_gradient(s, x):
    s.grad = None
    return x * 2


CASES = {
    "attribute": (set_attribute, lambda: SimpleNamespace(n=0), lambda s: setattr(s, "n", 5), vars),
    "slot": (set_attribute, Slotted, lambda s: setattr(s, "n", 5), lambda s: s.n),
    "key": (set_key, lambda: {"n": 0}, lambda s: s.update(n=5), dict),
    "set": (add_member, lambda: {1}, lambda s: s.clear(), sorted),
    "flag": (
        set_flag,
        lambda: lt.ones(2, requires_grad=True),
        lambda s: s.requires_grad_(False),
        lambda s: s.requires_grad,
    ),
    "gradient": (
        clear_gradient,
        lambda: lt.ones(2, requires_grad=True),
        lambda s: setattr(s, "grad", lt.ones(2)),
        lambda s: s.grad is None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_again_is_written_where_it_was_changed(case):
    function, make, change, read = CASES[case]
    agree(function, make, change, lambda s: str(read(s)))


def test_a_global_that_is_only_written():
    def function(x):
        global count
        count = 0
        return x * 2

    global count
    traced = lt.trace(function)
    for _ in range(3):
        traced(lt.ones(2))
        assert count == 0
        count = 5


def test_early_stopping():
    def step(state, x, loss):
        if loss < state.best:
            state.best, state.bad = loss, 0
        else:
            state.bad += 1
        return x * 1

    found = []
    for form in (step, lt.trace(step)):
        state = SimpleNamespace(best=9.0, bad=0)
        for loss in (3.0, 2.0, 4.0, 1.0, 5.0):
            form(state, lt.ones(1), loss)
            found.append((state.best, state.bad))
    assert found[:5] == found[5:]


@pytest.mark.parametrize("read", [float, int, bool, lt.Tensor.tolist, lambda t: lt.equal(t, t)])
def test_code_that_swallows_a_refusal_is_refused(read):
    def function(x):
        try:
            k = read(x.sum())
        except Exception:
            k = -7.0
        return x * k

    with pytest.raises(lt.TraceError):
        lt.trace(function)(lt.ones(3))


def test_a_condition_in_a_try_is_refused():
    def function(x):
        try:
            if x.sum() > 0:
                return x
            return -x
        except Exception:
            return x * 0 - 7

    with pytest.raises(lt.TraceError):
        lt.trace(function)(lt.ones(3))


def test_what_item_gives_may_still_be_printed(capsys):
    @lt.trace
    def function(x):
        print(x.sum().item())
        return x

    function(lt.ones(2))
    assert capsys.readouterr().out == "2.0\n"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.reshape(n, -1),
        lambda x, n: x.reshape(n, 2, -1),
        lambda x, n: x.view(n),
        lambda x, n: x.reshape(2, 12).unflatten(1, (n, -1)),
        lambda x, n: x.narrow(0, n, 1),
    ],
)
def test_sizes_that_are_inputs_may_be_negative(function):
    x, traced = lt.arange(24.0), lt.trace(function)

    def outcome(form, n):
        try:
            return tuple(form(x, n).shape)
        except lt.Error as problem:
            return type(problem).__name__

    for n in (2, 3, -1, -2, 4, 24, -1):
        assert outcome(traced, n) == outcome(function, n)


def test_negative_sizes_that_multiply_to_the_right_number():
    with pytest.raises(lt.ShapeError, match="do not multiply"):
        lt.arange(24.0).reshape(-2, -12)


@pytest.mark.parametrize("result", [lambda a, b: a, lambda a, b: a * 1, lambda a, b: b * 2])
def test_an_input_written_with_another_has_its_history(result):
    def function(a, b):
        a.copy_(b)
        return result(a, b)

    found = []
    for form in (function, lt.trace(function)):
        for _ in range(2):
            a, b = lt.zeros(3), lt.ones(3, requires_grad=True)
            out = form(a, b)
            gradient = lt.autograd.grad(out.sum() * 3 + a.sum() * 5, b)[0]
            found.append((out.requires_grad, a.requires_grad, gradient.tolist()))
    assert found[:2] == found[2:]


@pytest.mark.parametrize("form", [lt.trace, lt.script])
def test_a_division_by_an_input_that_is_zero(form):
    def function(x, b):
        try:
            k = 1.0 / b
        except ZeroDivisionError:
            k = 0.0
        return x * k

    captured = form(function)
    for b in (1.0, 2.0, 0.0, 4.0, 8.0, 0.0, 3.0):
        assert captured(lt.ones(1), b).item() == function(lt.ones(1), b).item()


@pytest.mark.parametrize("form", [lt.trace, lt.script, lt.func.vmap])
@pytest.mark.parametrize("ask", [lt.Tensor.untyped_storage, lt.Tensor.storage])
def test_memory_that_is_not_there_yet(form, ask):
    def function(x):
        ask(x)
        return x

    with pytest.raises((lt.TraceError, lt.UnsupportedError), match="data"):
        form(function)(lt.ones(3))
