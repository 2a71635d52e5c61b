"""One compiled function serves every shape: no trace, program or kernel is made for a size."""

import random

import pytest

import lathe as lt

SHAPES = 1000


def layer(x, w, b):
    return lt.gelu(x @ w + b)


def sizes(rng):
    """Three sizes; a third of them 0 or 1, which other libraries treat apart."""
    return [rng.choice((0, 1)) if rng.random() < 1 / 3 else rng.randint(2, 40) for _ in range(3)]


def bits(t):
    return bytes(memoryview(t.contiguous().numpy()).cast("B")) if t.numel() else b""


def test_one_program_serves_a_thousand_shapes(record_property):
    rng = random.Random(6)
    lt.manual_seed(6)
    traced = lt.trace(layer)
    seen = set()
    before = lt.get_flag("fallback_is_error")
    lt.set_flag("fallback_is_error", True)
    try:
        for _ in range(SHAPES):
            m, k, n = sizes(rng)
            seen.add((m, k, n))
            x, w, b = lt.randn(m, k), lt.randn(k, n), lt.randn(n)
            assert bits(traced(x, w, b)) == bits(layer(x, w, b)), (m, k, n)
    finally:
        lt.set_flag("fallback_is_error", before)
    counts = traced.counts
    groups = traced.optimised.count("group")
    told = {
        "shapes": SHAPES,
        "different": len(seen),
        "traces": counts["traces"],
        "programs": counts["programs"],
        "kernels": counts["kernels"],
        "groups": groups,
        "fallbacks": counts["node_by_node"],
    }
    print(", ".join(f"{name} {value}" for name, value in told.items()))
    assert counts["traces"] == counts["programs"] == 1
    assert counts["kernels"] <= groups
    assert counts["node_by_node"] == 0
    assert counts["calls"] == SHAPES
    assert all(any(0 in s and s[i] == 0 for s in seen) for i in range(3))
    assert all(any(s[i] == 1 for s in seen) for i in range(3))


def test_a_guess_about_the_first_sizes_is_not_kept():
    """At one sample equal sizes were also 1: rewriting took that for a rule, and other calls got
    zeros."""

    def slope(x, d):
        return lt.autograd.grad(lt.trapezoid(x, d, dim=-1).sum(), x)[0]

    traced = lt.trace(slope)
    for n in (1, 5, 2, 7):
        x = lt.randn(3, n, requires_grad=True)
        d = lt.randn(n)
        assert traced(x, d).tolist() == slope(x, d).tolist()


def test_len_of_a_tensor_is_a_size():
    """A plain integer made by C would hold for one size only: a trace for each."""

    def padded(t):
        return lt.cat([t, lt.ones(len(t) + 1)]).sum() / len(t)

    for wrap in (lt.trace, lt.script):
        f = wrap(padded)
        for n in (3, 5, 7, 2):
            assert f(lt.arange(n) * 1.0).item() == padded(lt.arange(n) * 1.0).item()
        assert f.counts["traces"] == 1
        with pytest.raises(TypeError, match="without axes has no length"):
            f(lt.tensor(1.0))
