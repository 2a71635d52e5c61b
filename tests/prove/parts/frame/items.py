"""Line 1: every item of what was wrong, by name; half precision; C nulls under ASan; captures."""

import fnmatch
import itertools
import re
import sys
from functools import cache

from ..proof import BUILD, BUILD_PYTHON, LOGS, ROOT, Line, Missing, existing, require, run

LIST = ROOT / "tests/prove/frame_items.txt"
LINE = Line(1, "Wrong numbers, crashes, cliffs, false reports: each item's test", proof="frame")

sys.path.insert(0, str(ROOT / "tests"))  # what tests/run.py reads the outcomes with
import run_cpp  # noqa: E402
import run_python  # noqa: E402


def items(text):
    """{what: [test, ...]} of the list."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {}
    for line in lines:
        what, _, tests = line.rpartition(":") if line.endswith(":") else line.partition(": ")
        found[what] = [test.strip() for test in tests.split("|") if test.strip()]
    return found


ITEMS = items(LIST.read_text())


def is_python(test):
    return ".py::" in test


def is_case_of(name, test):
    """Is this the name of a test that ran for `test` of the list?"""
    if is_python(test):
        return name == f"tests/python/{test}" or name.startswith(f"tests/python/{test}[")
    return fnmatch.fnmatchcase(name, test)


def collected(files):
    """The names of the Python tests of these files."""
    done = run("items-collected", BUILD_PYTHON, "-m", "pytest", "--collect-only", "-q", *files)
    return [line for line in done.text.splitlines() if "::" in line and " " not in line[:20]]


def python_outcomes(tests):
    files = sorted({f"tests/python/{t.split('::')[0]}" for t in tests})
    names = collected(files)
    there = [t for t in tests if any(is_case_of(name, t) for name in names)]
    report = LOGS / "items.xml"
    report.unlink(missing_ok=True)
    words = ["-q", "--no-header", f"--junitxml={report}", "-o", "junit_family=xunit1"]
    chosen = [f"tests/python/{t}" for t in there]
    done = run("items", BUILD_PYTHON, "-m", "pytest", *words, *chosen)
    require(report.exists(), f"pytest ended with {done.code}; whole log: {done.log}")
    return run_python.read_report(report)


def cpp_outcomes(patterns):
    program = existing(BUILD / "bin/lathe_tests")
    done = run("items-cpp", program, f"--gtest_filter={':'.join(patterns)}", GTEST_COLOR="no")
    return run_cpp.read_log(done.text, done.code, done.log)


@cache
def outcomes():
    """Of every test that the list names, run once for all items."""
    tests = sorted(set(itertools.chain(*ITEMS.values())))
    python = [t for t in tests if is_python(t)]
    return python_outcomes(python) + cpp_outcomes([t for t in tests if not is_python(t)])


def shown(tests, outcomes):
    """The figure of an item; Missing where a test is not there, did not run or did not pass."""
    if not tests:
        raise Missing(f"no test of it is listed in {LIST.name}")
    count = 0
    for test in tests:
        cases = [o for o in outcomes if is_case_of(o.name, test)]
        if not cases:
            raise Missing(f"no such test: {test}")
        for case in cases:
            require(case.status == "passed", f"{case.name} {case.status}: {case.text[:150]}")
        count += len(cases)
    return f"{count} tests"


def add(what, tests):
    @LINE.part(what)
    def show():
        return shown(tests, outcomes())


for _what, _tests in ITEMS.items():
    add(_what, _tests)


@LINE.part("the composites' errors in f16 and bf16, against f64", minutes=2)
def half_precision():
    done = run("half-precision", BUILD_PYTHON, existing("tests/python/half_precision.py"))
    require(done.code == 0, f"more than 2 ulp, or no table; whole log: {done.log}")
    return done.text.strip().splitlines()[-1]


@LINE.part("the C API with every null, under ASan", minutes=10)
def nulls_under_asan():
    build = run("asan-build", "./dev", "build", "asan", "--target", "lathe")
    require(build.code == 0, f"it does not build; whole log: {build.log}")
    # Python brings no C++ library, and ASan looks for __cxa_throw when it is loaded.
    libraries = ("libasan.so", "libstdc++.so")
    names = [f"-print-file-name={name}" for name in libraries]
    first = " ".join(run("asan-library", "g++", name).text.strip() for name in names)
    words = ["-q", "--no-header", "--noconftest", "tests/python/capi/test_c_api_nulls.py"]
    done = run(
        "asan-nulls", BUILD_PYTHON, "-m", "pytest", *words,
        LATHE_BUILD_DIR=str(ROOT / "build/asan"), LD_PRELOAD=first,
        ASAN_OPTIONS="detect_leaks=0", PYTHONPATH=str(ROOT / "tests/python"),
    )  # fmt: skip
    if found := re.search(r"ERROR: AddressSanitizer.*|runtime error: .*", done.text):
        raise Missing(f"{found.group(0)}; whole log: {done.log}")
    passed = re.search(r"^(\d+) passed in", done.text, re.M)
    require(done.code == 0 and passed, f"whole log: {done.log}")
    return f"{passed.group(1)} tests, nothing reported"


CAPTURES = """
import time
import lathe as lt

STEPS = {
    "slices": lambda x: x[1:],
    "windows": lambda x: x[1:-1],
    "views": lambda x: x.reshape([-1, 1]).reshape([-1]),
    "cats": lambda x: lt.cat([x[1:], x[:1]]),
}

def capture(step, n):
    def run(x):
        for _ in range(n):
            x = step(x)
        return x * 2
    traced, x = lt.trace(run), lt.arange(3000, dtype=lt.float32)
    began = time.process_time()
    got = traced(x)
    took = time.process_time() - began
    assert got.tolist() == run(x).tolist()
    return took

capture(STEPS["slices"], 10)
for name, step in STEPS.items():
    print(name, *(min(capture(step, n) for _ in range(3)) for n in (10, 100, 1000)))
"""
MOST = 15  # times as long for 1,000 steps as for 100


def add_captures():
    @cache
    def measured():
        done = run("captures", BUILD_PYTHON, "-c", CAPTURES, timeout=600)
        require(done.code == 0, f"whole log: {done.log}")
        lines = re.findall(r"^(\w+) ([\d.e+-]+) ([\d.e+-]+) ([\d.e+-]+)$", done.text, re.M)
        return {name: [float(t) for t in times] for name, *times in lines}

    for name in ("slices", "windows", "views", "cats"):

        @LINE.part(f"capture time of 10, 100, 1,000 chained {name}", minutes=2)
        def show(name=name):
            few, some, many = measured()[name]
            told = f"{few * 1e3:.1f}, {some * 1e3:.1f}, {many * 1e3:.0f} ms: x{some / few:.1f}, x{many / some:.1f}"  # noqa: E501
            require(many <= MOST * some, f"{told}, at most x{MOST} from 100 to 1,000")
            return told


add_captures()
