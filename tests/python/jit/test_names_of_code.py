"""What traced code names is read from its bytes: the same as dis reads, in code of all kinds."""

import argparse
import ast
import dis
import inspect
import types
import typing

import pytest

from lathe.jit.names import named_by

WORDS = {
    "LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME", "LOAD_ATTR",
    "LOAD_METHOD",
}  # fmt: skip


def codes(code):
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from codes(c)


def by_dis(code):
    starts, line = dict(dis.findlinestarts(code)), code.co_firstlineno
    for i in dis.get_instructions(code):
        line = starts.get(i.offset, line)
        if i.opname in WORDS:
            yield i.offset, i.opname, i.argval, line


@pytest.mark.parametrize("module", [argparse, ast, inspect, typing], ids=lambda m: m.__name__)
def test_of_modules(module):
    text = inspect.getsource(module)
    for code in codes(compile(text, module.__file__, "exec")):
        assert list(named_by(code)) == list(by_dis(code)), code


def test_of_more_names_than_a_byte_counts():
    text = (
        "def f(x):\n"
        + "".join(f"    x.a{i}(g{i})\n" for i in range(300))
        + "    global h\n    h = 1\n"
    )
    (code,) = (c for c in codes(compile(text, "text", "exec")) if c.co_name == "f")
    found = list(named_by(code))
    assert found == list(by_dis(code)) and ("LOAD_GLOBAL", "g299", 301) in [f[1:] for f in found]
    assert found[-1][1:] == ("STORE_GLOBAL", "h", 303)
