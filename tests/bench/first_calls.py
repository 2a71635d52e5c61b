"""What first calls of traced functions cost, in fresh processes pinned to one core.

    ./dev python tests/bench/first_calls.py [function] [networks] [graphs] [--json FILE]

function: 20 pointwise ops, from before `import lathe.jit` to the first result; with kernels kept in
a folder (cached) and without (cold). networks: as tests/bench/costs.py has it, cold and cached.
graphs: a chain of 10,000 ops and one of 1,000 slices, captured, rewritten and planned.

Prints PASS or FAIL for each, with its bar; ends with "N passed, N failed".
"""

import math
import statistics
import tempfile

from costs import FIRST_CALL, line, main
from process_rows import python

PROCESSES = 5
FUNCTION = """
import json, time
import lathe as lt
x = lt.arange(1 << 12, dtype=lt.float32) * 1e-3
began = time.perf_counter()
import lathe.jit
@lt.trace
def f(x):
    for k in range(10):
        x = lt.tanh(x) * (k + 0.5)
    return x
f(x)
print(json.dumps({"ms": (time.perf_counter() - began) * 1e3}))
"""
GRAPHS = {
    "10,000 nodes": (1000, "for k in range(10_000):\n        x = x + k if k % 2 else x.sin()"),
    "1,000 chained slices": (500, "for _ in range(1000):\n        x = x[1:]"),
}
GRAPH = """
import json, time
import lathe as lt
x = lt.arange(1 << 12, dtype=lt.float32)
@lt.trace
def f(x):
    return x + 1
f(x)
@lt.trace
def g(x):
    {}
    return x
began = time.perf_counter()
g(x)
print(json.dumps({{"ms": (time.perf_counter() - began) * 1e3}}))
"""
NETWORKS = {"ResNet-50": (300, 100), "BERT-base": (800, 300)}  # milliseconds, cold and cached


def told(kind, what, times, most):
    figure = statistics.median(times)
    return line(kind, what, figure, figure <= most, f"{figure:.1f} ms (at most {most:g})")


def cold_and_cached(code, of):
    """What `of` makes of a program's answer in fresh processes: without kept kernels, and with."""
    cold = []
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(of(python(code, LATHE_CACHE_DIR=folder)))
    with tempfile.TemporaryDirectory() as folder:
        python(code, LATHE_CACHE_DIR=folder, LATHE_ENGINE="llvm")
        cached = [of(python(code, LATHE_CACHE_DIR=folder)) for _ in range(PROCESSES)]
    return cold, cached


def function():
    cold, cached = cold_and_cached(FUNCTION, lambda got: got["ms"])
    yield told("function", "20 ops, cold", cold, 15)
    yield told("function", "20 ops, cached", cached, 3)


def over_eager(got):
    """Milliseconds of a first call over a call of the network itself, whose bits it has to have."""
    return 1e3 * (got["first"] - got["eager"]) if got["same"] else math.inf


def networks():
    for name, bars in NETWORKS.items():
        both = cold_and_cached(FIRST_CALL.format(name), over_eager)
        for how, times, most in zip(("cold", "cached"), both, bars):
            yield told("networks", f"{name}, {how}", times, most)


def graphs():
    for name, (most, body) in GRAPHS.items():
        times = [python(GRAPH.format(body))["ms"] for _ in range(3)]
        yield told("graphs", name, times, most)


KINDS = {"function": function, "networks": networks, "graphs": graphs}


if __name__ == "__main__":
    main(KINDS, __doc__)
