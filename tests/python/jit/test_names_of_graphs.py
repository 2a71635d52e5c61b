"""A graph's name is one that its text can hold, so the text can be parsed."""

import functools

import pytest

import lathe as lt
from lathe.jit import parse


def named(name):
    def f(x):
        return x * 2 + 1

    f.__name__ = name
    return f


class Called:
    def __call__(self, x):
        return x * 2 + 1


FUNCTIONS = {
    "lambda_": lambda x: x * 2 + 1,
    "f": named("f"),
    "_5_f": named("5 f"),
    "größe": named("größe"),
    "a.b": named("a.b"),
    "a__": named("a.("),
    "_": named(""),
    "Called": Called(),
    "partial": functools.partial(named("f")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", [lt.trace, lt.script])
def test_the_text_is_parsed_and_printed_again(name, mode):
    f = mode(FUNCTIONS[name])
    x = lt.ones(3)
    want = f(x)
    text = f.graph
    assert text.startswith(f"graph {name}(")
    again = parse(text)
    assert again.graph == text
    assert lt.equal(again(x), want)


def test_a_program_that_is_saved(tmp_path):
    lt.save(lambda x: x * 2 + 1, tmp_path / "f.lathe", lt.ones(3))
    program = lt.load(tmp_path / "f.lathe")
    assert program.graph.startswith("graph lambda_(")
    assert parse(program.graph)(lt.ones(3)).tolist() == [3, 3, 3]
