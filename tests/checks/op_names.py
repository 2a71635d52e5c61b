"""Nothing outside the definitions, rules, vendor entries and tests names an op in a string.

A second list of op names goes stale; what differs between ops belongs in the definition. The names
are those of the definitions of the build, as many a schema is put together from pieces. The names
of scalar primitives are a list of their own (core/expr). A string that only looks like an op's name
is excused by a comment on its line: `not an op: why`.
"""

import ast
import re

from tree import Result, line_of, strings_of_cpp

NAME = "op names"

ALLOWED = re.compile(
    r"core/ops/|core/expr/|core/scalar/math|graph/rules/|kernels/(\w+/)*entries\w*\.cpp"
    r"|include/lathe/ops/|graph/text/upgrade\.cpp|tests/|docs/|examples/"
    r"|python/lathe/(array_api|compat)/"  # say what others call our ops
)
# Names of ops that are words for other things as well: a trace, a layout, settings of PyTorch's.
WORDS = {"bilinear", "fold", "full", "mode", "strided", "trace", "zeros"}
EXCUSE = re.compile(r"(//|#).*\bnot an op\b")


def op_names():
    """Full names (max.dim) and public ones."""
    import lathe

    rows = lathe._lathe._definitions()
    return {row[key] for row in rows for key in ("name", "public_name")} - WORDS


def literals(path, text):
    """(line, contents) of the string literals of a C++ or Python file, docstrings left out."""
    if not path.endswith(".py"):
        return [(line_of(text, offset), literal) for offset, literal in strings_of_cpp(text)]
    nodes = list(ast.walk(ast.parse(text)))
    docs = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
    return [
        (n.lineno, n.value)
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
    ]


def check(tree):
    result = Result()
    names = op_names()
    excused = looked = 0
    for path in tree.sources(suffixes=(".cpp", ".h", ".hpp", ".py")):
        if ALLOWED.match(path):
            continue
        looked += 1
        text = tree.text(path)
        lines = text.splitlines()
        for line, literal in literals(path, text):
            if literal not in names:
                continue
            if EXCUSE.search(lines[line - 1]):
                excused += 1
            else:
                result.problems.append(f'{path}:{line}: names the op "{literal}"')
    result.figure = f"{len(names)} ops, {looked} files, {excused} excused"
    return result
