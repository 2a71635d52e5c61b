"""Line 7: what the spine proved still holds; a fresh root; sanitizers; every float."""

import re
import sys

from ..proof import BUILD, ROOT, Line, Missing, existing, require, run

LINE = Line(7, "What the spine proved still holds", proof="frame")


@LINE.part("./dev prove spine --quick", minutes=15)
def spine():
    done = run("spine-quick", sys.executable, existing("tests/prove/spine.py"), "--quick")
    figure = done.last(r"^\d+ passed, \d+ failed.*")
    bad = re.findall(r"^ +FAIL  (.{1,80})", done.text, re.M)
    require(done.code == 0, f"{figure}: {'; '.join(bad)}; whole log: {done.log}")
    return f"{figure}; {done.last('^parts: .*')}; {done.seconds / 60:.1f} minutes"


@LINE.part("a fresh Debian root: from git alone to the demo's last line", minutes=12)
def fresh_root():
    done = run("fresh-root-short", existing("tests/prove/fresh_root.sh"), "--short", timeout=3600)
    told = re.findall(r"^fresh root: .*", done.text, re.M)
    require(done.code == 0, f"{(told or ['it printed nothing'])[-1]}; whole log: {done.log}")
    return "; ".join(line.removeprefix("fresh root: ") for line in told)


def sanitized(preset, program, pattern):
    """The C++ tests that this pattern chooses, in a build with a sanitizer."""
    build = run(f"{preset}-build", "./dev", "build", preset, "--target", program)
    require(build.code == 0, f"it does not build; whole log: {build.log}")
    path = ROOT / "build" / preset / "bin" / program
    done = run(f"{preset}-{program}", path, f"--gtest_filter={pattern}", "--gtest_brief=1")
    found = re.search(
        r"WARNING: ThreadSanitizer.*|ERROR: \w+Sanitizer.*|.*runtime error: .*", done.text
    )
    if found:
        raise Missing(f"{found.group(0)}; whole log: {done.log}")
    passed = re.search(r"\[  PASSED  \] (\d+) test", done.text)
    require(done.code == 0 and passed, f"it ended with {done.code}; whole log: {done.log}")
    return f"{passed.group(1)} tests in {done.seconds:.0f} s, built in {build.seconds:.0f} s"


@LINE.part("C++ tests under ASan and UBSan, but those of every op", minutes=12)
def asan():
    return sanitized("asan", "lathe_tests", ASAN)


@LINE.part("pool, threads, caches and the second device under TSan", minutes=8)
def tsan():
    return sanitized("tsan", "lathe_tests", TSAN)


# Slow ones, and the hundreds of cases over every op, which the release build runs.
ASAN = "*-*Slow*:Rows/Gradients.*:*EveryOp*:*EveryByte*:*EveryLength*"
TSAN = "*Pool*:*Threads*:*Cache*:KernelsSim*"


def sweep(test, primitives):
    program = existing(BUILD / "bin/lathe_bits")
    words = (program, f"--gtest_filter=UnarySweep.{test}")
    done = run(f"sweep-{test}", *words, timeout=3600, LATHE_SWEEP=primitives)
    require(done.code == 0 and "[  PASSED  ] 1 test" in done.text, f"whole log: {done.log}")
    return f"{primitives} on 2^32 in {done.seconds / 60:.1f} minutes"


@LINE.part("the primitives that changed, in every engine: sin, tan on all floats", minutes=5)
def every_float():
    return sweep("F32", "sin,tan")


@LINE.part("the primitives that changed, in every engine: pow on pairs", minutes=5)
def pairs():
    return sweep("PairsF32", "pow")
