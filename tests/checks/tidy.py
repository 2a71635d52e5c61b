"""clang-tidy's short list (.clang-tidy) finds nothing. Slow: only with --full or by name."""

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tree import FOLDERS, Result

NAME = "tidy"
SLOW = True

FOUND = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$", re.M)
# g++'s own flags, and the header it precompiled, mean nothing to clang.
STRANGE = re.compile(
    r"-fpch-preprocess|-Winvalid-pch|-include \S+cmake_pch\.hxx|-fno-trapping-math"
)


def tidy(tree, folder, source):
    command = ["clang-tidy-14", "--quiet", "-p", folder, source, "--extra-arg=-Wno-everything"]
    run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    return run.stdout


def check(tree):
    result = Result()
    sources = sorted({o.source for o in tree.our_objects(*FOLDERS)})
    with tempfile.TemporaryDirectory() as folder:
        commands = (tree.build / "compile_commands.json").read_text()
        Path(folder, "compile_commands.json").write_text(STRANGE.sub("", commands))
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            outputs = list(pool.map(lambda s: tidy(tree, folder, s), sources))
    root = str(tree.root.resolve()) + "/"
    found = {m for out in outputs for m in FOUND.findall(out)}
    result.problems = sorted(
        f"{path.removeprefix(root)}:{line}: {what}" for path, line, what in found
    )
    result.figure = f"{len(sources)} files"
    return result
