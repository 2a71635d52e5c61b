"""Objects compiled for an instruction set define no weak symbol.

The linker keeps one of several weak copies for the whole program; if it is the AVX-512 one, an
older machine stops with an illegal instruction in code that had nothing to do with strips.
"""

import re

from compile_flags import STRIP
from tree import Result, run

NAME = "weak symbols"

WEAK = re.compile(r"^\S*\s+([WVu])\s+(.*)$", re.M)
HARMLESS = "DW.ref.__gxx_personality_v0"


def check(tree):
    result = Result()
    objects = [o for o in tree.our_objects("kernels") if STRIP.match(o.source)]
    for entry in objects:
        for _, name in WEAK.findall(run(["nm", "-C", "--defined-only", entry.path])):
            if name != HARMLESS:
                result.problems.append(f"{entry.source}: weak symbol {name}")
    result.figure = f"{len(objects)} objects"
    return result
