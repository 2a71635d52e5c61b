"""Random programs of reductions of everything, or over leading axes, and of what is computed for
them, beside them and from them: eager's bits, by machine code and by the SIMD interpreter."""

import random

import pytest
from compare import bits_of as bits

import lathe as lt

UNARY = [lt.exp, lt.neg, lt.square, lt.tanh, lambda x: x * 0.5, lambda x: x.abs().sqrt()]
BINARY = [lt.add, lt.sub, lt.mul, lt.maximum, lambda x, y: x / (y.abs() + 1)]
# Of x over some axes, which stay with size 1; `prod` and `argmax` take one axis or all.
REDUCTIONS = [
    *(lambda x, over, f=f: f(x, over, keepdim=True) for f in (lt.sum, lt.mean, lt.amax, lt.amin)),
    lambda x, over: x.std(over, correction=0, keepdim=True),
    lambda x, over: x.prod() if len(over) == x.ndim else x.prod(over[0], keepdim=True),
    lambda x, over: x.argmax() if len(over) == x.ndim else x.argmax(over[0], keepdim=True),
    lambda x, over: (x > 0).all(over, keepdim=True),
    lambda x, over: x.isnan().any(over, keepdim=True),
    lambda x, over: (x > 0.5).sum(over, keepdim=True),
    lambda x, over: x.to(lt.float64).sum(over, keepdim=True),
    lambda x, over: x.to(lt.bfloat16).sum(over, keepdim=True),
    lambda x, over: x.sum(over).sum() * 2,
    lambda x, over: lt.nn.functional.mse_loss(x, x * 0.75),
]
# Beside blocks of 512 elements and pieces of 8192, and several of these.
SIZES = [0, 1, 3, 16, 511, 513, 3000, 8191, 8192, 8193, 16384, 24600, 70001]


def all_axes(x):
    return tuple(range(x.ndim))


def leading_axes(x):
    return tuple(range(max(1, x.ndim - 1)))


def program_of(seed, over):
    """Takes two tensors of one shape, and one that goes with both; gives some of what it makes of
    them. `over`: the axes that its reductions take of a tensor."""
    choose = random.Random(seed)
    steps = []
    for made in range(2, 2 + choose.randint(2, 9)):
        one, other = (choose.randrange(max(0, made - 3), made) for _ in "12")
        kind = choose.randrange(8)
        if kind < 2:
            steps.append(("line", choose.choice(UNARY), (one,)))
        elif kind < 5:
            steps.append(("line", choose.choice(BINARY), (one, other)))
        elif kind == 5:
            steps.append(("with number", choose.choice(BINARY), (one, choose.randrange(4))))
        else:
            steps.append(("number", choose.choice(REDUCTIONS), (one,)))
    lines = 2 + sum(kind != "number" for kind, _, _ in steps)
    last = [(choose.choice(REDUCTIONS), choose.randrange(lines)) for _ in range(3)]
    kept = choose.random() < 0.5

    def program(x, y, s):
        lines, numbers = [x, y], [s]
        for kind, f, operands in steps:
            at = lines[operands[0] % len(lines)]
            if kind == "number":
                numbers.append(f(at, over(at)))
            elif kind == "line":
                lines.append(f(at, *(lines[k % len(lines)] for k in operands[1:])))
            else:
                number = numbers[operands[1] % len(numbers)]
                fits = number.ndim == at.ndim
                lines.append(f(at, (number if fits else number.sum()).to(at.dtype)))
        results = numbers + [f(lines[k], over(lines[k])) for f, k in last]
        return results + lines[-1:] if kept else results

    return program


def inputs(choose):
    """Of about as many elements in all as one of SIZES, over one to three axes."""
    size = choose.choice(SIZES)
    shape = choose.choice([(size,), (size // 3, 3), (size // 70, 70), (1, size), (size, 1)])
    if choose.random() < 0.3:
        shape = shape[::-1]
    if choose.random() < 0.3:
        shape = (2, *shape)
    return lt.randn(*shape), lt.randn(*shape), lt.randn((1,) * len(shape))


def compare(seed, over):
    program = program_of(seed, over)
    traced = lt.trace(program)
    choose = random.Random(-seed)
    for _ in range(3):
        args = inputs(choose)
        if args[0].numel() == 0:
            try:
                want = program(*args)
            except lt.Error:  # a maximum of nothing
                continue
        else:
            want = program(*args)
        assert bits(traced(*args)) == bits(want), (seed, args[0].shape)


SEEDS = [
    *(range(first, first + 20) for first in range(0, 60, 20)),
    *(pytest.param(range(n, n + 100), marks=pytest.mark.slow) for n in range(1000, 2000, 100)),
]


@pytest.mark.parametrize("engine", ["llvm", "simd"])
@pytest.mark.parametrize("over", [all_axes, leading_axes])
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_random_programs(engine, over, seeds, flag):
    flag("engine", engine)
    for seed in seeds:
        compare(seed, over)


DTYPES = [lt.float64, lt.float16, lt.bfloat16, lt.int64, lt.int32, lt.uint8, lt.bool]


@pytest.mark.parametrize("engine", ["llvm", "simd"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(5,), (8192,), (20000,), (700, 33), (9, 20, 1100)], ids=str)
def test_every_dtype(engine, dtype, shape, flag):
    @lt.trace
    def f(x, y):
        z = x * y
        return z.sum(0), z.amax(0), z.prod(0), (z != 0).all(0), z

    flag("engine", engine)
    x, y = ((lt.randn(shape) * 3).to(dtype) for _ in "xy")
    assert bits(f(x, y)) == bits(f.__wrapped__(x, y))


def test_a_loss_is_one_kernel():
    f = lt.trace(lambda x, y: ((x - y) ** 2).mean())
    x = lt.randn(100, 300)
    f(x, x * 2)
    assert "go along one line of s0*s1 elements, by pieces of 8192" in f.explain(verbose=True)


def test_the_gradient_of_a_bias_is_one_kernel_with_what_it_sums():
    f = lt.trace(lambda x, y: ((z := x * (y > 0)), z.sum(0)))
    x = lt.randn(100, 300)
    f(x, x * 2)
    assert "steps 1 to 2 are tiled together by rows" in f.explain(verbose=True)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(300_001,), (3000, 100), (13, 50_000), (20, 3)], ids=str)
def test_any_number_of_threads(threads, shape):
    f = lt.trace(lambda x, y: ((lt.exp(x) * y).sum(0), (x - y).var(0), (x * y).argmax(0)))
    x, y = lt.randn(shape), lt.randn(shape)
    want = bits(f.__wrapped__(x, y))
    before = lt.get_num_threads()
    try:
        lt.set_num_threads(threads)
        assert bits(f(x, y)) == want
    finally:
        lt.set_num_threads(before)


def test_what_is_reduced_may_not_be_read_before_it_is_there():
    f = lt.trace(lambda x: (lt.exp(x) / lt.exp(x).sum(), lt.exp(x) - lt.exp(x).amax((0, 1), True)))
    x = lt.randn(200, 100)
    assert bits(f(x)) == bits(f.__wrapped__(x))


def test_gradients():
    def loss(x, y):
        return ((x - y) ** 2).mean() + (x * y).abs().sum() * 1e-3

    f = lt.trace(loss)
    x, y = lt.randn(90, 101, requires_grad=True), lt.randn(90, 101)
    want = lt.autograd.grad(loss(x, y), [x])
    assert bits(lt.autograd.grad(f(x, y), [x])) == bits(want)
