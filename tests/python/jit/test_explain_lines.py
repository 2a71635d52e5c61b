"""explain() without `verbose`: a line a step, and what stands in all detail alone."""

import re

import pytest
from explained_steps import arguments, layer, steps_of

import lathe as lt

LISTED = re.compile(
    r" +(\d+)(?:-(\d+))?\. (.+?)(?: -> (.+?))?    (no copy|[\w.+]+)(, in place)?(    # .+)?"
)


def attention(q, k, v):
    return (q @ k.transpose(-2, -1) * 0.5).softmax(-1) @ v


def looped(x, n):
    return lt.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x.tanh() * 2), (n * 0, x))


def updated(x, y):
    x.add_(y.exp())
    return y * 2


@pytest.mark.parametrize(
    "function, inputs",
    [
        (layer, arguments),
        (attention, lambda: [lt.randn(1, 2, 300, 16) for _ in range(3)]),
        (looped, lambda: [lt.randn(4), lt.tensor(3)]),
        (updated, lambda: [lt.randn(4), lt.randn(4)]),
        (lambda x: lt.layer_norm(x, (8,)).softmax(-1).t().t(), lambda: [lt.randn(4, 8)]),
    ],
)
def test_a_line_a_step_has_the_numbers_of_all_detail(function, inputs):
    traced = lt.trace(function)
    traced(*inputs())
    text = traced.explain()
    steps = [found for line in text.splitlines() if (found := LISTED.fullmatch(line))]
    numbers = [n for s in steps for n in range(int(s[1]), int(s[2] or s[1]) + 1)]
    verbose = steps_of(traced.explain(verbose=True))
    assert numbers == list(range(1, len(verbose) + 1))
    assert re.search(rf"^{len(steps)} steps?(?: of {len(verbose)} parts)?: ", text, re.MULTILINE)
    for s in steps:
        parts = [choices for _, choices in verbose[int(s[1]) - 1 : int(s[2] or s[1])]]
        entries = {e for c in parts for e, (_, why) in c.items() if why.startswith("chosen")}
        assert entries == set(s[5].split("+")) or s[5] == "no copy", s[0]
    assert len(text) < len(traced.explain(verbose=True)) / 2


def test_a_line_names_the_blocks_of_a_structure_and_a_few_of_many_results():
    traced = lt.trace(looped)
    traced(lt.randn(4), lt.tensor(3))
    assert [line for line in traced.explain().splitlines() if line.endswith(":")] == [
        "  while:", "  do:"
    ]  # fmt: skip
    five = lt.sin, lt.cos, lt.exp, lt.tanh, lt.sqrt
    traced = lt.trace(lambda x: tuple(f(x * 2) for f in five))
    traced(lt.ones(3))
    assert " -> f32[s0], f32[s0], f32[s0], 2 more    " in traced.explain()


def test_a_line_names_a_few_of_many_ops_and_what_it_writes():
    def chain(x, y):
        for _ in range(6):
            x = (x + y).sin() * y
        return x

    traced = lt.trace(chain)
    traced(lt.ones(3), lt.ones(3))
    assert "1. add+sin+mul+add+sin+13 more -> f32[3]    " in traced.explain().replace("s0", "3")
    traced = lt.trace(updated)
    traced(lt.ones(3), lt.ones(3))
    assert ", in place" in traced.explain()


def test_unchanged_passes_are_told_in_all_detail_only():
    traced = lt.trace(layer)
    traced(*arguments())
    assert "(unchanged)" in traced.explain(verbose=True)
    assert "(unchanged)" not in traced.explain() and " ms " not in traced.explain()


@pytest.mark.parametrize(
    "function, reader, maker, why",
    [
        (lambda x, w: x.exp() * x.exp().sum(0), "mul", "exp", "sum {} needs what is made there"),
        (lambda x, w: x.exp() + x[0].sin(), "add", "sin", "it has another shape"),
        (lambda x, w: (x @ w).exp() + (w @ x).sin(), "sin", "mm", None),
        (lambda x, w: ((x @ w).exp() + w) * (w @ x), "mul", "add", "what reads a product runs in"),
    ],
)
def test_why_a_group_ends(function, reader, maker, why):
    traced = lt.trace(function)
    traced(lt.ones(3, 3), lt.ones(3, 3))
    notes = [
        line for line in traced.explain(verbose=True).splitlines() if "is in another group" in line
    ]
    place = rf"\({re.escape(__file__)}:\d+\)"
    if why is None:
        assert not notes
        return
    (note,) = notes
    wanted = re.escape(why).replace(r"\{\}", place)
    assert re.match(
        rf" +{reader} {place} is in another group than {maker} {place}: {wanted}", note
    ), note
    assert "is in another group" not in traced.explain()
