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
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build/fuzz"
PROGRAM = BUILD / "bin/lathe_fuzz"
SCRIPTS = "scripts"
LONGEST = 4096  # bytes of an input
MAGIC = b"LATHE\r\n\x1a"  # how a .lathe file begins (graph/file/layout.h)
# Of a run: seconds and MiB. Addresses that the sanitizer keeps for itself are not counted.
LIMITS = ("-timeout=20", "-rss_limit_mb=4096", "-malloc_limit_mb=2048")


def libfuzzer(target, *arguments, **options):
    environment = os.environ | {"LATHE_FUZZ": target, "LATHE_THREADS": "1"}
    command = [PROGRAM, f"-max_len={LONGEST}", *LIMITS, *arguments]
    return subprocess.run([str(c) for c in command], env=environment, cwd=BUILD, **options)


@functools.cache
def corpora():
    """{target: its folders of the corpus}, as the program says"""
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not there: ./dev build fuzz --target lathe_fuzz")
    lines = libfuzzer("targets", capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: folders for name, *folders in map(str.split, lines)}


def new_of(target):
    """Where what a target finds new is put."""
    new = BUILD / "corpus" / target
    new.mkdir(parents=True, exist_ok=True)
    return new


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
            new_of(target),
            *(KEPT / folder for folder in corpora()[target]),
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


def new_for(folder):
    """A folder with what was found new and belongs into this one of the corpus."""
    new = BUILD / "corpus" / "new" / folder
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for target, its in corpora().items():
        for path in new_of(target).iterdir() if folder in its else ():
            is_file = path.read_bytes().startswith(MAGIC)
            if its == [folder] or is_file == (folder == "file"):
                shutil.copy(path, new)
    return new


def merge():
    for folder in sorted({f for its in corpora().values() for f in its}):
        target = next(t for t, its in corpora().items() if folder in its)
        kept = KEPT / folder
        done = libfuzzer(
            target, "-set_cover_merge=1", kept, new_for(folder), capture_output=True, text=True
        )
        print(f"{folder}: {len(list(kept.iterdir()))} inputs are kept")
        if done.returncode:
            sys.exit(done.stderr[-2000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--merge", action="store_true")
    args = parser.parse_args()
    if args.merge:
        merge()
        return
    targets = args.targets or [*corpora(), SCRIPTS]
    if unknown := {t for t in targets if t != SCRIPTS and t not in corpora()}:
        parser.error(f"no fuzzer is named {', '.join(sorted(unknown))}")
    share = args.seconds / len(targets)
    clean = [scripts(share) if t == SCRIPTS else fuzz(t, share) for t in targets]
    print(f"{sum(clean)} passed, {len(clean) - sum(clean)} failed")
    sys.exit(0 if all(clean) else 1)


if __name__ == "__main__":
    main()
