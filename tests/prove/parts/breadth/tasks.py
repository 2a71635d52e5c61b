"""Line 6: six tasks trained to their accuracy; rows EA of the seeds."""

import re

from ..proof import Line, existing, python_tests, require
from ..suites import suite

LINE = Line(6, "Six tasks of scikit-learn's data; rows EA", proof="breadth")
ROWS = range(1, 27)
GPU = {10, 21, 23}  # what is missing there needs a GPU


def trained(*arguments):
    done = suite("tasks", "tests/suites/tasks/run.py", *arguments, modules=("sklearn",))
    right, whole = map(int, done.last(r"^tasks: (\d+) of (\d+) reach"))
    require(whole == 6 and right == whole, f"{right} of {whole}")
    return done.last(r"^tasks: (.*)")


@LINE.part("six tasks reach their bar, in eager and in graph mode", minutes=10,
           quick=lambda: trained("--seeds", "1"))  # fmt: skip
def tasks():
    return trained()


@LINE.part("rows EA: each is shown in full, or waits for a GPU", minutes=2)
def rows():
    text = existing("docs/seeds.md").read_text()
    found = dict(re.findall(r"^\| EA-(\d+) \| (.*?) \|", text, re.M))
    absent = [n for n in ROWS if f"{n:02}" not in found and n not in GPU]
    partly = [n for n in ROWS if found.get(f"{n:02}", "").startswith("partly") and n not in GPU]
    told = ", ".join(f"EA-{n:02} {'absent' if n in absent else 'partly'}"
                     for n in sorted(absent + partly))  # fmt: skip
    require(not told, told)
    done = python_tests("seeds-ea", "tests/python/seeds/test_eager.py")
    count = done.last(r"(\d+) passed")
    return f"{len(ROWS) - len(GPU)} rows, {count} tests"
