"""What a trace has read besides tensors and plain values: if it changes, so does the result."""

import array
import collections
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


CASES = {
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
