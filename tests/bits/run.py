"""The long run of the bits tests: random programs in every mode, on all processors at once.

    python tests/bits/run.py [--programs N] [--first SEED] [--jobs N] [--each N]

Ends with what was covered: every row at least --each times, every kind with every dtype it knows,
no step on another engine than the one forced, or it fails and says what is missing. The last line
is "N passed, N failed". A program that differs is made smaller and printed with its seed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
PROGRAM = BUILD / "bin/lathe_bits"


def start(test, log, **variables):
    env = dict(os.environ, GTEST_COLOR="no", **{k: str(v) for k, v in variables.items()})
    with open(log, "w") as out:
        command = [PROGRAM, f"--gtest_filter=RandomPrograms.{test}"]
        return subprocess.Popen(command, stdout=out, stderr=out, cwd=ROOT, env=env)


def shown(log):
    """A log without what every run of the test library says."""
    noise = ("[", "Note: ", " 1 FAILED", "../../", "Failed")
    return "\n".join(
        s for s in log.read_text(errors="replace").splitlines() if s and not s.startswith(noise)
    )


def run_parts(args, folder):
    parts = []
    for k in range(args.jobs):
        count = args.programs // args.jobs + (k < args.programs % args.jobs)
        log, out = folder / f"part-{k}.log", folder / f"part-{k}.coverage"
        variables = {
            "LATHE_BITS": count,
            "LATHE_BITS_FIRST": args.first + k,
            "LATHE_BITS_STRIDE": args.jobs,
            "LATHE_BITS_OUT": out,
        }
        parts.append((start("SlowRandomPrograms", log, **variables), log, out))
    failed = 0
    for process, log, _ in parts:
        code = process.wait()
        failed += code != 0
        print(shown(log) if code in (0, 1) else log.read_text(errors="replace")[-4000:])
        if code not in (0, 1):
            print(f"a part ended with {code}")
    return failed, [out for _, _, out in parts if out.exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=10000)
    parser.add_argument("--first", type=int, default=100000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--each", type=int, default=50, help="least calls of each row")
    args = parser.parse_args()
    began = time.time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        failed, covered = run_parts(args, folder)
        log = folder / "coverage.log"
        code = 1
        if covered:
            files = ",".join(map(str, covered))
            judge = start("SlowCoverage", log, LATHE_BITS_IN=files, LATHE_BITS_EACH=args.each)
            code = judge.wait()
            print(shown(log))
    failed += code != 0
    last = args.first + args.programs - 1
    print(f"{args.programs} graphs, seeds {args.first} to {last}, {time.time() - began:.0f} s")
    print(f"{args.jobs + 1 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
