"""Random programs of matrices: products, reductions both ways, moves and what is computed between
them, several results: a trace's bits are eager's, and so are its gradients'."""

import random

import pytest

import lathe as lt

F = lt.nn.functional
UNARY = [
    lt.exp, lt.tanh, F.gelu, lambda x: x * 0.5, lambda x: x.abs().sqrt(), lambda x: x.softmax(-1),
    lambda x: x.log_softmax(0), lambda x: F.layer_norm(x, (x.shape[-1],)),
    lambda x: x.cumsum(0), lambda x: x.cumsum(1), lambda x: x.t().contiguous().t(),
    lambda x: x.flip(0), lambda x: F.normalize(x, dim=1), lambda x: x - x.mean(0),
    lambda x: x / (x.norm(dim=1, keepdim=True) + 1), lambda x: x.triu(), lambda x: x.tril(1),
    lambda x: lt.where(x > 0, x, x * 0.1), lambda x: x.roll(1, 0), lambda x: x.sort(1)[0],
    lambda x: lt.cat([x[1:], x[:1]]), lambda x: (x - x.amax(1, keepdim=True)).exp(),
    lambda x: x.var(1, keepdim=True) + x, lambda x: x.std(0) * x,
    lambda x: x.logsumexp(1, keepdim=True) - x,
]  # fmt: skip
BINARY = [
    lt.add, lt.sub, lt.mul, lt.maximum, lambda x, y: x / (y.abs() + 1), lambda x, y: x @ y,
    lambda x, y: x @ y.t(), lambda x, y: F.linear(x, y, y[0]), lambda x, y: (x @ y).relu() + x,
    lambda x, y: ((x @ y) * 0.3).softmax(-1) @ y, lambda x, y: x + y.sum(0),
    lambda x, y: x * y.sum(1, keepdim=True), lambda x, y: x + y.mean(),
    lambda x, y: lt.outer(x[0], y[:, 0]), lambda x, y: lt.cat([x, y])[: x.shape[0]],
    lambda x, y: lt.stack([x, y]).sum(0), lambda x, y: lt.stack([x, y]).amax(0),
]  # fmt: skip


def program_of(choose):
    count, steps = choose.randint(3, 12), []
    for k in range(2, count + 2):
        near = choose.randrange(max(0, k - 4), k)
        if choose.random() < 0.5:
            steps.append((choose.choice(UNARY), (near,)))
        else:
            steps.append((choose.choice(BINARY), (near, choose.randrange(k))))
    kept = [choose.randrange(2, count + 2) for _ in range(choose.randint(1, 3))]

    def program(x, w):
        made = [x, w]
        for f, operands in steps:
            made.append(f(*[made[i] for i in operands]))
        return tuple(made[i] * 1 for i in kept)

    return program


def bits(results):
    return [
        (r.shape, r.isnan().numpy().tobytes(), r.nan_to_num().numpy().tobytes()) for r in results
    ]


def gradients(program, x, w):
    return lt.autograd.grad(sum(y.sum() for y in program(x, w)), [x, w], allow_unused=True)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_as_eager(first, flag):
    flag("engine", "simd")
    check(range(first, first + 100))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 21_000, 1000))
def test_many_as_eager(first, flag):
    flag("engine", "simd")
    check(range(first, first + 1000))


def check(seeds):
    for seed in seeds:
        choose = random.Random(seed)
        program = program_of(choose)
        captured = lt.trace(program)
        for _ in range(2):
            n = choose.choice([1, 2, 3, 5, 8, 17, 40])
            x, w = lt.randn(n, n), lt.randn(n, n) * 0.3
            assert bits(captured(x, w)) == bits(program(x, w)), (
                seed,
                n,
                captured.explain(verbose=True),
            )
        if seed % 4 == 0:
            x, w = x.requires_grad_(), w.requires_grad_()
            pairs = zip(gradients(program, x, w), gradients(captured, x, w))
            for eager, got in pairs:
                if eager is None:  # a program may give zeros there
                    assert got is None or not got.any()
                else:
                    assert bits([got]) == bits([eager]), (seed, n)
