"""Line 4: the mechanisms that the kernel IR replaces, and the lines of jit/ and kernels/."""

import re

from ..proof import BUILD, BUILD_PYTHON, ROOT, Line, existing, require, run

LINE = Line(4, "The old mechanisms are gone; a pass is one file", proof="kernels")
OLD = (
    "PointwiseKernel",
    "ElementwiseSpec",
    "FoldSpec",
    "FoldProgram",
    "RowGroup",
    "Epilogue",
    "fetched_ahead",
)
BEFORE = {"jit": 7596, "kernels": 12736}  # lines at 3c8555d, headers included
SOURCES = (".cpp", ".h")


def sources(folder):
    return [p for p in (ROOT / folder).rglob("*") if p.suffix in SOURCES]


@LINE.part("no source names one")
def gone():
    texts = {p: p.read_text() for folder in BEFORE for p in sources(folder)}
    left = {
        word: sum(len(re.findall(rf"\b{word}\b", text)) for text in texts.values()) for word in OLD
    }
    figure = ", ".join(f"{word} {count}" for word, count in left.items())
    require(not any(left.values()), f"named still: {figure}")
    return f"{len(OLD)} names gone"


@LINE.part("lines before and after")
def lines():
    now = {
        folder: sum(len(p.read_text().splitlines()) for p in sources(folder)) for folder in BEFORE
    }
    return ", ".join(f"{folder}/ {BEFORE[folder]} before, {now[folder]} now" for folder in BEFORE)


@LINE.part("a fusion pass is added in one file of a scratch copy, with its golden test", minutes=8)
def one_file():
    done = run("one-pass", BUILD_PYTHON, existing("tests/prove/one_pass.py"))
    require(done.code == 0, f"it ended with {done.code}; whole log: {done.log}")
    return done.last(r"^join_siblings: .*")


@LINE.part("every pass over a plan has a name, and its text before and after")
def plan_passes():
    only = "--gtest_filter=*PlanGolden*:PlanPasses.*"
    done = run("plan-golden", BUILD / "bin/lathe_tests", only)
    passed = done.last(r"\[  PASSED  \] (\d+) tests")
    require(done.code == 0, f"it ended with {done.code}; whole log: {done.log}")
    return f"{passed} tests"
