"""Every header compiles by itself and every source without the precompiled header.

Slow: only with --full or by name.
"""

import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tree import Result

NAME = "headers"
SLOW = True


FOLDERS = ("core", "kernels", "graph", "autodiff", "jit", "capi", "python", "include")
AFTER = re.compile(r"^// Included after an? (\S+\.h)\b", re.M)
INCLUDES = re.compile(r'^#include "(\S+)"', re.M)
PCH = re.compile(r"-include \S+cmake_pch\.hxx|-Winvalid-pch|-fpch-preprocess")


def command_for(entry, path):
    """The compile command of an object, changed to only read `path`, without the PCH."""
    words = shlex.split(PCH.sub("", entry.command))
    if "ccache" in words[0]:
        words = words[1:]
    flags = words[: words.index("-o")] + ["-O0", "-fsyntax-only"]
    # A header as the main file may say "pragma once" and define what it does not use.
    return [*flags, "-Wno-unused", "-w", "-x", "c++", str(path)]


def expected_before(root, path):
    """The header that this one, or one it includes, says it is included after: -include it."""
    text = (root / path).read_text()
    included = [root / name for name in INCLUDES.findall(text) if (root / name).is_file()]
    for told in (text, *(p.read_text() for p in included)):
        if found := AFTER.search(told):
            first = sorted((root / path).parent.glob(found[1]))[-1]
            return ["-include", str(first)]
    return []


def nearest(objects, path):
    """An object from as near the header as there is: it has the flags the header expects."""
    return max(objects, key=lambda entry: len(os.path.commonprefix([entry.source, path])))


def first_error(run):
    lines = run.stderr.strip().splitlines()
    return next((line for line in lines if "error:" in line), lines[0] if lines else "?")


def check(tree):
    objects = tree.our_objects(*FOLDERS, "tests")
    if not objects:
        return Result(skipped="nothing was built")
    headers = tree.sources(*FOLDERS, suffixes=(".h", ".hpp"))
    jobs = [
        (h, command_for(nearest(objects, h), tree.root / h) + expected_before(tree.root, h))
        for h in headers
    ]
    jobs += [(o.source, command_for(o, tree.root / o.source)) for o in objects]

    def compile_one(job):
        run = subprocess.run(job[1], cwd=tree.build, capture_output=True, text=True)
        return f"{job[0]}:1: {first_error(run)}" if run.returncode else None

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = [p for p in pool.map(compile_one, jobs) if p]
    return Result(problems, f"{len(headers)} headers, {len(objects)} sources")
