"""Results and state that lead back to themselves."""

from collections import deque

import pytest

import lathe as lt

MODES = [lt.trace, lt.script]


class Node:
    pass


def in_a_list(x):
    found = [x * 2]
    found.append((found, {"list": found}))
    return found


def in_a_deque(x):
    found = deque([x, x * 2], maxlen=3)
    found.append(found)
    return found


def in_a_dict(x):
    found = {"a": x * 2}
    found["self"] = [found]
    return found


@pytest.mark.parametrize("mode", MODES)
def test_a_result_that_holds_itself(mode):
    for _ in range(2):
        found = mode(in_a_list)(lt.ones(1))
        assert found[1][0] is found and found[1][1]["list"] is found
        assert found[0].tolist() == [2]
        found = mode(in_a_deque)(lt.ones(1))
        assert found[2] is found and found.maxlen == 3 and found[1].tolist() == [2]
        found = mode(in_a_dict)(lt.ones(1))
        assert found["self"][0] is found and found["a"].tolist() == [2]


@pytest.mark.parametrize("mode", MODES)
def test_state_that_holds_itself(mode):
    h = Node()

    def f(x):
        h.last = [x * 2]
        h.last.append(h.last)
        return x

    program = mode(f)
    for n in (1, 2, 3):
        program(lt.full([1], float(n)))
        assert h.last[1] is h.last and h.last[0].tolist() == [2 * n]


def a_tuple(x):
    found = []
    both = (found, x * 2)
    found.append(both)
    return both


def a_set(x):
    node = Node()
    node.all = {node}
    return node.all


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [a_tuple, a_set])
def test_what_is_made_at_once_cannot_lead_back_to_itself(mode, function):
    kind = function.__name__.removeprefix("a_")
    with pytest.raises(lt.TraceError, match=f"a {kind} that the traced code has made leads back"):
        mode(function)(lt.ones(1))


@pytest.mark.parametrize("mode", MODES)
def test_a_tuple_that_is_there_twice_is_one(mode):
    def f(x):
        both = (x, x * 2)
        return [both, both]

    a, b = mode(f)(lt.ones(1))
    assert a is b
