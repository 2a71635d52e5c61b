"""Inputs that are views of larger tensors: one program serves them however long the steps between
their elements are, unless the function asks; elements, strides and gradients are eager's."""

import math
import random

import pytest
from compare import bits_of

import lathe as lt


def bits(results):
    """Of a tensor, or of several; strides with them."""
    tensors = [results] if isinstance(results, lt.Tensor) else list(results)
    return bits_of(tensors), [x.stride() for x in tensors]


def check(function, calls, programs=1):
    """`calls`: functions that make the arguments, anew for each run, as it may write to them."""
    traced = lt.trace(function)
    for make in calls:
        ours, theirs = make(), make()
        got, want = traced(*ours), function(*theirs)
        assert bits(got) == bits(want)
        assert bits(ours) == bits(theirs)
    assert f"{programs} programs" in traced.explain(verbose=True)


def table(rows, columns):
    return lt.arange(rows * columns).reshape(rows, columns).to(lt.float32) / 7


def cut(n):
    return (table(4, n)[:, 1:],)


LENGTHS = range(5, 30)


def test_tokens_and_what_comes_next():
    def loss(x, y):
        return ((x.reshape(-1) * 0.5 - y.flatten()) ** 2).mean(), x.t(), y[1:], x.contiguous()

    check(loss, [lambda n=n: (table(4, n)[:, :-1], table(4, n)[:, 1:]) for n in LENGTHS])


def test_the_last_of_a_sequence():
    def last(n):
        return (table(4, n * 6).reshape(4, n, 6)[:, -1],)

    check(lambda x: x.softmax(-1).sum(0), [lambda n=n: last(n) for n in LENGTHS])


def test_a_script():
    script = lt.script(lambda x: (x * 2).reshape(-1).sum())
    for n in LENGTHS:
        assert bits(script(*cut(n))) == bits((cut(n)[0] * 2).reshape(-1).sum())
    assert "1 programs" in script.explain(verbose=True)


def test_writes_go_where_the_elements_are():
    check(lambda x: (x.add_(1).sum(), x[0].mul_(2))[0], [lambda n=n: cut(n) for n in LENGTHS])


def test_a_stride_that_is_asked_about_is_guarded():
    check(lambda x: x * 2 if x.stride(0) > 10 else x * 3, [lambda n=n: cut(n) for n in LENGTHS], 2)
    check(lambda x: x * 2 + x.stride()[0], [lambda n=n: cut(n) for n in range(5, 9)], 4)
    check(lambda x: x + x.stride(0), [lambda n=n: cut(n) for n in range(5, 9)], 4)
    check(lambda x: x + x.is_contiguous(), [lambda n=n: cut(n) for n in LENGTHS])


def test_whether_rows_can_be_one_is_guarded():
    def one(n):
        return (table(8, n)[::2],)  # rows of rows: [4, n] of strides 2n and 1

    check(lambda x: x.reshape(-1).clone(), [lambda n=n: one(n) for n in LENGTHS])
    views = [lambda n=n: (table(8, 6)[:, : n % 5 + 2],) for n in range(20)]
    check(lambda x: x.reshape(2, -1) + 1, views[:1])
    check(lambda x: x.unflatten(0, (2, 4)).flatten(0, 1), views, 2)  # all six columns, and fewer


@pytest.mark.parametrize("turn", [1, -1])
def test_what_is_equal_at_the_first_call_is_guarded(turn):
    def cube(rows, columns):
        return (table(24, 8).reshape(4, 6, 8)[:, :rows, 1:columns],)  # one row of 24, if all six

    calls = [lambda: cube(6, 3), lambda: cube(5, 3), lambda: cube(6, 4), lambda: cube(4, 4)]
    check(lambda x: x.flatten(0, 1).mul_(2) + x.flatten(0, 1), calls[::turn], 2)
    check(lambda x: x * (2 if x.stride(0) == x.shape[1] * x.stride(1) else 3), calls[::turn], 2)


def test_known_strides_are_told_apart():
    calls = [
        lambda: (table(4, 1).expand(4, 5),),
        lambda: (table(1, 5).expand(4, 5),),
        lambda: (table(4, 20)[:, ::4],),
        lambda: (table(5, 4).t(),),
        lambda: (table(4, 5),),
    ]
    check(lambda x: (x * 2, x.sum()), calls * 2, 5)


def test_parameters_of_a_function_are_fixed():
    weight = table(6, 6)[:, ::2]
    check(lambda x: x @ weight, [lambda: (table(2, 6),)])


@pytest.mark.parametrize("second", [False, True])
def test_gradients(second):
    def loss(x, y):
        return (x.reshape(-1) ** 3 * y.flatten()).sum()

    def gradients(f, n):
        base = lt.arange(4 * n).to(lt.float32).reshape(4, n).requires_grad_()
        x, y = base[:, :-1], base[:, 1:]
        (g,) = lt.autograd.grad(f(x, y), [base], create_graph=second)
        return lt.autograd.grad(g.sum(), [base])[0] if second else g

    traced = lt.trace(loss)
    for n in LENGTHS:
        assert bits(gradients(traced, n)) == bits(gradients(loss, n))
    assert "1 programs" in traced.explain(verbose=True)


def test_a_program_from_a_file_takes_any(tmp_path):
    def f(x):
        return (x * 2).reshape(-1), x.sum(0)

    lt.save(lt.trace(f), tmp_path / "f.lt", *cut(9))
    loaded = lt.load(tmp_path / "f.lt")
    for args in (cut(9), cut(20), (table(3, 5),), (table(5, 3).t(),)):
        assert bits(loaded(*args)) == bits(f(*args))


# ── random ones ──

VIEWS = [
    lambda x: x.transpose(0, -1),
    lambda x: x.reshape(-1),
    lambda x: x.flatten(0, 1) if x.ndim > 1 else x,
    lambda x: x.unsqueeze(1),
    lambda x: x[1:] if x.shape[0] > 1 else x,
    lambda x: x[..., ::2],
    lambda x: x.contiguous(),
    lambda x: x.reshape(x.shape[0], -1),
    lambda x: x.unsqueeze(0).expand(2, *x.shape),
    lambda x: x.clone(),
]
OPS = [
    lambda x: x * 2,
    lambda x: x + x.sum(),
    lambda x: x.softmax(-1),
    lambda x: lt.where(x > 1, x, -x),
    lambda x: x.sum(-1, keepdim=True),
    lambda x: x.cumsum(0),
    lambda x: x.mul_(0.5),
]


def program_of(seed):
    choose = random.Random(seed)
    steps = [choose.choice(VIEWS if choose.random() < 0.6 else OPS) for _ in range(5)]

    def program(x):
        made = [x]
        for f in steps:
            if made[-1].ndim > 5:
                break
            made.append(f(made[-1]))
        return tuple(made[1:])

    return program


def strided(seed):
    """A view of a larger tensor, with two or three axes."""
    choose = random.Random(seed)
    sizes = [choose.randint(3, 9) for _ in range(choose.randint(2, 3))]
    base = lt.arange(math.prod(sizes)).to(lt.float32).reshape(sizes) / 5
    cuts = [slice(choose.randint(0, 1), choose.choice([None, -1])) for _ in sizes]
    view = base[tuple(cuts)]
    order = list(range(len(sizes)))
    choose.shuffle(order)
    return view.permute(order) if choose.random() < 0.3 else view


@pytest.mark.parametrize("seeds", [range(0, 40), range(40, 80)], ids=str)
def test_random_programs(seeds):
    for seed in seeds:
        program, traced = program_of(seed), lt.trace(program_of(seed))
        for call in range(8):
            ours, theirs = strided(seed * 100 + call), strided(seed * 100 + call)
            try:
                want = program(theirs)
            except lt.Error as error:
                with pytest.raises(type(error)):
                    traced(ours)
                continue
            got = traced(ours)
            assert bits(got) == bits(want), seed
            assert bits(ours) == bits(theirs), seed
