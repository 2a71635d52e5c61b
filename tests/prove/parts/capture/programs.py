"""Line 4: random programs, in every mode the same bytes."""

import re

from ..proof import BUILD, Line, existing, require, run

LINE = Line(4, "Random programs with control flow: the same bytes in every mode", proof="capture")
PROGRAMS, QUICK = 20_000, 2_000


def programs(count):
    tool = existing(BUILD / "bin/lathe_bits")
    done = run("bits", tool, "--gtest_filter=RandomPrograms.SlowRandomPrograms",
               timeout=14_400, LATHE_BITS=str(count))  # fmt: skip
    bad = re.findall(r"^seed \d+ differs in: [^:]*", done.text, re.M)
    require(done.code == 0 and not bad, f"{'; '.join(bad[:3])}; whole log: {done.log}")
    return f"{count} programs, gradients through a traced call too"


@LINE.part("20,000 programs: eager, trace, text, file, C++, and gradients", minutes=120,
           quick=lambda: programs(QUICK))  # fmt: skip
def all_programs():
    return programs(PROGRAMS)
