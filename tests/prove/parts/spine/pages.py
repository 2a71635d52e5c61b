"""Line 10: what a newcomer reads."""

import re
import sys

from ..proof import ROOT, Line, existing, green, require, run

LINE = Line(10, "README, licence and the pages")
PAGES = ["architecture", "adding-an-op", "decisions", "stability", "status", "seeds"]


@LINE.part("README: code by line 15, the two commands, three uses in 40 lines")
def readme():
    lines = existing("README.md").read_text().splitlines()
    first = next((i for i, line in enumerate(lines, 1) if line.startswith("```")), len(lines))
    require(first <= 15, f"the first code is at line {first}")
    text = "\n".join(lines)
    require("./dev demo" in text and "./dev test" in text, "the two commands are not named")
    start = next((i for i, line in enumerate(lines) if re.match("## .*three uses", line, re.I)), -1)
    require(start >= 0, "there is no part 'Three uses'")
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    fences = [i for i in range(start, end) if lines[i].startswith("```")]
    require(len(fences) == 6, f"{len(fences) // 2} pieces of code")
    code = sum(close - begin - 1 for begin, close in zip(fences[::2], fences[1::2]))
    require(code <= 40, f"the three uses take {code} lines of code")
    return f"code at line {first}, three uses in {code} lines of code"


@LINE.part("LICENSE")
def licence():
    text = existing("LICENSE").read_text()
    require("Apache License" in text and "Version 2.0" in text, "it is not Apache-2.0")
    return "Apache-2.0"


@LINE.part("the pages; the files that they name are there")
def pages():
    for page in PAGES:
        existing(f"docs/{page}.md")
    green(run("file-names", "./dev", "check", "file_names"))
    return f"{len(PAGES)} pages"


@LINE.part("docs/seeds.md: the tests it names are there")
def seeds():
    rows = re.findall(r"^\| ([A-Z]{2}-\d+.*)", existing("docs/seeds.md").read_text(), re.M)
    sources = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tests").rglob("*.cpp")]
    text = "\n".join(p.read_text(errors="replace") for p in sources)
    missing = []
    for row in rows:
        for name in re.findall(r"`(?:\w+\.py::)?(test_\w+)`", row):
            if not re.search(rf"def {name}\b", text):
                missing.append(name)
        for suite, name in re.findall(r"`([A-Z]\w+)\.(\w+)`", row):
            if not re.search(rf"TEST(?:_[FP])?\({suite},\s*{name}\)", text):
                missing.append(f"{suite}.{name}")
    require(rows and not missing, f"{len(rows)} rows; no such test: {', '.join(missing[:5])}")
    return f"{len(rows)} rows, every test named is there"


@LINE.part("the stubs are what the rows print")
def printed():
    done = run("stubs", sys.executable, "-m", "pytest", "-q", "tests/python/test_stubs.py")
    require(done.code == 0, f"whole log: {done.log}")
    return "equal"
