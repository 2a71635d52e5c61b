"""What a first call of a traced function costs as the function grows.

    ./dev python tests/bench/capture.py [idiom ...] [--steps 10 100 1000]

Each line is one idiom, repeated; the last column is the time per step at the largest count over
that at the smallest one that takes a millisecond: at most about 1 where the cost is linear.
"""

import argparse
import subprocess
import sys
import time

import lathe as lt


def tails(n, x):
    for _ in range(n):
        x = x[1:]
    return x + 1


def windows(n, x):
    for _ in range(n):
        x = x[1:-1]
    return x + 1


def clips(n, x):
    for i in range(n):
        x = x[: 5000 - i]
    return x + 1


def rolls(n, x):
    for _ in range(n):
        x = lt.cat([x[1:], x[:1]])
    return x


def caches(n, x, new):
    for _ in range(n):
        x = lt.cat([x, new])[-64:]
    return x


def joins(n, x, new):
    for _ in range(n):
        x = lt.cat([x, new])
    return x


def pads(n, x):
    for _ in range(n):
        x = lt.nn.functional.pad(x, [1, 1])[1:]
    return x


def views(n, x):
    for _ in range(n):
        x = x.reshape([-1, 1]).reshape([-1])
    return x + 1


def narrows(n, x):
    for _ in range(n):
        x = x.narrow(0, 1, x.shape[0] - 1)
    return x + 1


def strides(n, x):
    for _ in range(n):
        x = lt.cat([x[::2], x[1::2]])
    return x


def elementwise(n, x):
    for _ in range(n):
        x = x * 1.0001 + 0.5
    return x


def adds(n, *xs):
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def inputs_for(idiom, n):
    if idiom is adds:
        return [lt.ones([8]) for _ in range(n)]
    if idiom in (caches, joins):
        return [lt.ones([5]), lt.ones([3])]
    return [lt.ones([5000])]


IDIOMS = (
    tails,
    windows,
    clips,
    rolls,
    caches,
    joins,
    pads,
    views,
    narrows,
    strides,
    elementwise,
    adds,
)


# Neither the library nor a kernel's compiler counts: Python's side of the first trace alone.
FIRST_TRACE = """
import time
import lathe as lt
x = lt.ones(3)
began = time.perf_counter()
lt.trace(lambda x: x[1:])
print(time.perf_counter() - began)
"""


def first_trace():
    """Milliseconds of the first `lt.trace` of a process: the least of nine processes."""
    command = [sys.executable, "-c", FIRST_TRACE]
    return min(float(subprocess.check_output(command)) for _ in range(9)) * 1e3


def first_call(idiom, n):
    """Seconds of the call that captures and compiles."""
    traced = lt.trace(lambda *xs: idiom(n, *xs))
    xs = inputs_for(idiom, n)
    began = time.perf_counter()
    traced(*xs)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("idioms", nargs="*", help="names; default: all")
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100, 1000])
    options = parser.parse_args()
    first_call(elementwise, 2)  # what a process does once
    print(f"the first lt.trace of a process: {first_trace():.1f} ms")
    print(f"{'':12s}" + "".join(f"{n:>12d}" for n in options.steps) + "       ratio")
    for idiom in IDIOMS:
        if options.idioms and idiom.__name__ not in options.idioms:
            continue
        took = [first_call(idiom, n) for n in options.steps]
        per_step = [t / n for t, n in zip(took, options.steps, strict=True) if t > 1e-3]
        ratio = f"{per_step[-1] / per_step[0]:12.2f}" if per_step else f"{'-':>12s}"
        cells = "".join(f"{t * 1e3:9.1f} ms" for t in took)
        print(f"{idiom.__name__:12s}{cells}{ratio}", flush=True)


if __name__ == "__main__":
    main()
