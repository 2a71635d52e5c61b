"""Line 1: programs that capture gets wrong elsewhere."""

import re

from ..proof import BUILD, BUILD_PYTHON, Line, green, require, run, tests

LINE = Line(1, "Trap programs: equal or refused, wrong 0", proof="capture")


@LINE.part("the 110 programs: as their verdicts say", minutes=1)
def catalogue():
    return green(tests("traps", "traps"))


def stateful(name, *arguments):
    """The figure of tests/stateful/run.py; Missing unless every verdict is a wanted one."""
    package = f"{BUILD / 'python'}"
    command = (BUILD_PYTHON, "tests/stateful/run.py", "--quiet", *arguments)
    only_wanted = ("--verdicts", "/dev/null")
    done = run(name, *command, *only_wanted, timeout=14_400, PYTHONPATH=package)
    told = re.findall(r"^(?:trace|script): .*", done.text, re.M)
    require(len(told) == 2, f"it did not end; whole log: {done.log}")
    figure = "; ".join(line.split(";")[0] for line in told)
    require(done.code == 0, f"{figure}; whole log: {done.log}")
    return f"{figure}; {green(done)}"


@LINE.part("the classes of stateful programs and their variants: wrong 0", minutes=1)
def classes():
    return stateful("stateful-classes", "classes")


@LINE.part("ordinary programs: captured, with few traces", minutes=1)
def ordinary():
    return stateful("stateful-ordinary", "ordinary")


@LINE.part("2,000 generated stateful programs: equal or refused, wrong 0", minutes=6,
           quick=lambda: stateful("stateful-generated", "--count", "300"))  # fmt: skip
def generated():
    return stateful("stateful-generated", "--count", "2000")


@LINE.part("planted faults in guards, observer and effects are found", minutes=1)
def faults():
    package = f"{BUILD / 'python'}"
    done = run("stateful-faults", BUILD_PYTHON, "tests/stateful/faults.py", timeout=3600,
               PYTHONPATH=package)  # fmt: skip
    found = re.search(r"^-- (\d+) of (\d+) faults found", done.text, re.M)
    require(found is not None, f"it did not end; whole log: {done.log}")
    require(done.code == 0 and int(found[1]) >= 12, f"{found[0]}; whole log: {done.log}")
    return f"{found[1]} of {found[2]}"
