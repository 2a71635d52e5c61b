"""Every compile command has -ffp-contract=off, and only strip files have instruction-set flags.

So has a plug-in that is one instruction set's as a whole: it shares no code with the others."""

import re

from tree import Result

NAME = "compile flags"

STRIP = re.compile(r"kernels/.*(avx2|avx512)[^/]*\.cpp$")
PLUGIN = re.compile(r"kernels/CMakeFiles/lathe_\w+_(avx2|avx512)\.dir/")
ISA = re.compile(r"\s-m(?!32|64)(\w[\w.=-]*)")
FORBIDDEN = re.compile(
    r"\s(-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-ffp-contract=(?:fast|on))\b"
)


def check(tree):
    result = Result()
    for entry in tree.objects:
        if "-ffp-contract=off" not in entry.command.split():
            result.problems.append(f"{entry.source}: compiled without -ffp-contract=off")
        loose = FORBIDDEN.search(entry.command)
        if loose:
            result.problems.append(f"{entry.source}: compiled with {loose.group(1)}")
        isa = ISA.search(entry.command)
        ours = not entry.source.startswith("/")  # nanobind compiles its own sources as it likes
        allowed = STRIP.match(entry.source) or PLUGIN.search(entry.command)
        if isa and ours and not allowed:
            result.problems.append(f"{entry.source}: compiled with -m{isa.group(1)}")
    result.figure = f"{len(tree.objects)} compile commands"
    return result
