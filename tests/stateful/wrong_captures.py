"""Captures that are wrong on purpose, each in one way, and what is made of each.

Prints a line for every capture of CAPTURES over PROGRAM and for every text of BROKEN: name, verdict
and reason. tests/python/jit/test_stateful.py says what they have to be.
"""

import contextlib
import functools
import io
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

import lathe as lt  # noqa: E402
from stateful import execute, judge  # noqa: E402

PROGRAM = """
import types

import lathe as lt

raises = (KeyError,)
KEPT = [1, 2]


def make():
    return types.SimpleNamespace(n=0, t=lt.ones(2), d={"k": 2.0}, one=lt.ones(1), log=[])


def step(w, x):
    w.n += 1
    w.t.add_(1)
    print("step", w.n)
    return x * w.d["k"], w.t, w.log


def calls(w):
    yield (lt.ones(2),)
    w.d["k"] = 3.0
    yield (lt.ones(2),)
    w.d.clear()
    yield (lt.ones(2),)
"""
PURE = """
import lathe as lt


def step(x):
    return x * 2


def calls(w):
    yield (lt.ones(2),)
    yield (lt.ones(2),)
    yield (lt.ones(3),)
"""
BROKEN = {
    "raises": PROGRAM.replace("raises = (KeyError,)", "raises = ()"),
    "changes": PROGRAM.replace('w.d["k"] = 3.0', 'w.missing["k"] = 3.0'),
    "no_world": PROGRAM.replace("return types", "return typo"),
    "no_call": PROGRAM.replace("    yield (lt.ones(2),)", "    yield from ()"),
}
CAPTURES = {}
REFUSAL = "no\n  at: program.py:7"


def wrong(call):
    """Adds the capture that calls `call(f, w, x)` in place of f(w, x)."""
    CAPTURES[call.__name__] = lambda f: functools.partial(call, f)
    return call


@wrong
def nothing(f, w, x):
    return f(w, x)


@wrong
def another_element(f, w, x):
    y, t, log = f(w, x)
    return y + 1e-6, t, log


@wrong
def copied_tensor(f, w, x):
    y, t, log = f(w, x)
    return y, t.clone(), log


@wrong
def copied_list(f, w, x):
    y, t, log = f(w, x)
    return y, t, list(log)


@wrong
def another_dtype(f, w, x):
    y, t, log = f(w, x)
    return y.to(lt.float64), t, log


@wrong
def another_type(f, w, x):
    return list(f(w, x))


@wrong
def written_dict(f, w, x):
    k = w.d.get("k")
    try:
        return f(w, x)
    finally:
        w.d["k"] = k


@wrong
def another_random_number(f, w, x):
    lt.rand(1)
    return f(w, x)


@wrong
def printed_nothing(f, w, x):
    with contextlib.redirect_stdout(io.StringIO()):
        return f(w, x)


@wrong
def another_gradient(f, w, x):
    w.one.grad = lt.ones(1)
    return f(w, x)


@wrong
def requires_gradient(f, w, x):
    w.one.requires_grad_()
    return f(w, x)


@wrong
def written_global(f, w, x):
    f.__globals__["KEPT"].append(3)
    return f(w, x)


@wrong
def raised_nothing(f, w, x):
    w.d.setdefault("k", 0.0)
    return f(w, x)


@wrong
def another_mode(f, w, x):
    lt.set_grad_enabled(False)
    return f(w, x)


@wrong
def refusal(f, w, x):
    raise lt.TraceError(REFUSAL)


@wrong
def refusal_without_line(f, w, x):
    raise lt.TraceError("no line")


@wrong
def refusal_that_leaves_a_trace(f, w, x):
    w.n += 1
    raise lt.TraceError(REFUSAL)


@wrong
def died(f, w, x):
    os.abort()


@wrong
def hung(f, w, x):
    time.sleep(60)


class Counting:
    """A capture that traces at each call."""

    def __init__(self, f):
        self.f, self.counts = f, {"traces": 0, "calls": 0}

    def __call__(self, w, x):
        self.counts["calls"] += 1
        self.counts["traces"] += 1
        return self.f(w, x)


CAPTURES["a_trace_each"] = Counting


def main():
    execute.SECONDS = 2
    runs = [(name, capture, PROGRAM) for name, capture in CAPTURES.items()]
    runs += [(name, lambda f: f, text) for name, text in BROKEN.items()]
    runs.append(("pure", lt.trace, PURE))
    for name, capture, text in runs:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.py"
            path.write_text(text)
            execute.capture_of = lambda mode, c=capture: (lambda f: f) if mode == "eager" else c
            reports = execute.run_all([path], ["trace"], 1, folder)
        found = judge.judge(reports[path, "eager"], reports[path, "trace"], 2)
        first = found.why.split("\n")[0]
        counts = f"{found.calls} calls, {found.traces} traces, {found.served} served"
        print(f"{name} | {found.verdict} | {first} | {counts}")


if __name__ == "__main__":
    main()
