"""Runs the fuzzers: libFuzzer on the targets of tests/fuzz/*targets.cpp, and scripts.py.

    python tests/fuzz/run.py --seconds 120             all of them, which share the time
    python tests/fuzz/run.py --seconds 60 text file    these
    python tests/fuzz/run.py --merge                   what was found new in build/fuzz/corpus goes
                                                       into tests/fuzz/corpus, the least that
                                                       reaches as much of the code

Inputs come from tests/fuzz/corpus and build/fuzz/corpus; new ones go to the latter. What fails is
kept in build/fuzz/found. The program is built with clang by `./dev build fuzz --target lathe_fuzz`.
Ends with "N passed, N failed": the fuzzers that found nothing, and the others.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build/fuzz"
PROGRAM = BUILD / "bin/lathe_fuzz"
CORPUS = {"text": "text", "file": "file", "program": "text"}  # as targets() of text_targets.cpp
SCRIPTS = "scripts"
LONGEST = 4096  # bytes of an input
# Of a run: seconds and MiB. Addresses that the sanitizer keeps for itself are not counted.
LIMITS = ("-timeout=20", "-rss_limit_mb=4096", "-malloc_limit_mb=2048")


def libfuzzer(target, *arguments, **options):
    environment = os.environ | {"LATHE_FUZZ": target, "LATHE_THREADS": "1"}
    command = [PROGRAM, f"-max_len={LONGEST}", *LIMITS, *arguments]
    return subprocess.run([str(c) for c in command], env=environment, cwd=BUILD, **options)


def folders(target):
    """(what is found new, what is kept)"""
    new = BUILD / "corpus" / CORPUS[target]
    new.mkdir(parents=True, exist_ok=True)
    return new, KEPT / CORPUS[target]


def fuzz(target, seconds):
    """Did it find nothing? Tells how far it came."""
    found = BUILD / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    log = BUILD / f"{target}.log"
    with open(log, "w") as out:
        done = libfuzzer(
            target,
            f"-max_total_time={max(int(seconds), 1)}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            *folders(target),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    text = log.read_text(errors="replace")
    runs = re.search(r"number_of_executed_units: *(\d+)", text)
    reached = re.findall(r" cov: (\d+) ", text)
    print(f"{target}: {runs[1] if runs else 'no'} runs in {seconds:.0f} s, "
          f"{reached[-1] if reached else 'no'} places reached", flush=True)  # fmt: skip
    if done.returncode == 0 and runs:
        return True
    why = re.search(r"(FINDING|ERROR|runtime error|SUMMARY).*", text)
    print(f"FAILED {target}: {why[0] if why else done.returncode}; whole log: {log}", flush=True)
    return False


def scripts(seconds):
    keep = BUILD / "found" / SCRIPTS
    command = [sys.executable, ROOT / "tests/fuzz/scripts.py", "--seconds", seconds]
    command += ["--first", os.getpid() * 1_000_000, "--keep", keep]  # others at each run
    return subprocess.run([str(c) for c in command], cwd=ROOT).returncode == 0


def merge():
    for folder in sorted(set(CORPUS.values())):
        target = next(t for t, of in CORPUS.items() if of == folder)
        new, kept = folders(target)
        done = libfuzzer(target, "-set_cover_merge=1", kept, new, capture_output=True, text=True)
        print(f"{folder}: {len(list(kept.iterdir()))} inputs are kept")
        if done.returncode:
            sys.exit(done.stderr[-2000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=[*CORPUS, SCRIPTS])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--merge", action="store_true")
    args = parser.parse_args()
    if unknown := set(args.targets) - {*CORPUS, SCRIPTS}:
        parser.error(f"no fuzzer is named {', '.join(sorted(unknown))}")
    if not PROGRAM.exists() and args.targets != [SCRIPTS]:
        sys.exit(f"{PROGRAM} is not there: ./dev build fuzz --target lathe_fuzz")
    if args.merge:
        merge()
        return
    share = args.seconds / len(args.targets)
    clean = [scripts(share) if t == SCRIPTS else fuzz(t, share) for t in args.targets]
    print(f"{sum(clean)} passed, {len(clean) - sum(clean)} failed")
    sys.exit(0 if all(clean) else 1)


if __name__ == "__main__":
    main()
