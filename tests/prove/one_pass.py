"""A fusion pass is one file, with its golden test: taken out of a scratch copy, which is built and
passes its golden tests, then added, built and tried again.

    ./dev python tests/prove/one_pass.py [--keep FOLDER]

Beside the file, a pass has a line where passes are declared and its rows in the pipeline.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from three_edits import ROOT, run

PASS = "join_siblings"
FILE, GOLDEN = f"graph/passes/{PASS}.cpp", f"tests/ir/{PASS}.txt"
DECLARED, PIPELINE = "graph/passes/passes.h", "graph/pipeline.cpp"
NAMES = ("kJoinSiblings", PASS)


def without(text, where):
    """The text without the lines and list items that name the pass."""
    if where == DECLARED:
        return re.sub(rf"(///[^\n]*\n)+int {PASS}\([^\n]*\n\n", "", text)
    text = re.sub(rf"constexpr Pass {NAMES[0]}[^\n]*\n|  run\.pass\({NAMES[0]}\);\n", "", text)
    return re.sub(rf" {NAMES[0]},\s*", " ", text)


def golden(folder):
    """How many golden tests of passes ran and passed."""
    run(folder, "./dev", "build")
    said = run(folder, "build/release/bin/lathe_tests", "--gtest_filter=Passes/Golden.*")
    return int(re.search(r"\[  PASSED  \] (\d+) tests", said).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="FOLDER", help="the scratch copy, which stays")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp()) / "lathe"
    try:
        if not folder.exists():
            run(ROOT, "git", "clone", "-q", "--no-hardlinks", ROOT, folder)
        run(folder, "git", "checkout", "-q", "--", ".")
        for path in (FILE, GOLDEN):
            (folder / path).unlink()
        for path in (DECLARED, PIPELINE):
            file = folder / path
            file.write_text(without(file.read_text(), path))
            if any(name in file.read_text() for name in NAMES):
                sys.exit(f"one_pass.py: {path} names the pass in another way now")
        before = golden(folder)
        named = [int(n) for n in run(folder, "git", "diff", "--numstat").split()[1::3]]
        run(folder, "git", "checkout", "-q", "--", ".")
        began = time.time()
        after = golden(folder)
        waited = time.time() - began
    finally:
        if not args.keep:
            shutil.rmtree(folder.parent, ignore_errors=True)
    lines = len((ROOT / FILE).read_text().splitlines())
    elsewhere = sum(named) - lines - len((ROOT / GOLDEN).read_text().splitlines())
    print(
        f"{PASS}: one file of {lines} lines, {elsewhere} lines that declare and list it; {before} "
        f"golden tests without it, {after} with it, {waited:.0f} s after it was added"
    )
    sys.exit(0 if after == before + 1 and elsewhere <= 12 else 1)


if __name__ == "__main__":
    main()
