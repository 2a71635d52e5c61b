"""The tests of the array-API standard over lathe.array_api, from a checkout.

    PYTHONPATH=build/release/python SUITES/bin/python tests/suites/array_api/run.py
        [--checkout FOLDER] [--max-examples N] [-k EXPRESSION]

The checkout is data-apis/array-api-tests at 2026.02.26 with its submodule, in .deps/array-api-tests
or where LATHE_ARRAY_API_TESTS says. The seed is fixed and no database is kept: a figure does
not move by itself. Names and signatures need no arithmetic and are counted apart.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KINDS = {"test_has_names": "names", "test_signatures": "signatures",
         "test_special_cases": "special cases"}  # fmt: skip


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("LATHE_ARRAY_API_TESTS", ROOT / ".deps/array-api-tests")
    parser.add_argument("--checkout", type=Path, default=Path(default))
    parser.add_argument("--max-examples", type=int, default=100)
    parser.add_argument("-k", help="tests, as pytest chooses them")
    return parser.parse_args()


def run(args):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "array_api_tests", f"--junitxml={report}"]
        command += ["--continue-on-collection-errors", "-p", "no:cacheprovider"]
        command += ["-p", "without_shrinking", "--hypothesis-seed=0", "--disable-deadline"]
        command += ["--max-examples", str(args.max_examples), *(["-k", args.k] if args.k else [])]
        done = subprocess.run(
            command,
            cwd=args.checkout,
            env=os.environ | {"ARRAY_API_TESTS_MODULE": "lathe.array_api", "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if not report.exists():
            sys.exit(f"{done.stdout[-3000:]}\narray_api: pytest ended with {done.returncode}")
        return [
            (c.get("classname"), c.get("name"), *worse(c))
            for c in tree.parse(report).iter("testcase")
        ]


def worse(case):
    """(word, reason): the last line of the first fault that a case has."""
    for child in case:
        if child.tag in ("failure", "error"):
            return "failed", (child.get("message") or "").strip().splitlines()[:1]
        if child.tag == "skipped":
            return "skipped", (child.get("message") or "").strip().splitlines()[:1]
    return "passed", []


def main():
    args = parse()
    if not (args.checkout / "array_api_tests").exists():
        print(f"array_api: not run: no checkout of data-apis/array-api-tests at {args.checkout}")
        return
    figures = {}
    for place, name, word, reason in run(args):
        kind = KINDS.get(place.rsplit(".", 1)[-1], "behaviour")
        figures.setdefault(kind, Counter())[word] += 1
        if word == "failed":
            print(f"failed {place.rsplit('.', 1)[-1]}::{name}: {''.join(reason)[:200]}")
    for kind, count in figures.items():
        whole = count["passed"] + count["failed"]
        print(f"  {kind}: {count['passed']} of {whole} (skipped {count['skipped']})")
    total = sum(figures.values(), Counter())
    print(f"array_api: {total['passed']} of {total['passed'] + total['failed']} "
          f"(skipped {total['skipped']}, {args.max_examples} examples each)")  # fmt: skip


if __name__ == "__main__":
    main()
