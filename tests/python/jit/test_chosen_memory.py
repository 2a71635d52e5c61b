"""What data chose among tensors, or views of them, that branches and rounds made, shares memory."""

import pytest
from script_checks import f32

import lathe as lt


def picked(a, c):
    k = c.to(lt.int64)
    return a[k] if c > 0 else a[k + 1]


def nested(a, c):
    if c > 0:
        w = a if c > 1 else a * 2
    else:
        w = a * 3
    return w


def detached(a, c):
    return a.detach() if c > 0 else a * 2


def of_a_loop(a, c):
    w = a * 1
    while c > 0:
        w = a.detach() if c > 1 else a * 2
        c = c - 1
    return w


def viewed(a, c):
    return (a[:2] if c > 1 else a[1:]) if c > 0 else a[1:] * 2


CHOICES = [picked, nested, detached, of_a_loop, viewed]


@pytest.mark.parametrize(
    "choose, write",
    [(c, False) for c in CHOICES] + [(c, True) for c in CHOICES if c is not nested],
)
def test_it_is_refused_after_a_write(choose, write):
    def f(a, c):
        w = choose(a, c)
        if write:
            w.add_(1)
        else:
            a.mul_(2)
        return w + 1, a + 1

    said = "is written that may share" if write else "read after one whose memory it may share"
    with pytest.raises(lt.TraceError, match=said):
        lt.script(f)(f32(1, 2, 3), lt.tensor(1.0))


@pytest.mark.parametrize("choose", CHOICES)
def test_it_is_read_and_copied(choose):
    def f(a, c):
        w = choose(a, c)
        v = w.clone()
        v.add_(w)
        a.mul_(2)
        return v

    scripted = lt.script(f)
    for c in (1.0, 0.0, -0.0):
        mine, theirs = f32(1, 2, 3), f32(1, 2, 3)
        assert scripted(mine, lt.tensor(c)).tolist() == f(theirs, lt.tensor(c)).tolist()
        assert mine.tolist() == theirs.tolist()
