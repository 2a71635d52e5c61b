"""Line 7: what an op costs in lines, and the whole in minutes, megabytes and milliseconds."""

import re
from pathlib import Path

from ..import_time import import_time
from ..proof import BUILD, BUILD_PYTHON, ROOT, Line, green, require, run, tests

LINE = Line(7, "Lines an op, nothing twice, times and sizes", proof="breadth")
MOST_LINES, MOST_BUILD, MOST_TIER, MOST_SIZE = 10, 12, 10, 12  # lines, minutes, minutes, MB
TWICE = 6  # equal lines


@LINE.part("lines to add an op: median at most 10")
def lines():
    done = run(
        "op-lines", BUILD_PYTHON, "tests/prove/op_lines.py", PYTHONPATH=str(BUILD / "python")
    )
    figure = done.last(r"^op lines: (.*)")
    require(float(re.search(r"median ([\d.]+)", figure).group(1)) <= MOST_LINES, figure)
    return figure


def plain(path):
    """(line's number, text) of a source without comments, blanks and what only closes."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("//")[0].strip()
        if len(text) > 3 and not text.startswith("#include"):
            yield number, text


@LINE.part("no six equal lines twice in the definitions")
def twice():
    seen, found = {}, []
    for path in sorted((ROOT / "core/ops").glob("*.cpp")):
        rows = list(plain(path))
        for at in range(len(rows) - TWICE + 1):
            block = tuple(text for _, text in rows[at : at + TWICE])
            place = f"{path.name}:{rows[at][0]}"
            if block in seen:
                found.append(f"{seen[block]} and {place}")
            seen.setdefault(block, place)
    require(not found, f"{len(found)}: {'; '.join(found[:4])}")
    return f"{len(seen)} blocks of {TWICE} lines, each once"


@LINE.part("a clean build: at most 12 minutes", minutes=12)
def build():
    folder = ROOT / "build/clean"
    configured = run("clean-configure", "cmake", "--preset", "release", "-B", folder)
    require(configured.code == 0, f"whole log: {configured.log}")
    run("clean-forget", "cmake", "--build", folder, "--target", "clean")
    done = run("clean-build", "cmake", "--build", folder, "-j2", CCACHE_DISABLE="1")
    require(done.code == 0, f"it does not build; whole log: {done.log}")
    require(done.seconds <= 60 * MOST_BUILD, f"{done.seconds / 60:.1f} minutes")
    return f"{done.seconds / 60:.1f} minutes"


@LINE.part("the quick tier: at most 10 minutes", minutes=10)
def tier():
    done = tests("quick-tier")
    figure = green(done)
    require(done.seconds <= 60 * MOST_TIER, f"{figure}, {done.seconds / 60:.1f} minutes")
    return f"{figure}, {done.seconds / 60:.1f} minutes"


@LINE.part("the library without LLVM and vendors: at most 12 MB stripped")
def library():
    own = [p for p in (BUILD / "python/lathe").glob("*.so*") if "_lathe" in p.name]
    own += [p for p in (BUILD / "lib").glob("liblathe.so*") if not p.is_symlink()]
    require(own, f"{BUILD} has no library")
    sizes = []
    for path in {p.resolve() for p in own}:
        to = Path(BUILD / f"{path.name}.stripped")
        done = run("strip", "strip", "-s", "-o", to, path)
        require(done.code == 0, f"whole log: {done.log}")
        sizes.append((path.name, to.stat().st_size / 1e6))
        to.unlink()
    told = ", ".join(f"{name} {size:.1f} MB" for name, size in sorted(sizes))
    require(max(size for _, size in sizes) <= MOST_SIZE, told)
    return told


@LINE.part("import over bare Python, with 1,000 definitions too", minutes=2)
def importing():
    return import_time()
