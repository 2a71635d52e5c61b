"""What data chose among tensors, or views of them, that branches and rounds made, shares memory."""

import pytest
from script_checks import check, f32

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


def marks_what_it_asked(x):
    """The condition is an element that a branch then writes to."""
    seen, order, stack = lt.zeros(4, dtype=lt.bool), [], [0]
    while stack:
        k = stack.pop()
        if seen[k]:
            continue
        seen[k] = True
        order.append(k)
        for j in range(3, -1, -1):
            if x[j] > k and not seen[j]:
                stack.append(j)
    return order, seen


def unites(x):
    parent = lt.arange(4)
    for k in range(3):
        a, b = x[k].long() % 4, x[k + 1].long() % 4
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
    return parent


def writes_in_one_branch(x):
    """What one branch writes is nothing to the other."""
    y = x.clone()
    k = x.argmax()
    picked = y[k]
    if x[0] > 0:
        y[k] = 7.0
        z = x
    else:
        z = picked + x
    return y, z


@pytest.mark.parametrize("f", [marks_what_it_asked, unites, writes_in_one_branch])
def test_a_part_sees_no_write_of_another_part(f):
    check(f, *[(f32(*v),) for v in ((1, 2, 3, 0), (0, 0, 0, 0), (-1, 3, 2, 1), (5, 5, 1, 2))])


def reads_before_it_writes(x):
    y = x.clone()
    picked, n = y[x.argmax()], 0
    total = x[0] * 0
    while n < x.abs().max():
        total = total + picked
        y[n % 3] = total
        n += 1
    return total


def reads_after_a_branch(x):
    y = x.clone()
    picked = y[x.argmax()]
    if x[0] > 0:
        y[1] = 7.0
    return picked + y


def reads_after_a_loop(x):
    y = x.clone()
    picked, n = y[x.argmax()], 0
    while n < x.abs().max():
        y[n % 3] = 5.0
        n += 1
    return picked + y


@pytest.mark.parametrize("f", [reads_before_it_writes, reads_after_a_branch, reads_after_a_loop])
def test_what_may_have_been_written_is_not_read(f):
    with pytest.raises(lt.TraceError, match="is read after one whose memory it may share"):
        lt.script(f)(f32(1, 3, 2))
