"""What an index of one element picks is a view in eager code: writes to it reach what it is of."""

import pytest

import lathe as lt


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def counted(t, k, v):
    t[k] += 5
    t[k] -= v
    return t * 2


def in_place(t, k, v):
    t[k].mul_(3)
    return t.sum()


def of_two(t, k, v):
    q = t.reshape(2, -1)
    q[k % 2, k] += 0.5 * (v + q[k % 2].max() - q[k % 2, k])
    return q.clone()


def read_again(t, k, v):
    y = t[k]
    y += v
    y.add_(1)
    return y * 2, t.clone()


def rows(t, k, v):
    q = t.reshape(-1, 2)
    q[k] *= 2
    q[k, 0] += v
    return q.sum(0)


def in_rounds(t, k, v):
    def body(i, h):
        t[(k + h.to(lt.int64)) % 4] += v
        return h + 1

    return lt.fori_loop(0, k + 2, body, t[0] * 0)


def in_a_branch(t, k, v):
    def yes():
        t[k] += v
        return t.sum()

    return lt.cond(v > 1, yes, lambda: t.sum() * 2)


@pytest.mark.parametrize("f", [counted, in_place, of_two, read_again, rows, in_rounds, in_a_branch])
@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_write_reaches_what_was_indexed(capture, f):
    captured = capture(f)
    for k, v in ((0, 1.5), (2, -1.0), (3, 2.0), (1, 4.0)):
        got = []
        for call in (f, captured):
            t = lt.arange(8.0)
            out = call(t, lt.tensor(k), lt.tensor(v))
            got.append([bits(o) for o in (*(out if isinstance(out, tuple) else (out,)), t)])
        assert got[0] == got[1]
    assert captured.counts["traces"] == 1


def test_integers_count():
    def histogram(h, xs):
        for x in xs.unbind(0):
            h[x] += 1
        return h

    traced = lt.trace(histogram)
    for xs in ([1, 1, 3], [0, 2, 2]):
        xs = lt.tensor(xs)
        assert bits(traced(lt.zeros(4, dtype=lt.int64), xs)) == bits(lt.bincount(xs, minlength=4))


def test_with_gradients_it_is_refused_with_advice():
    def f(t, k, w):
        t = t.clone()
        t[k] += w
        return t

    with pytest.raises(lt.TraceError, match=r"x\[i\] = x\[i\] \+ y"):
        lt.trace(f)(lt.ones(3), lt.tensor(1), lt.tensor(2.0, requires_grad=True))


def test_a_pick_of_a_pick_is_not_read_after_a_write():
    def f(m, k):
        z = m[k][k]
        m.mul_(2)
        return z

    with pytest.raises(lt.TraceError, match="read after one whose memory it may share"):
        lt.trace(f)(lt.ones(3, 3), lt.tensor(1))
