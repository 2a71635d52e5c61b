#!/usr/bin/env python3
"""Writes torch.txt: what PyTorch makes of pairs of dtypes, of casts, and of integers at their ends.

Run with a Python that has torch (2.9.1, CPU) and NumPy:

    python tests/dtypes/make.py

It imports nothing of Lathe's, and the tests read the file only, so that they run without PyTorch.
The table is reviewed as a diff; tests/python/core/test_dtype_tables.py compares, and holds the
differences.

Two kinds of lines. Of dtypes, where x and y are tensors with axes, tensors without (0) or numbers:

    add: i8 0: bool=i8 u8=u8 ...        the dtype of x + y for an int8 x and a y without axes

a dtype is left out where PyTorch refuses, be it for want of a kernel. Of values:

    x // y: i8: [-128, 7] [-1, -2] -> i8 [-128, -4]
"""

import itertools
import warnings
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent

SHORT = {
    "bool": "bool", "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "complex128": "c128",
}  # fmt: skip
NUMBERS = {"True": True, "1": 1, "1.5": 1.5, "1j": 1j}
PAIRS = {
    "promote_types": None,  # of the dtypes themselves
    "result_type": lambda x, y: torch.result_type(x, y),
    "add": lambda x, y: (x + y).dtype,
    "div": lambda x, y: (x / y).dtype,
    "pow": lambda x, y: (x**y).dtype,
    "eq": lambda x, y: (x == y).dtype,
    "where": lambda x, y: torch.where(torch.tensor(True), x, y).dtype,
    "cat": lambda x, y: torch.cat([x.reshape(1), y.reshape(1)]).dtype,
}


def short(dtype):
    return SHORT.get(str(dtype).removeprefix("torch."))  # None: one that Lathe has not


def answer(f, *args):
    try:
        return f(*args)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return None


def pair_lines():
    dtypes = [getattr(torch, name) for name in SHORT]
    tensors = {d: torch.ones(1).to(d) for d in dtypes}
    points = {d: torch.ones(()).to(d) for d in dtypes}
    for op, f in PAIRS.items():
        if f is None:
            for a in dtypes:
                yield row(f"{op}: {short(a)}:", dtypes, lambda b, a=a: torch.promote_types(a, b))
            continue
        for a in dtypes:
            yield row(f"{op}: {short(a)}:", dtypes, lambda b, a=a, f=f: f(tensors[a], tensors[b]))
            if op == "cat":
                continue
            yield row(f"{op}: {short(a)} 0:", dtypes, lambda b, a=a, f=f: f(tensors[a], points[b]))
            yield row(f"{op}: 0 {short(a)} 0:", dtypes, lambda b, a=a, f=f: f(points[a], points[b]))
            for kind, x in (("", tensors[a]), ("0 ", points[a])):
                found = {n: answer(f, x, v) for n, v in NUMBERS.items()}
                text = " ".join(f"{n}={short(d)}" for n, d in found.items() if d and short(d))
                yield f"{op}: {kind}{short(a)} number: {text}"


def row(start, dtypes, f):
    found = {b: answer(f, b) for b in dtypes}
    return f"{start} " + " ".join(
        f"{short(b)}={short(d)}" for b, d in found.items() if d and short(d)
    )


# Expressions over tensors x and y (a list of numbers each) and the module m.
INTEGERS = [
    "x + y", "x - y", "x * y", "x // y", "x % y", "m.fmod(x, y)", "m.div(x, y)",
    "m.div(x, y, rounding_mode='trunc')", "m.div(x, y, rounding_mode='floor')", "-x", "m.abs(x)",
    "m.square(x)", "x ** 2", "x ** 3", "m.sign(x)", "m.bitwise_not(x)", "m.maximum(x, y)",
    "x < y", "x >= y",
    "x == y", "x.sum()", "x.prod()", "x.cumsum(0)", "x.amax()", "x.amin()", "x.argmax()",
    "m.sort(x)[0]", "x & y", "x | y", "x ^ y", "x.to(m.float32)", "x.to(m.float64)", "x.bool()",
    "m.mean(x.double())", "m.where(x > y, x, y)", "m.clamp(x, 1, 100)",
]  # fmt: skip
FLOATS = [
    "x // y", "x % y", "m.fmod(x, y)", "m.div(x, y)", "m.div(x, y, rounding_mode='trunc')",
    "m.div(x, y, rounding_mode='floor')", "x ** y", "m.maximum(x, y)", "m.minimum(x, y)", "x < y",
    "x == y", "x != y", "m.sign(x)", "x.bool()", "m.round(x)", "m.trunc(x)",
]  # fmt: skip


def ends(dtype):
    info = torch.iinfo(dtype)
    least, most = info.min, info.max
    small = [0, 1, 7, 100] + ([-1, -7] if least < 0 else [])
    return [least, least + 1, most, most - 1, most // 2 + 1, *small]


def value_lines():
    inf, nan = float("inf"), float("nan")
    integers = [d for n, d in vars(torch).items() if n in SHORT and ("int" in n)]
    for dtype in integers:
        least = torch.iinfo(dtype).min
        pairs = [
            (x, y)
            for x, y in itertools.product(ends(dtype), repeat=2)
            if y != 0 and (x, y) != (least, -1)  # PyTorch ends the process there
        ]
        xs, ys = ([p[k] for p in pairs] for k in (0, 1))
        for expression in INTEGERS:
            # What sees all elements at once is asked for the ends alone.
            whole = "x." in expression and "(" in expression and "to(" not in expression
            given = (ends(dtype), ends(dtype)) if whole or "y" not in expression else (xs, ys)
            yield from line(expression, dtype, *given)
    floats = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, -7.0, inf, -inf, nan]
    pairs = list(itertools.product(floats, repeat=2))
    for dtype in (torch.float32, torch.float64):
        for expression in FLOATS:
            both = "y" in expression
            xs, ys = ([p[k] for p in pairs] for k in (0, 1))
            yield from line(expression, dtype, xs if both else floats, ys if both else floats)
    yield from cast_lines()


def cast_lines():
    """Only what is in range: PyTorch leaves the rest to the processor."""
    for source, target in itertools.product(SHORT, SHORT):
        a, b = getattr(torch, source), getattr(torch, target)
        if a.is_complex or b.is_complex or a is b:
            continue
        if a.is_floating_point:
            xs = [0.0, 1.0, 2.5, 100.75, -0.5]
            if b.is_signed or b is torch.bool:
                xs += [-2.5, -100.75]
            if b.is_floating_point or b is torch.bool:
                xs += [float("inf"), float("nan"), 65504.0, 1e-7]
        elif a is torch.bool:
            xs = [False, True]
        else:
            xs = ends(a)  # integers wrap
        yield from line(f"x.to(m.{target})", a, xs, xs[:1])


def line(expression, dtype, xs, ys):
    def values():
        x, y = torch.tensor(xs, dtype=dtype), torch.tensor(ys, dtype=dtype)
        return eval(expression, {"m": torch, "x": x, "y": y})

    result = answer(values)
    if result is None or short(result.dtype) is None:
        return
    both = " " + str(ys).replace(" ", "") if "y" in expression else ""
    given = str(xs).replace(" ", "") + both
    yield f"{expression}: {short(dtype)}: {given} -> {short(result.dtype)} " + str(
        result.tolist()
    ).replace(" ", "")


def main():
    warnings.simplefilter("ignore")
    lines = [f"# PyTorch {torch.__version__.split('+')[0]}. Made by make.py, read by the tests."]
    lines += [*pair_lines(), *value_lines()]
    (HERE / "torch.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
