"""Reads torch.txt and constructors.txt: what PyTorch's functions, methods, attributes and the
classes of nn, optim and utils.data look like from outside.

overloads("torch.add")  -> [Signature, ...]; KeyError for a name that is not there
names("Tensor.")        -> the names below a prefix, in the order of the table
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

TABLES = [Path(__file__).with_name(name) for name in ("torch.txt", "constructors.txt")]


@dataclass(frozen=True)
class Parameter:
    """kind: 'positional' (also by name), 'place', 'keyword', '*' or '**'; default: its text.

    'place' is by its place alone, 'keyword' by its name alone. A default of None: there is none.
    """

    name: str
    types: tuple[str, ...]
    kind: str
    default: str | None

    def value(self):
        """The default as a Python value; the names of dtypes and the like stay text."""
        try:
            return ast.literal_eval(self.default)
        except ValueError:
            return self.default


@dataclass(frozen=True)
class Signature:
    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    attribute: bool = False


@functools.cache
def table() -> dict[str, list[Signature]]:
    found = {}
    for line in [line for path in TABLES for line in path.read_text().splitlines()]:
        if line and not line.startswith("#"):
            signature = parse(line)
            found.setdefault(signature.name, []).append(signature)
    return found


def overloads(name: str) -> list[Signature]:
    return table()[name]


def names(prefix: str = "") -> list[str]:
    return [n for n in table() if n.startswith(prefix)]


def parse(line: str) -> Signature:
    """One line. Raises SyntaxError where it is not one."""
    name, bracket, rest = line.partition("(")
    if not bracket:
        return Signature(name, (), "", attribute=True)
    text = re.sub(r"\bfrom:", "from_:", rest)  # the one keyword of Python that is a name here
    definition = ast.parse(f"def f({text}: ...").body[0]
    a = definition.args
    plain = a.posonlyargs + a.args
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    kinds = ["place"] * len(a.posonlyargs) + ["positional"] * len(a.args)
    out = [parameter(p, k, d) for p, k, d in zip(plain, kinds, defaults, strict=True)]
    out += [parameter(a.vararg, "*", None)] if a.vararg else []
    out += [parameter(p, "keyword", d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    out += [parameter(a.kwarg, "**", None)] if a.kwarg else []
    back = ast.unparse(definition.returns) if definition.returns else ""
    return Signature(name, tuple(out), back)


def parameter(node: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
    types = alternatives(node.annotation) if node.annotation else []
    name = node.arg.removesuffix("_") if node.arg == "from_" else node.arg
    return Parameter(name, tuple(types), kind, default and ast.unparse(default))


def alternatives(node: ast.expr) -> list[str]:
    if isinstance(node, ast.BinOp):
        return alternatives(node.left) + alternatives(node.right)
    return [ast.unparse(node)]
