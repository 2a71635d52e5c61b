"""Functions and methods take the calls that PyTorch's of the same name take.

tests/signatures/torch.txt says what those look like, tests/signatures/differences.txt where Lathe
differs and why. A difference that is not listed fails, and so does a listed one that is none.
"""

import fnmatch
import importlib
import sys
from pathlib import Path

from tree import Result

NAME = "signatures"
LIST = "tests/signatures/differences.txt"


def modules():
    folder = str(Path(__file__).resolve().parents[1] / "signatures")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return [importlib.import_module(name) for name in ("table", "ours", "mismatch")]


def listed(tree):
    """[(line, pattern of names, difference)] of the list; a line is 'name: difference: reason'."""
    for number, line in enumerate(tree.text(LIST).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = line.split(": ", 2)
            yield number, parts[0], parts[1] if len(parts) > 1 else "", len(parts) == 3


def check(tree):
    table, ours, mismatch = modules()
    result = Result()
    found, names = [], 0
    for name in table.names():
        have = ours.overloads(name)
        if have is None:
            continue
        names += 1
        theirs = table.overloads(name)
        if not theirs[0].attribute and have:
            found += [(name, d) for d in mismatch.differences(have, theirs)]
    known = list(listed(tree))
    for number, pattern, difference, has_reason in known:
        if not has_reason:
            result.problems.append(f"{LIST}:{number}: not 'name: difference: reason'")
        if not any(fnmatch.fnmatch(n, pattern) and d == difference for n, d in found):
            result.problems.append(f"{LIST}:{number}: {pattern}: {difference}: no longer so")
    for name, difference in found:
        if not any(fnmatch.fnmatch(name, p) and d == difference for _, p, d, _ in known):
            result.problems.append(f"{LIST}:1: {name}: {difference}: not listed")
    result.figure = f"{names} of {len(table.names())} names, {len(found)} differences listed"
    return result
