"""What a trace has read besides tensors and plain values: if it changes, so does the result."""

import array
import collections
import contextvars
import functools

import numpy as np
import pytest

import lathe as lt


class Slotted:
    __slots__ = ("scale", "unset")

    def __init__(self):
        self.scale = 2.0


def turn(holder):
    holder.rotate(1)


def set_first(holder):
    holder[0] = 7


def set_scale(holder):
    holder.scale = 7.0


def with_attribute():
    def function():
        pass

    function.scale = 2.0
    return function


CASES = {
    "a function's attribute": (with_attribute(), set_scale, lambda h: h.scale),
    "a context variable": (
        contextvars.ContextVar("scale", default=2.0),
        lambda h: h.set(7.0),
        lambda h: h.get(),
    ),
    "a NumPy array": (np.array([2.0, 3.0]), set_first, lambda h: float(h[0])),
    "a strided NumPy array": (np.arange(6.0)[::2], set_first, lambda h: float(h[0])),
    "a bytearray": (bytearray(b"ab"), set_first, lambda h: h[0]),
    "an array": (array.array("d", [2.0, 3.0]), set_first, lambda h: h[0]),
    "a memoryview": (memoryview(bytearray(b"ab")), set_first, lambda h: h[0]),
    "a deque": (collections.deque([2.0, 3.0]), turn, lambda h: h[0]),
    "slots": (Slotted(), set_scale, lambda h: h.scale),
}


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("given", ["captured", "as an argument"])
def test_changed_state_is_seen(what, given):
    holder, change, read = CASES[what]
    if given == "captured":
        traced = lt.trace(lambda x: x * read(holder))
        call = functools.partial(traced, lt.ones(2))
    else:
        traced = lt.trace(lambda x, h: x * read(h))
        call = functools.partial(traced, lt.ones(2), holder)
    for _ in range(3):
        assert call().tolist() == [read(holder)] * 2
    assert traced.counts["traces"] == 1
    change(holder)
    for _ in range(3):
        assert call().tolist() == [read(holder)] * 2


def test_what_a_partial_holds_is_seen():
    scale = [2.0]
    scaled = functools.partial(lambda factor, x: x * factor[0], scale)
    traced = lt.trace(lambda x: scaled(x))
    assert traced(lt.ones(1)).tolist() == [2]
    scale[0] = 7.0
    assert traced(lt.ones(1)).tolist() == [7]


def test_each_of_several_objects_with_slots_is_seen():
    holders = [Slotted() for _ in range(6)]
    traced = lt.trace(lambda x: x * sum(h.scale for h in holders))
    assert traced(lt.ones(1)).tolist() == [12]
    for total, holder in zip((17, 22, 27, 32, 37, 42), holders):
        holder.scale = 7.0
        assert traced(lt.ones(1)).tolist() == [total]


def test_an_attribute_that_is_set_later_is_seen():
    @lt.trace
    def scaled(x):
        return x * getattr(scaled_by, "scale", 1)

    def scaled_by():
        pass

    assert scaled(lt.ones(1)).tolist() == [1]
    scaled_by.scale = 7.0
    assert scaled(lt.ones(1)).tolist() == [7]


def test_hooks_of_a_captured_leaf_are_those_of_now():
    w, factor = lt.ones(2, requires_grad=True), [2.0]
    traced = lt.trace(lambda x: lt.autograd.grad((w * x).sum(), w)[0])
    x = lt.tensor([3.0, 4.0])
    assert traced(x).tolist() == [3, 4]
    handle = w.register_hook(lambda g: g * factor[0])
    for _ in range(2):
        assert traced(x).tolist() == [6, 8]
    factor[0] = 10.0
    assert traced(x).tolist() == [30, 40]
    second = w.register_hook(lambda g: g + 1)
    assert traced(x).tolist() == [31, 41]
    handle.remove()
    assert traced(x).tolist() == [4, 5]
    second.remove()
    for _ in range(2):
        assert traced(x).tolist() == [3, 4]


def test_a_hook_that_changes_state_is_refused():
    w, seen = lt.ones(2, requires_grad=True), []
    w.register_hook(lambda g: seen.append(g))
    with pytest.raises(lt.TraceError, match="changed"):
        lt.trace(lambda x: lt.autograd.grad((w * x).sum(), w)[0])(lt.ones(2))
    assert seen == []
