"""Line 10: parser, verifier, loader, guards and the front end of scripts, fuzzed."""

import sys

from ..proof import Line, existing, green, require, run

LINE = Line(10, "Fuzzing of the parser, the verifier, guards and scripts", proof="capture")
LONG, SHORT = 1800, 100  # seconds


def fuzzed(seconds):
    built = run("fuzz-build", "./dev", "build", "fuzz", "--target", "lathe_fuzz", timeout=7200)
    require(built.code == 0, f"the fuzzers were not built; whole log: {built.log}")
    tool = existing("tests/fuzz/run.py")
    return green(
        run("fuzz", sys.executable, tool, "--seconds", str(seconds), timeout=seconds + 900)
    )


@LINE.part("libFuzzer on graph text, files and programs; changed functions as scripts", minutes=32,
           quick=lambda: fuzzed(SHORT))  # fmt: skip
def fuzzers():
    return fuzzed(LONG)
