"""einops, opt_einsum and TensorLy over our tensors, by their own tests.

    PYTHONPATH=build/release/python SUITES/bin/python tests/suites/clients/run.py
        [einops] [opt_einsum] [tensorly] [-k EXPRESSION]

What is skipped is for another library and not counted; the reasons are printed with their numbers.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENTS = {
    "einops": (["--pyargs", "einops.tests"], {"EINOPS_TEST_BACKENDS": "numpy,lathe"}),
    "opt_einsum": ([str(HERE / "opt_einsum_cases.py")], {}),
    "tensorly": (["--pyargs", "tensorly"], {}),
}


def outcomes(report):
    """[(test, outcome, reason)] of a JUnit report; outcome: passed, failed or skipped."""
    found = []
    for case in tree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        worse = [c for c in case if c.tag in ("failure", "error", "skipped")]
        word = {"skipped": "skipped"}.get(worse[0].tag, "failed") if worse else "passed"
        found.append((name, word, (worse[0].get("message") or "") if worse else ""))
    return found


def run(name, expression):
    chosen, environment = CLIENTS[name]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
        command += ["--continue-on-collection-errors"]
        command += ["-p", f"{name}_plugin"] if (HERE / f"{name}_plugin.py").exists() else []
        command += ["-k", expression] if expression else []
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [*command, f"--junitxml={report}"],
            env=os.environ | environment | {"PYTHONPATH": path},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if not report.exists():
            sys.exit(f"{done.stdout[-3000:]}\n{name}: pytest ended with {done.returncode}")
        return outcomes(report)


def first_line(text):
    return (text.strip().splitlines() or [""])[0][:160]


def show(name, found):
    for test, word, reason in found:
        if word == "failed":
            print(f"failed {test}: {first_line(reason)}")
    skips = Counter(
        re.sub(r"^.*?Skipped: ", "", first_line(r)) for _, w, r in found if w == "skipped"
    )
    for reason, count in skips.most_common():
        print(f"skipped {count}: {reason}")
    count = Counter(word for _, word, _ in found)
    print(f"{name}: {count['passed']} of {count['passed'] + count['failed']} "
          f"(skipped {count['skipped']})", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=", ".join(CLIENTS))
    parser.add_argument("-k", help="tests, as pytest chooses them")
    args = parser.parse_args()
    for name in args.names or CLIENTS:
        if name not in CLIENTS:
            parser.error(f"no client {name}; there are {', '.join(CLIENTS)}")
        absent = [m for m in (name, "pytest") if not importlib.util.find_spec(m)]
        if absent:
            print(f"{name}: not run: no module {absent[0]}")
            continue
        show(name, run(name, args.k))


if __name__ == "__main__":
    main()
