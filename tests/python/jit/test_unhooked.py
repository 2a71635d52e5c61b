"""Functions whose instructions say all that they read are captured as they are: what a program
holds for, and what it computes, is what a capture with hooks finds."""

import pytest

import lathe as lt
from lathe import tanh
from lathe.jit.observe.unhooked import reads
from lathe.nn import functional as F

SCALE = 2.0
WEIGHT = lt.ones(3)


def in_a_loop(x):
    for k in range(3):
        x = lt.tanh(x) * (k + 0.5)
    return x


def of_several_modules(x, y):
    return F.relu(x) + lt.nn.functional.silu(y) * lt.pi - tanh(x)


def with_methods(x, y=3):
    first, second = lt.split(x.sum(0), 2)
    return first.exp() / y, [-second[0], x[:, 1:] > SCALE]


def with_keywords(x):
    return lt.sum(x, dim=1, keepdim=True, dtype=lt.float64) + lt.ones(1)


def in_place(x):
    y = x.abs()
    y += 1
    y.mul_(SCALE)
    return y


NEED_NO_HOOKS = (in_a_loop, of_several_modules, with_methods, with_keywords, in_place)


def captured(function, *args, hooks):
    traced = lt.trace(function)
    traced._interprets = hooks  # nothing but that keeps a trace from being made without
    result = traced(*args)
    guards = {frozenset(text.replace(",", "").split()) for text in traced.guards()[0]}
    return guards, traced.graph, traced.optimised, result


def arguments(function):
    x = lt.arange(12, dtype=lt.float32).reshape(3, 4) * 0.25
    return (x, x * 2) if function is of_several_modules else (x,)


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return lt.equal(a, b)


@pytest.mark.parametrize("function", NEED_NO_HOOKS)
def test_a_capture_without_hooks_finds_what_one_with_hooks_does(function):
    args = arguments(function)
    assert reads(function, args, {}) is not None
    *plain, result = captured(function, *args, hooks=False)
    *hooked, other = captured(function, *args, hooks=True)
    assert plain == hooked
    assert same(result, other) and same(result, function(*args))


def with_a_condition(x):
    return x + 1 if SCALE > 1 else x


def with_a_tensor(x):
    return x * WEIGHT


def with_a_text(x):
    return x, f"{SCALE}"


def with_a_remainder(x):  # as text % values
    return x % SCALE


def with_a_list(x):
    made = []
    made.append(x)
    return made


def with_a_size(x):
    return x * len(x)


def with_a_range_of_a_size(x):
    for k in range(x.shape[0]):
        x = x + k
    return x


def with_a_module_of_its_own_name(x):
    m = lt
    return m.tanh(x)


def with_a_gradient(x):
    return x.grad


def with_a_python_function(x):
    return in_a_loop(x)


def with_a_function_inside(x):
    def scaled(y):
        return y * x

    return scaled(x)


@pytest.mark.parametrize("function", [
    with_a_condition, with_a_tensor, with_a_text, with_a_remainder, with_a_list, with_a_size,
    with_a_range_of_a_size, with_a_module_of_its_own_name, with_a_gradient,
    with_a_python_function, with_a_function_inside,
])  # fmt: skip
def test_whatever_else_a_function_does_needs_hooks(function):
    assert reads(function, (lt.ones(3),), {}) is None


@pytest.mark.parametrize("value", [[lt.ones(3)], {"x": 1}, lt.nn.Parameter(lt.ones(3)), object()])
def test_other_arguments_need_hooks(value):
    assert reads(in_a_loop, (value,), {}) is None


def test_a_global_that_changes_is_seen(monkeypatch):
    traced, x = lt.trace(with_methods), lt.arange(12, dtype=lt.float32).reshape(3, 4)
    assert same(traced(x), with_methods(x))
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert same(traced(x), with_methods(x))
    assert "SCALE" in traced.reasons()[-1]


def test_an_op_that_is_replaced_is_seen(monkeypatch):
    traced, x = lt.trace(of_several_modules), lt.ones(3)
    traced(x, x)
    monkeypatch.setattr(F, "relu", lt.sin)
    assert same(traced(x, x), of_several_modules(x, x))


def test_an_error_is_raised_as_with_hooks():
    def wrong(x):
        return lt.reshape(x, (7,))

    with pytest.raises(lt.ShapeError) as found:
        lt.trace(wrong)(lt.ones(3))
    assert found.traceback[-1].name == "wrong"
