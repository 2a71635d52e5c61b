"""A tensor that is kept outside of a captured function may have other sizes at each call: one more
trace, and no more."""

import pytest

import lathe as lt
from lathe import nn

CAPTURES = {"trace": lt.trace, "script": lt.script}


@pytest.fixture(params=CAPTURES)
def capture(request):
    return CAPTURES[request.param]


class Cache:
    def __init__(self):
        self.keys, self.seen = [], 0

    def update(self, k, layer):
        if layer == 0:
            self.seen += k.shape[-2]
        if len(self.keys) <= layer:
            self.keys.append(k)
        else:
            self.keys[layer] = lt.cat([self.keys[layer], k], dim=-2)
        return self.keys[layer]


def attend(cache, x):
    """Two layers."""
    for layer in range(2):
        past = cache.keys[layer].shape[-2] if len(cache.keys) > layer else 0
        keys = cache.update(x + layer, layer)
        mask = lt.ones(x.shape[-2], keys.shape[-2], dtype=lt.bool).tril(diagonal=past)
        scores = (x @ keys.mT).masked_fill(~mask, float("-inf"))
        x = scores.softmax(-1) @ keys
    return x


def tokens():
    return [lt.randn(2, n, 4) for n in (3, 1, 1, 1, 1, 1, 2, 1)]


def bits(t):
    return t.numpy().tobytes()


def test_a_cache_that_grows(capture):
    lt.manual_seed(0)
    eager, other = Cache(), Cache()
    step = capture(lambda x: attend(other, x))
    for x in tokens():
        assert bits(step(x)) == bits(attend(eager, x))
        assert other.seen == eager.seen
        assert [bits(k) for k in other.keys] == [bits(k) for k in eager.keys]
    assert step.counts["traces"] <= 4  # empty, filled, growing; and a size of one or not
    assert any(".shape == (2, 3, 4): now (2, 4, 4)" in reason for reason in step.reasons())


def test_a_cache_that_is_an_argument(capture):
    lt.manual_seed(0)
    step = capture(attend)
    for _ in range(2):
        eager, other = Cache(), Cache()
        for x in tokens():
            assert bits(step(other, x)) == bits(attend(eager, x))
    assert step.counts["traces"] <= 4


def test_a_buffer_that_grows(capture):
    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", lt.arange(4.0))

        def forward(self, x):
            return x + self.table[: x.shape[-1]]

    module = Positions()
    captured = capture(module)
    for n in (4, 5, 9, 7, 12):
        module.table = lt.arange(float(n))
        x = lt.ones(2, n)
        assert captured(x).tolist() == (x + lt.arange(float(n))).tolist()
    assert captured.counts["traces"] == 2


def test_what_c_goes_through():
    rows = [lt.ones(2), lt.ones(3)]

    def step(x):
        return lt.cat(rows) * x, [r + x for r in rows], sum(r.sum() for r in rows)

    traced = lt.trace(step)
    for n in (2, 3, 5, 4, 1):
        rows[:] = [lt.ones(n), lt.full((n + 1,), 2.0)]
        joined, each, total = traced(lt.tensor(3.0))
        assert joined.tolist() == [3.0] * n + [6.0] * (n + 1)
        assert [r.tolist() for r in each] == [[4.0] * n, [5.0] * (n + 1)]
        assert total.item() == n + 2 * (n + 1)
    assert traced.counts["traces"] == 2


def test_a_write_to_it():
    state = {"sum": lt.zeros(3)}

    def add(x):
        state["sum"].add_(x)
        return state["sum"] * 2

    traced = lt.trace(add)
    for n in (3, 4, 4, 6, 5):
        state["sum"] = held = lt.full((n,), float(n))
        assert traced(lt.ones(n)).tolist() == [2.0 * n + 2] * n
        assert state["sum"] is held and held.tolist() == [n + 1.0] * n
    assert traced.counts["traces"] == 2


def test_one_tensor_at_two_places():
    box = [lt.ones(3), None]
    box[1] = box[0]

    def step(x):
        box[0].mul_(2)
        return box[1] + x

    traced = lt.trace(step)
    for n in (3, 4, 5, 5):
        box[0] = box[1] = lt.ones(n)
        assert traced(lt.ones(n)).tolist() == [3.0] * n
    box[0], box[1] = lt.ones(4), lt.ones(4)
    assert traced(lt.ones(4)).tolist() == [2.0] * 4


def test_an_argument_that_is_the_same_tensor():
    box = [lt.ones(3)]

    def step(x):
        box[0].mul_(2)
        return x + 1

    traced = lt.trace(step)
    for n in (3, 4, 5):
        box[0] = lt.ones(n)
        assert traced(lt.ones(n)).tolist() == [2.0] * n
    assert traced(box[0]).tolist() == [5.0] * 5


def test_it_is_given_back_as_it_is():
    box = [lt.ones(3)]
    traced = lt.trace(lambda x: (box[0], box[0] + x))
    for n in (3, 4, 5):
        box[0] = lt.ones(n)
        same, more = traced(lt.ones(()))
        assert same is box[0] and more.tolist() == [2.0] * n


def test_one_that_is_read_only_sometimes():
    box = [lt.ones(3), True]
    traced = lt.trace(lambda x: box[0] + x if box[1] else x * 2)
    for n, reads in ((3, True), (4, True), (5, False), (6, True), (7, False), (8, True)):
        box[:] = [lt.ones(n), reads]
        assert traced(lt.ones(())).tolist() == ([2.0] * n if reads else 2.0)
    assert traced.counts["traces"] == 3


def test_gradients_reach_what_is_computed_with_it():
    weight = lt.ones(4, requires_grad=True)
    box = [lt.ones(3, 4)]

    def loss():
        return (box[0] * weight).sum()

    traced = lt.trace(loss)
    for n in (3, 5, 2):
        box[0] = lt.full((n, 4), float(n))
        weight.grad = None
        traced().backward()
        assert weight.grad.tolist() == [float(n * n)] * 4
    assert traced.counts["traces"] == 2


def test_one_that_comes_to_require_grad():
    box = [lt.ones(3)]
    traced = lt.trace(lambda x: (box[0] * x).sum())
    for n in (3, 4):
        box[0] = lt.ones(n)
        traced(lt.ones(()))
    box[0] = lt.ones(5, requires_grad=True)
    traced(lt.full((), 2.0)).backward()
    assert box[0].grad.tolist() == [2.0] * 5


def test_layouts_and_dtypes_still_count():
    box = [lt.ones(3, 2)]
    traced = lt.trace(lambda: box[0].flatten() * 2)
    for t in (lt.ones(3, 2), lt.ones(4, 2), lt.arange(6.0).view(2, 3).T, lt.ones(2, 2).double(),
              lt.ones(5), lt.arange(8.0).view(2, 4).T, lt.ones(1, 2).expand(3, 2)):  # fmt: skip
        box[0] = t
        got = traced()
        assert got.tolist() == (t.flatten() * 2).tolist() and got.dtype == t.dtype


def test_the_reason_names_the_new_length():
    @lt.trace
    def step(x, found):
        found.append(x.sum())
        return x * 2

    found = []
    for _ in range(3):
        step(lt.ones(3), found)
    assert step.reasons() == [f"len(args[1]) == {n}: now {n + 1}" for n in range(2)]
