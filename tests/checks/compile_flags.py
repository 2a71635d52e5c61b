"""Every compile command has -ffp-contract=off, and only strip files have instruction-set flags."""

import re

from tree import Result

NAME = "compile flags"

STRIP = re.compile(r"kernels/.*(avx2|avx512)[^/]*\.cpp$")
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
        if isa and ours and not STRIP.match(entry.source):
            result.problems.append(f"{entry.source}: compiled with -m{isa.group(1)}")
    result.figure = f"{len(tree.objects)} compile commands"
    return result
