"""Line 1: a fresh machine, and what a change has to pass."""

import re

from ..proof import Line, Missing, existing, green, require, run

LINE = Line(1, "From a clean clone in a fresh Debian root; .ci/run green in time")
BARE, WARM = 45 * 60, 12 * 60  # seconds


@LINE.part("demo, tests and .ci/run in a fresh Debian root", minutes=90)
def fresh_root():
    done = run("fresh-root", existing("tests/prove/fresh_root.sh"), timeout=4 * 3600)
    times = dict(re.findall(r"^fresh root: (.+): (\d+) s$", done.text, re.M))
    if done.code != 0:
        problem = re.findall(r"^fresh root: .*", done.text, re.M) or ["it printed nothing"]
        raise Missing(f"{problem[-1]}; whole log: {done.log}")
    total = sum(map(int, times.values()))
    require(total < BARE, f"{total} s in all, at most {BARE} s")
    return ", ".join(f"{what} {seconds} s" for what, seconds in times.items())


@LINE.part(".ci/run on a built tree", minutes=10)
def warm():
    done = run("ci", existing(".ci/run"))
    figure = green(done)
    require(done.seconds < WARM, f"{done.seconds:.0f} s, at most {WARM} s")
    return figure
