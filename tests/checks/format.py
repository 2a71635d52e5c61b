"""C++ is as clang-format leaves it, Python as ruff format does, and headings are whole.

A heading is a comment `── words ───` on a line of its own. clang-format breaks one that is too long
before its rule, and then joins what follows to the rule; no later run of it mends that.

python tests/checks/format.py --fix [PATH...] rewrites the files that are not.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tree import CPP, Result, Tree, line_of

NAME = "format"

CLANG_FORMAT = "clang-format-14"
PYTHON = (".py", ".pyi")
RULE = re.compile(r"^[ \t]*(?://+|#|/?\*)[ \t]*─.*$", re.M)
HEADING = re.compile(r"[^─]*── [^─]*[^─ ] ─+(?: \*/)?")


def formatted(tree, path):
    """What the formatter makes of a file."""
    command = [CLANG_FORMAT, f"--assume-filename={path}"]
    if path.endswith(PYTHON):
        command = [sys.executable, "-m", "ruff", "format", "--no-cache", f"--stdin-filename={path}"]
    text = (tree.root / path).read_bytes()
    return subprocess.run(
        command, input=text, cwd=tree.root, capture_output=True, check=True
    ).stdout


def unformatted(tree, paths):
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        texts = pool.map(lambda p: formatted(tree, p), paths)
        return [p for p, text in zip(paths, texts, strict=True) if text != tree.bytes(p)]


def broken_headings(tree, path):
    text = tree.text(path)
    return [
        f"{path}:{line_of(text, match.start())}: a heading ends where its rule does, on its line"
        for match in RULE.finditer(text)
        if not HEADING.fullmatch(match.group(0))
    ]


def check(tree):
    paths = tree.sources(suffixes=(*CPP, ".c", *PYTHON))
    bad = unformatted(tree, paths)
    problems = [f"{p}:1: not formatted (./dev format {p})" for p in bad]
    problems += [problem for p in paths for problem in broken_headings(tree, p)]
    return Result(problems, f"{len(paths)} files")


def fix(tree, wanted):
    paths = tree.sources(suffixes=(*CPP, ".c", *PYTHON))
    if wanted:
        folders = tuple(w.rstrip("/") + "/" for w in wanted)
        paths = [p for p in paths if p in wanted or p.startswith(folders)]
    bad = unformatted(tree, paths)
    for path in bad:
        (tree.root / path).write_bytes(formatted(tree, path))
        print(f"formatted {path}")
    print(f"{len(bad)} of {len(paths)} files formatted")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--fix"]:
        sys.exit(__doc__)
    fix(Tree(Path(__file__).resolve().parents[2]), sys.argv[2:])
