"""Line 7: memory that programs take, and times beside a busy process."""

import re

from ..proof import Line, measured, require

LINE = Line(7, "Peak memory, processes, 10,000 shapes, a busy neighbour", proof="kernels")
SHAPES = """
import resource, sys
import lathe as lt
from lathe import nn
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))
traced = lt.trace(model)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 10
def run(first, last):
    with lt.no_grad():
        for n in range(first, last):
            traced(lt.zeros([n % 97 + 2, n // 97 + 2, 16]))
run(9_700, 10_000)  # the largest first
before = resident()
run(0, 10_000)
print(f"{resident() - before} KiB, {len(traced.graphs())} graphs")
"""
MOST_KIB = 2048


@LINE.part("flat over 10,000 shapes", minutes=1)
def shapes():
    done = measured("kernels-shapes", "-c", SHAPES)
    figure = done.last(r"^(-?\d+ KiB, \d+ graphs)$")
    require(int(re.match(r"-?\d+", figure)[0]) <= MOST_KIB, f"{figure} more")
    return f"{figure} more"


@LINE.part("the planned peak against the lower bound, on the model set", minutes=2)
def peak():
    done = measured("kernels-memory", "tests/bench/memory.py")
    figure = done.last(r"^memory: at most (\d+\.\d+) of the least$")
    require(float(figure) <= 1.05, f"{figure} of the least")
    return f"at most {figure} of the least"


@LINE.part("resident memory against ONNX Runtime's, ResNet-50 and BERT", minutes=2)
def resident():
    done = measured("kernels-resident", "tests/bench/resident.py")
    figures = "; ".join(re.findall(r"^\S+: (?:Lathe .*)", done.text, re.M))
    worst = float(done.last(r"^resident: at most (\d+\.\d+) of ONNX Runtime's$"))
    require(worst < 1, figures)
    return figures


@LINE.part("p99 against p50 beside a busy process", minutes=2)
def neighbour():
    done = measured("kernels-busy", "tests/bench/busy.py")
    figures = "; ".join(re.findall(r"^(\S+, threads .*)", done.text, re.M))
    worst = float(done.last(r"^busy: 99 % within (\d+\.\d+) of the median"))
    require(worst <= 1.3, figures)
    return figures
