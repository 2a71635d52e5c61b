"""Promotion, casts and integers at their ends, against PyTorch: tests/dtypes/torch.txt."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

import lathe as lt

TABLE = Path(__file__).resolve().parents[2] / "dtypes/torch.txt"
SHORT = {
    "bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "c128": "complex128",
}  # fmt: skip
DTYPES = {short: getattr(lt, name) for short, name in SHORT.items() if hasattr(lt, name)}
NUMBERS = {"True": True, "1": 1, "1.5": 1.5, "1j": 1j}
PAIRS = {
    "promote_types": None,  # of the dtypes themselves
    "result_type": lt.result_type,
    "add": lambda x, y: (x + y).dtype,
    "div": lambda x, y: (x / y).dtype,
    "pow": lambda x, y: (x**y).dtype,
    "eq": lambda x, y: (x == y).dtype,
    "where": lambda x, y: lt.where(lt.tensor(True), x, y).dtype,
    "cat": lambda x, y: lt.cat([x.reshape(1), y.reshape(1)]).dtype,
}
# What is otherwise here, as a pattern of "op: dtypes: other", and why.
DIFFERENT = {
    r"(div|pow): .*(c64|c128|1j).*": "quotients and powers of complex numbers are not written yet",
    r"pow: (0 )?bool number: True": "powers are of numbers",
    r".*: 0 u(16|32|64) number: 1j": "a complex number is a tensor without axes",
    r"eq: .*u(16|32|64).*": "a comparison has an answer where the operands have a common dtype",
}
# Likewise of "expression: dtype".
OTHER_VALUES = {r"m\.sign\(x\): f.*": "the sign of a NaN is NaN, as NumPy's"}
# Expressions whose result PyTorch itself states to a few roundings only.
ROUNDED = {"x ** y", "m.mean(x.double())"}


def lines(of_values):
    for text in TABLE.read_text().splitlines():
        if not text.startswith("#") and (" -> " in text) == of_values:
            yield text


# ── dtypes ────────────────────────────────────────────────────────────────────────────────────


def pairs():
    """(op, the operands' dtypes, the other's, the result's)."""
    for text in lines(False):
        op, what, row = (part.strip() for part in text.split(":"))
        for cell in row.split():
            other, result = cell.split("=")
            known = {*what.split(), other, result} & set(SHORT)
            if {"f64", "c64"} <= known or ("f64" in known and other == "1j"):
                known.add("c128")
            if known <= set(DTYPES):
                yield op, what, other, result


def tensor(short, axes):
    return lt.ones(axes).to(DTYPES[short])


def is_different(text, table):
    return any(re.fullmatch(pattern, text) for pattern in table)


@pytest.mark.parametrize("op", PAIRS)
def test_dtypes_of_pairs(op):
    wrong, seen = [], 0
    for name, what, other, expected in pairs():
        if name != op or is_different(f"{op}: {what}: {other}", DIFFERENT):
            continue
        words = what.split()
        first, short = ((), words[1]) if words[0] == "0" else ((1,), words[0])
        second = () if words[-1] == "0" else (1,)
        if op == "promote_types":
            got = lt.promote_types(DTYPES[short], DTYPES[other])
        else:
            y = NUMBERS[other] if words[-1] == "number" else tensor(other, second)
            got = PAIRS[op](tensor(short, first), y)
        seen += 1
        if got is not DTYPES[expected]:
            wrong.append(f"{what}: {other} gives {got.name}, not {expected}")
    assert not wrong
    assert seen >= 100


def test_dtypes_of_pairs_that_pytorch_refuses():
    """All with a wide unsigned integer; the array-API standard and NumPy say what they meet in."""
    met = {(what, other) for op, what, other, _ in pairs() if op == "promote_types"}
    refused = set()
    for a, b in itertools.product(DTYPES, DTYPES):
        if (a, b) in met:
            continue
        assert {a, b} & {"u16", "u32", "u64"}
        found = {"c64", "c128"} & {a, b}
        theirs = min(found) if found else str(np.promote_types(SHORT[a], SHORT[b]))
        if theirs == "float64":  # no integer holds those of both
            refused.add(frozenset((a, b)))
            with pytest.raises(lt.DTypeError):
                lt.promote_types(DTYPES[a], DTYPES[b])
            with pytest.raises(lt.DTypeError):
                tensor(a, (1,)) + tensor(b, (1,))
        else:
            expected = DTYPES.get(theirs) or getattr(lt, theirs)
            assert lt.promote_types(DTYPES[a], DTYPES[b]) is expected
            assert (tensor(a, (1,)) + tensor(b, (1,))).dtype is expected
    assert refused == {frozenset(("u64", i)) for i in ("i8", "i16", "i32", "i64")}


# ── values ────────────────────────────────────────────────────────────────────────────────────


def values():
    for text in lines(True):
        expression, short, given, result = re.fullmatch(r"(.*): (\w+): (.*) -> (.*)", text).groups()
        target = re.fullmatch(r"x\.to\(m\.(\w+)\)", expression)
        known = {short, result.split()[0]} <= set(DTYPES)
        if known and (not target or hasattr(lt, target[1])):
            yield expression, short, given, result


def numbers(text):
    return eval(text, {"inf": math.inf, "nan": math.nan})


def same(a, b, rounded):
    if isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, rounded) for x, y in zip(a, b))
    if a != a or b != b:
        return a != a and b != b
    return a == pytest.approx(b, rel=1e-6) if rounded else a == b


EXPRESSIONS = sorted({expression for expression, *_ in values()})


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression):
    for text, short, given, result in values():
        if text != expression or is_different(f"{expression}: {short}", OTHER_VALUES):
            continue
        kind, expected = result.split()
        tensors = [lt.tensor(numbers(part), dtype=DTYPES[short]) for part in given.split()]
        got = eval(expression, {"m": lt, "x": tensors[0], "y": tensors[-1]})
        assert got.dtype is DTYPES[kind], short
        assert same(got.tolist(), numbers(expected), expression in ROUNDED), (short, given)


def test_an_overflowing_cast_saturates():
    """Where PyTorch leaves it to the processor."""
    x = lt.tensor([-1.5, 1e30, -1e30, math.nan])
    assert x.to(lt.uint8).tolist() == [0, 255, 0, 0]
    assert x.to(lt.int64).tolist() == [-1, 2**63 - 1, -(2**63), 0]
    least = lt.tensor([-128], dtype=lt.int8)
    assert (least // -1).tolist() == (-least).tolist() == lt.abs(least).tolist() == [-128]
    assert (least % -1).tolist() == [0]
    for divide in (lambda: least // 0, lambda: least % 0):
        with pytest.raises(lt.ValueError):
            divide()
