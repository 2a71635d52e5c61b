"""Line 2: our own samples give every definition every form, and every reference."""

from ..proof import BUILD, BUILD_PYTHON, Line, existing, require, run

PACKAGE = str(BUILD / "python")
LINE = Line(2, "Every definition in every form, with a reference", proof="breadth")


@LINE.part("the table of coverage has no empty cell", minutes=2)
def table():
    done = run("coverage", BUILD_PYTHON, existing("tests/samples/coverage.py"), PYTHONPATH=PACKAGE)
    figure = done.last(r"^coverage: (.*)")
    require(done.code == 0, f"{figure}; whole log: {done.log}")
    return figure


@LINE.part("docs/ops.md says why each missing name is missing")
def names():
    done = run("ops-page", BUILD_PYTHON, "docs/ops.py", "--count", PYTHONPATH=PACKAGE)
    figure = done.last(r"^ops: (.*)")
    require(done.code == 0 and "not written yet" not in figure, figure)
    return figure
