"""Derivatives of elementwise ops that eager code runs as one program are what their rules give,
byte for byte. Those of all samples are compared in test_composites.py."""

import numpy as np
import pytest

import lathe as lt
from lathe import _lathe

F = lt.nn.functional
OPS = {
    "gelu": lambda x, y: F.gelu(x) + F.gelu(y, approximate="tanh"),
    "silu": lambda x, y: F.silu(x) * y.sigmoid(),
    "powers": lambda x, y: x.abs() ** 2.5 / (1 + y * y),
    "where": lambda x, y: lt.where(x > y, x.tanh(), y.exp()),
    "broadcast": lambda x, y: x * y[:1].exp() + lt.atan2(x[..., :1], y),
    "numbers": lambda x, y: F.softplus(x, 2.0) - F.leaky_relu(y, 0.3),
    "one": lambda x, y: F.hardswish(x) * y.detach(),
}
SHAPES = [(64, 64), (1, 5000), (3, 7), (0, 4), (40, 9, 17)]


@pytest.fixture(autouse=True)
def flags():
    before = {name: lt.get_flag(name) for name in ("fuse_after", "engine")}
    yield
    for name, value in before.items():
        lt.set_flag(name, value)


def text(op):
    said = _lathe._gradients().splitlines()
    return [line for line in said if line.startswith(op + " backward(")]


def content(x):
    array = np.array(x.detach().float().numpy())
    array[np.isnan(array)] = np.nan
    return array.tobytes()


def gradients(f, x, y, weight=None):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    z = f(x, y)
    ones = lt.ones((), dtype=z.dtype).expand(z.shape)  # what a sum hands back
    all_of_them = lt.autograd.grad(z, [x, y], ones if weight is None else weight, allow_unused=True)
    return [None if g is None else content(g) for g in all_of_them]


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("engine", ["auto", "simd"])
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.bfloat16])
def test_bytes(name, engine, dtype):
    lt.set_flag("engine", engine)
    for shape in SHAPES:
        x, y = (lt.randn(*shape).to(dtype) for _ in range(2))
        for weight in (None, lt.randn(*shape).to(dtype)):
            lt.set_flag("fuse_after", -1)
            expected = gradients(OPS[name], x, y, weight)
            lt.set_flag("fuse_after", 0)
            for _ in range(2):
                assert gradients(OPS[name], x, y, weight) == expected


def test_large_ones_after_some_calls():
    lt.set_flag("fuse_after", 3)
    few, many = lt.randn(2, 2, 2, 2, 2, 2), lt.randn(5, 5, 5, 5, 5, 5)
    for x, ever in ((few, False), (many, True)):
        for calls in range(6):
            known = [t for t in text("mish") if "f32[s0, s1, s2, s3, s4, s5]" in t]
            assert bool(known) == (ever and calls > 3)
            gradients(lambda x, y: F.mish(x) + y, x, x)


def test_one_launch():
    lt.set_flag("fuse_after", 0)
    x = lt.randn(5000)
    gradients(lambda x, y: F.gelu(x) + y, x, x)
    assert text("gelu_erf")[0].split("): ")[1].startswith("1 for ")


def test_second_order_goes_by_the_rule():
    lt.set_flag("fuse_after", 0)
    x = lt.randn(5000).requires_grad_()
    for after in (-1, 0):
        lt.set_flag("fuse_after", after)
        (g,) = lt.autograd.grad(F.gelu(x).sum(), x, create_graph=True)
        (second,) = lt.autograd.grad(g.pow(2).sum(), x)
        if after < 0:
            expected = content(g), content(second)
    assert (content(g), content(second)) == expected


def test_other_layouts_and_kept_graphs():
    x, y = lt.randn(70, 80).t(), lt.randn(80, 70)
    results = []
    for after in (-1, 0):
        lt.set_flag("fuse_after", after)
        u, v = x.clone().requires_grad_(), y.t().contiguous().t().detach().requires_grad_()
        z = F.silu(u) * v.exp()
        for _ in range(2):
            z.backward(lt.ones(70, 80).t(), retain_graph=True)
        results.append((content(u.grad), content(v.grad)))
    assert results[0] == results[1]


def test_hooks_see_the_same():
    seen = []
    for after in (-1, 0):
        lt.set_flag("fuse_after", after)
        x = lt.randn(5000, generator=lt.Generator().manual_seed(3)).requires_grad_()
        y = F.gelu(x)
        y.register_hook(lambda g: g * 3)
        x.register_hook(lambda g: seen.append(content(g)))
        y.sum().backward()
    assert seen[0] == seen[1]
