"""What Lathe's functions and methods look like from outside, in the terms of table.py.

    overloads("nn.functional.relu")  -> [Signature, ...]; None where Lathe has no such name

Names are those of the tables: `torch.` stands for `lathe.`. This is the one place that knows where
the module keeps signatures: ops have the schemas of their overloads, Python functions tell
`inspect`, and methods written in C++ begin their docstrings with theirs.
"""

from __future__ import annotations

import functools
import inspect
import re

import table
from table import Parameter, Signature

import lathe as lt

# What creators take beside their schema, and every function: python/bindings/callable.h.
CREATORS = ("requires_grad", "layout", "pin_memory", "generator", "memory_format")


def find(name: str):
    """The object behind a name of the table, or None."""
    found = lt
    for part in name.removeprefix("torch.").split("."):
        owner, found = found, inspect.getattr_static(found, part, None)
        if found is None:
            found = getattr(owner, part, None)
        if found is None:
            return None
    return found


@functools.cache
def rows() -> dict[str, dict]:
    return {row["name"]: row for row in lt._lathe._definitions()}


def overloads(name: str) -> list[Signature] | None:
    value = find(name)
    if value is None:
        return None
    place = name.split(".")[0]
    if isinstance(value, type) and place not in ("torch", "Tensor"):
        return [of_python(name, value, False)]
    if table.overloads(name)[0].attribute or isinstance(value, (property, type)):
        return []
    texts = getattr(value, "schemas", None) or getattr(value, "schema", None)
    if texts:
        texts = (texts,) if isinstance(texts, str) else texts
        inplace = place == "nn" and not name.endswith("_")
        return [with_extras(schema(text, place), place, inplace) for text in texts]
    if inspect.isfunction(value):
        return [of_python(name, value, place == "Tensor")]
    lines = (value.__doc__ or "").split("\n\n")[0].split("\n")
    short = name.rsplit(".", 1)[-1]
    first = [line for line in lines if line.startswith(f"{short}(")]
    return [of_docstring(name, line, place == "Tensor") for line in first or lines[:1]]


def schema(text: str, place: str) -> Signature:
    """'add(Tensor input, Tensor other) -> Tensor' as a signature; methods lose their first."""
    name, _, rest = text.partition("(")
    inside, back = rest.rsplit(") -> ", 1)
    out, kind = [], "positional"
    for part in split(inside):
        if part == "*":
            kind = "keyword"
            continue
        declared, _, default = part.partition("=")
        types, _, param = declared.strip().rpartition(" ")
        spread = "*" if types.endswith("...") else kind
        out.append(Parameter(param, (types,), spread, default.strip() or None))
    return Signature(name, tuple(out[place == "Tensor" :]), back)


def split(text: str) -> list[str]:
    """The parts between commas that no bracket or quote encloses."""
    parts = re.findall(r"(?:[^,\[\]()'\"]|\[[^\]]*\]|\([^)]*\)|'[^']*'|\"[^\"]*\")+", text)
    return [p.strip() for p in parts if p.strip()]


def with_extras(signature: Signature, place: str, inplace: bool) -> Signature:
    """With the arguments that callables add to a schema."""
    have = {p.name for p in signature.parameters}
    out = list(signature.parameters)
    row = rows()[signature.name]
    if inplace and row.get("inplace_argument"):
        at = sum(p.kind == "positional" for p in out)
        out.insert(at, Parameter("inplace", ("bool",), "positional", "False"))
    if {"dtype", "device"} <= have and "dtype?" in {t for p in out for t in p.types}:
        out += [Parameter(n, (), "keyword", "None") for n in CREATORS if n not in have]
    if place != "Tensor":
        out.append(Parameter("out", ("Tensor", "Tensor[]"), "keyword", "None"))
    return Signature(signature.name, tuple(out), signature.returns)


KINDS = {"POSITIONAL_ONLY": "place", "POSITIONAL_OR_KEYWORD": "positional"}
KINDS |= {"KEYWORD_ONLY": "keyword", "VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def of_python(name: str, function, method: bool) -> Signature:
    out = []
    for p in list(inspect.signature(function).parameters.values())[method:]:
        default = None if p.default is p.empty else repr(p.default)
        out.append(Parameter(p.name, (), KINDS[p.kind.name], default))
    return Signature(name, tuple(out), "")


def of_docstring(name: str, line: str, method: bool) -> Signature | None:
    """From 'to(dtype, copy=False) -> Tensor'. ValueError for a docstring that begins otherwise."""
    short = name.rsplit(".", 1)[-1]
    if not line.startswith(f"{short}("):
        raise ValueError(f"{name}: the docstring does not begin with its signature: {line!r}")
    found = table.parse(name + line.removeprefix(short))
    out = found.parameters
    if method and out and out[0].name == "self":
        out = out[1:]
    return Signature(name, out, found.returns)
