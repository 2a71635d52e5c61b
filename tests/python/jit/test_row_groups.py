"""Random programs of reductions over rows and of what is computed between them: eager's bits, by
machine code and by the SIMD interpreter."""

import random
from functools import partial

import pytest
from compare import bits_of as bits

import lathe as lt

UNARY = [lt.exp, lt.tanh, lt.neg, lt.square, lambda x: x * 0.5, lambda x: x.abs().sqrt()]
BINARY = [lt.add, lt.sub, lt.mul, lt.maximum, lambda x, y: x / (y.abs() + 1)]
REDUCTIONS = [
    lt.sum,
    lt.mean,
    lt.amax,
    lt.amin,
    lambda *a, **k: lt.sum(lt.square(a[0]), *a[1:], **k),
]
OVER_ROWS = [
    lambda x: x.sum(0),
    lambda x: x.mean(0, keepdim=True),
    lambda x: x.amax(0),
    lambda x: x.argmax(0),
    lambda x: x.sum(0, keepdim=True).flatten() * 2,
]


def plan_of(seed):
    """Steps (where the result goes, function, operands as (list, number)), four more results, and
    reductions over the rows (function, number of what it reduces).
    Lists: all elements [r, c], one a row [r, 1] and [r], one a column [c], rows of another length
    [r, k]."""
    choose = random.Random(seed)
    count = {"full": 1, "row": 1, "flat": 1, "other": 1, "column": 1}

    def pick(kind):
        return kind, choose.randrange(max(0, count[kind] - 3), count[kind])

    steps = []
    for _ in range(choose.randint(4, 14)):
        kind = choose.randrange(9)
        binary, reduction = choose.choice(BINARY), choose.choice(REDUCTIONS)
        if kind == 0:
            step = "full", choose.choice(UNARY), (pick("full"),)
        elif kind in (1, 2):
            by = choose.choice(["full", "full", "row", "column"])
            step = "full", binary, (pick("full"), pick(by))
        elif kind == 3:
            step = "row", partial(reduction, dim=1, keepdim=True), (pick("full"),)
        elif kind == 4:
            step = "flat", partial(reduction, dim=1), (pick(choose.choice(["full", "other"])),)
        elif kind == 5:
            step = "flat", binary, (pick("flat"), pick("flat"))
        elif kind == 6:
            step = "row", partial(with_axis, binary), (pick("row"), pick("flat"))
        elif kind == 7:  # over the rows, and read again within them
            step = "column", partial(reduction, dim=0), (pick("full"),)
        else:
            step = "other", binary, (pick("other"), pick("row"))
        count[step[0]] += 1
        steps.append(step)
    kept = [pick("full"), pick("row"), pick("flat"), pick("other")]
    across = [(choose.choice(OVER_ROWS), pick("full")[1]) for _ in range(choose.randint(1, 3))]
    return steps, kept, across


def with_axis(binary, row, flat):
    return binary(row, flat.unsqueeze(1))


def program_of(seed):
    steps, kept, across = plan_of(seed)

    def program(x, w, c, s, z):
        made = {"full": [x], "column": [w], "row": [c], "flat": [s], "other": [z]}
        for into, f, operands in steps:
            made[into].append(f(*[made[kind][number] for kind, number in operands]))
        last = [made[kind][-1] for kind in ("full", "row", "flat", "other")]
        columns = [over_rows(made["full"][number]) for over_rows, number in across]
        return (*last, *columns, *[made[kind][number] + 0 for kind, number in kept])

    return program


def check(seed, flag):
    choose = random.Random(seed)
    dtype = choose.choice([lt.float32, lt.float32, lt.float64, lt.bfloat16])
    program = program_of(seed)
    captured = lt.trace(program)
    for _ in range(2):  # one program for both
        r, c = choose.choice([1, 3, 4, 7, 30, 530]), choose.choice([1, 2, 7, 16, 40, 600, 1100])
        c = c if r < 500 else min(c, 16)
        c = r if choose.random() < 0.2 else c
        k = choose.choice([1, 5])
        shapes = [(r, c), (c,), (r, 1), (r,), (r, k)]
        inputs = [lt.randn(*shape).to(dtype) for shape in shapes]
        eager = bits(program(*inputs))
        for name in ("llvm", "simd"):
            flag("engine", name)
            assert bits(captured(*inputs)) == eager, (
                seed,
                name,
                shapes,
                captured.explain(verbose=True),
            )
        flag("engine", "auto")


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_over_rows(first, flag):
    for seed in range(first, first + 20):
        check(seed, flag)


@pytest.mark.slow
def test_many_random_programs_over_rows(flag):
    for seed in range(1000, 1600):
        check(seed, flag)


def expression(choose, depth):
    """Of all elements, of sums over rows and of such within them, in any order."""
    kind = choose.randrange(6) if depth > 0 else 0
    if kind == 0:
        return lambda x: x
    inner = expression(choose, depth - 1)
    if kind == 1:
        unary = choose.choice([*UNARY, lambda x: x.softmax(-1)])
        return lambda x: unary(inner(x))
    if kind in (2, 3):
        reduction = choose.choice(REDUCTIONS)
        return lambda x: reduction(inner(x), dim=kind - 2, keepdim=True)
    binary, other = choose.choice(BINARY), expression(choose, depth - 1)
    return lambda x: binary(inner(x), other(x))


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_sums_both_ways(first, flag):
    flag("engine", "simd")
    for seed in range(first, first + 100):
        choose = random.Random(seed)
        f = expression(choose, 5)
        captured = lt.trace(f)
        for _ in range(2):
            x = lt.randn(choose.randint(1, 9), choose.randint(1, 40))
            assert bits([captured(x)]) == bits([f(x)]), (
                seed,
                x.shape,
                captured.explain(verbose=True),
            )


READ_BESIDE = {
    "both": lambda x: x.sum(1, keepdim=True) + x.sum(0),
    "centred": lambda x: x - x.mean(0) - x.mean(1, keepdim=True),
    "softmax": lambda x: x.softmax(-1) * x.sum(0),
    "norm": lambda x: lt.nn.functional.layer_norm(x, (x.shape[1],)) + x.sum(0),
    "in the middle": lambda x: (x.sum(1, keepdim=True) + x.sum(0)).amax(1),
}


@pytest.mark.parametrize("f", READ_BESIDE.values(), ids=READ_BESIDE)
def test_a_sum_over_rows_that_the_last_of_them_reads(f, flag):
    captured = lt.trace(f)
    for r, c in ((2, 2), (3, 5), (7, 64), (64, 3)):
        x = lt.randn(r, c)
        for name in ("llvm", "simd"):
            flag("engine", name)
            assert bits([captured(x)]) == bits([f(x)])
