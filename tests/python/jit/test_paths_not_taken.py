"""Gradients of values that data does not lead to: nothing comes back to them, so that a derivative
which is infinite there (sqrt and log at 0, what overflows) makes no NaN of it, as in eager code."""

import random
import runpy

import numpy as np
import pytest

import lathe as lt


def unused_stack(x):
    return lt.map(lambda r: (r * 2, r.sqrt()), x)[0]


def branch_not_taken(x):
    z = x.sqrt()
    return lt.cond(x.sum() > 100, lambda: z * 2, lambda: x * 2)


def no_round(x):
    r = x.sqrt()
    return lt.while_loop(lambda i, c: i < 0, lambda i, c: (i + 1, c * r), (0, x * 1))[1]


def rounds_that_stop(x):
    r = x.sqrt()
    return lt.while_loop(lambda c: c.sum() < 5, lambda c: (c + r,), (x * 1,))[0]


def unused_scan(x):
    return lt.scan(lambda c, r: (c + r, r.log()), x[0] * 1, x)[0]


def carried_and_stacked(x):
    return lt.scan(lambda c, r: (c * r, c * r), x[0] * 1, x[1:])[1]


def branch_in_rounds(x):
    z = x.sqrt()
    step = lambda i, c: lt.cond(c.sum() > 1000, lambda: c * z, lambda: c * 2)  # noqa: E731
    return lt.fori_loop(0, 3, step, x * 1)


def branch_in_some_rounds(x):
    z = (x + 1).log()
    step = lambda i, c: lt.cond(i > 1, lambda: c * (x + 1), lambda: c + z)  # noqa: E731
    return lt.fori_loop(0, 4, step, x * 1)


def turns_about(x):
    """Each round hands what the other carried, and one of the two is used."""
    return lt.fori_loop(0, 3, lambda i, c: (c[1], c[0].sqrt()), (x * 1, x * 2))[0]


def script_branch(x):
    z = x.log()
    return z * 2 if x.mean() > 100 else x * 2


def script_overflow(x):
    z, y = x * 1e30, x * 1
    while y.sum() < 200:
        z = z * z
        y = y * 2
    return y


FORMS = [unused_stack, branch_not_taken, no_round, rounds_that_stop, unused_scan,
         carried_and_stacked, branch_in_rounds, branch_in_some_rounds, turns_about]  # fmt: skip


def gradient(function, values):
    x = lt.tensor(values, requires_grad=True)
    return lt.autograd.grad(function(x).sum(), x)[0].tolist()


@pytest.mark.parametrize("form", [lt.trace, lt.script])
@pytest.mark.parametrize("function", FORMS)
def test_as_eager(form, function):
    captured = form(function)
    for values in ([0.0, 4.0, 9.0], [1.0, 4.0, 90.0], [0.0, 300.0, 9.0]):
        np.testing.assert_array_equal(gradient(captured, values), gradient(function, values))


@pytest.mark.parametrize("function", [script_branch, script_overflow])
def test_scripts(function):
    captured = lt.script(function)
    for values in ([0.0, 4.0, 9.0], [1.0, 400.0, 90.0]):
        np.testing.assert_array_equal(gradient(captured, values), gradient(function, values))


@pytest.mark.parametrize("function", FORMS)
def test_a_program_from_a_file(function, tmp_path):
    file = tmp_path / "program.lathe"
    lt.save(function, file, inputs=(lt.ones(3, requires_grad=True),))
    values = [0.0, 4.0, 9.0]
    np.testing.assert_array_equal(gradient(lt.load(file), values), gradient(function, values))


def generated(seed, folder):
    """A function of conditions, loops and scans, one of whose values is infinite in its
    derivative at 0."""
    draw = random.Random(seed)
    body = ["def function(x):", "    z = x.sqrt()", "    a, b = x * 1, x + 1"]
    for _ in range(draw.randint(1, 4)):
        p, q, r = (draw.choice(["a", "b", "x", "z"]) for _ in range(3))
        limit = draw.choice([-1, 3, 20, 1000])
        n = draw.randint(0, 3)
        body.append("    " + draw.choice([
            f"a = lt.cond({p}.sum() > {limit}, lambda: {q} * 2, lambda: {r} + 1)",
            f"a, b = lt.cond({p}.sum() > {limit}, lambda: ({q}, a), lambda: (b, {r} * a))",
            f"a, b = lt.fori_loop(0, {n}, lambda i, c: (c[1], c[0] * {q}), (a, {r} * 1))",
            f"a = lt.while_loop(lambda c: c.sum() < {limit},"
            f" lambda c: (c * 2 + {q} + 1,), (a,))[0]",
            f"a, b = lt.scan(lambda c, r: (c + r, c * r), {p}[0] * 1, {q}[{draw.randint(0, 2)}:])",
            f"b = lt.fori_loop(0, {n}, lambda i, c: lt.cond(c.sum() > {limit},"
            f" lambda: c * {q}, lambda: c + {r}), b)",
        ]))  # fmt: skip
        body.append("    a, b = (a + 0 * x if a.dim() == 0 else a), (b.sum() + x)")
    body.append(f"    return {draw.choice(['a', 'b', 'a + b'])}")
    file = folder / f"paths_{seed}.py"
    file.write_text("\n".join(["import lathe as lt", *body]))
    return runpy.run_path(str(file))["function"], file.read_text()


@pytest.mark.parametrize("seed", range(60))
def test_generated(seed, tmp_path):
    function, text = generated(seed, tmp_path)
    graph = lt.trace(function)
    for values in ([0.0, 4.0, 9.0], [1.0, 0.5, 2.0], [0.0, 0.0, 0.25]):
        eager, traced = gradient(function, values), gradient(graph, values)
        np.testing.assert_array_equal(traced, eager, err_msg=text)
        number = ~np.isnan(eager)
        signs = [np.signbit(np.array(g)[number]) for g in (traced, eager)]
        np.testing.assert_array_equal(*signs, err_msg=text)
