"""Times Lathe beside its peers and says where it stands. Called by ./dev bench.

Each library runs in a process of its own (worker.py); all share one core and take turns, round by
round, so that whatever the machine does meets them alike. Before anything is timed, each result is
compared with one computed in float64. The ratio of a round is the time of the fastest peer over
Lathe's; the figure is the median of the rounds. A peer that is missing, fails or is wrong makes its
rows fail.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import process_rows
from rows import CASES

import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SPEED = ROOT / "docs/speed.md"
ROUNDS = 63
LEAST_ROUNDS = 5
SECONDS = 8.0  # for the rounds of one case
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LATHE_THREADS")


def environment_of(package):
    variables = os.environ | dict.fromkeys(THREADS, "1")
    return variables | {"PYTHONPATH": str(package)} if package else variables


class Failed(Exception):
    pass


class Library:
    """A worker process and the pipe to it. `package`: the folder of the `lathe` to import."""

    def __init__(self, name, python, adapter="", package=""):
        self.name = name
        log = ROOT / f"build/logs/bench-{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                [str(python), str(HERE / "worker.py"), adapter or name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment_of(package),
            )
        self.problem = None
        try:
            self.read()
        except Failed as e:
            self.problem = str(e)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.problem = f"its process ended with {self.process.wait()}"
            raise Failed(self.problem)
        answer = json.loads(line)
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def ask(self, do, index):
        if self.problem:
            raise Failed(self.problem)
        self.process.stdin.write(json.dumps({"do": do, "case": index}) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Timed:
    """The rounds of one library at one case: {way: seconds of each round}."""

    def __init__(self):
        self.rounds, self.disturbed = {}, 0

    def add(self, answer):
        for way, (seconds, disturbed) in answer["seconds"].items():
            self.rounds.setdefault(way, []).append(seconds)
            self.disturbed += disturbed

    def best(self):
        """(name of the fastest way, its rounds)."""
        return min(self.rounds.items(), key=lambda item: statistics.median(item[1]))


def check(library, index):
    """None, or why this library's result cannot be timed."""
    case = CASES[index]
    try:
        errors = library.ask("prepare", index)["errors"]
    except Failed as e:
        return f"{library.name}: {e}"
    wrong = {way: e for way, e in errors.items() if not e <= case.tolerance}
    if wrong:
        way, error = max(wrong.items(), key=lambda item: item[1])
        return f"{library.name} {way}: off by {error:.1e}, at most {case.tolerance:.0e}"
    return None


def take_turns(libraries, index):
    timed = {library.name: Timed() for library in libraries}
    began = time.time()
    for count in range(ROUNDS):
        if count >= LEAST_ROUNDS and time.time() - began > SECONDS:
            break
        first = count % len(libraries)
        for library in libraries[first:] + libraries[:first]:
            timed[library.name].add(library.ask("round", index))
    return timed


def measure(index, libraries):
    """One line of the table, as a dict."""
    case = CASES[index]
    line = {"row": case.row, "name": case.name, "bar": case.bar, "unit": "ratio"}
    wanted = [libraries["lathe"], *(libraries[p] for p in case.peers)]
    problems = {library.name: check(library, index) for library in wanted}
    ready = [library for library in wanted if problems[library.name] is None]
    line["problems"] = [p for p in problems.values() if p]
    try:
        timed = take_turns(ready, index)
    except Failed as e:
        line["problems"].append(str(e))
        timed = {}
    bests = {name: t.best() for name, t in timed.items()}
    line["seconds"] = {n: statistics.median(rounds) for n, (_, rounds) in bests.items()}
    line["ways"] = {name: way for name, (way, _) in bests.items() if way}
    line["disturbed_rounds"] = sum(t.disturbed for t in timed.values())
    peers = {n: s for n, s in line["seconds"].items() if n != "lathe"}
    if "lathe" in bests and peers:
        line["best"] = min(peers, key=peers.get)
        pairs = zip(bests[line["best"]][1], bests["lathe"][1])
        line["ratio"] = statistics.median(peer / ours for peer, ours in pairs)
    line["passed"] = not line["problems"] and line.get("ratio", 0) >= case.bar
    return line


def as_line(process_line):
    return {
        "row": process_line.row,
        "name": process_line.name,
        "bar": process_line.most,
        "unit": "ms",
        "ms": process_line.milliseconds,
        "problems": [process_line.problem] if process_line.problem else [],
        "passed": process_line.passed,
    }


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def time_text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def cells(line):
    """row, what, Lathe, the best peer, figure, bar, word, remarks."""
    word = "PASS" if line["passed"] else "FAIL"
    remarks = "; ".join(line["problems"])
    if line["unit"] == "ms":
        ours = f"{line['ms']:.3g} ms"
        return [line["row"], line["name"], ours, "", ours, f"<= {line['bar']:g} ms", word, remarks]
    seconds = line["seconds"]

    def told(name):
        if name not in seconds:
            return "none"
        way = line["ways"].get(name)
        return time_text(seconds[name]) + (f" ({way})" if way else "")

    best = line.get("best")
    others = [f"{n} {time_text(s)}" for n, s in sorted(seconds.items(), key=lambda i: i[1])]
    others = [o for o in others if not o.startswith(("lathe ", f"{best} "))]
    remarks = "; ".join(filter(None, [remarks, ", ".join(others)]))
    figure = f"{line['ratio']:.2f}x" if "ratio" in line else "none"
    peer = f"{best} {told(best)}" if best else "none"
    bar = f">= {line['bar']:g}x"
    return [line["row"], line["name"], told("lathe"), peer, figure, bar, word, remarks]


HEAD = ["row", "what", "Lathe", "best peer", "figure", "bar", "", "the others"]


def show(line):
    row, what, ours, peer, figure, bar, word, remarks = cells(line)
    peer = f"  ({ours} against {peer})" if peer else ""
    print(f"{word}  {row:>2} {what:<44} {figure:>9}  {bar:<9}{peer}  {remarks}", flush=True)


def processor():
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found.group(1) if found else platform.machine()


def document(lines):
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    told = f"On {datetime.date.today()}, commit {commit}, one core of: {processor()}."
    rows = [HEAD, ["---"] * len(HEAD), *(cells(line) for line in lines)]
    return "\n".join([told, "", *("| " + " | ".join(r) + " |" for r in rows)])


def write(lines):
    """Puts the table between the marks of docs/speed.md."""
    text = SPEED.read_text()
    begin, end = "<!-- table -->", "<!-- end of table -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    SPEED.write_text(f"{before}{begin}\n\n{document(lines)}\n\n{end}{after}")


def one_core():
    """Pins this process, and so its children, to the last core it may use."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@contextlib.contextmanager
def libraries(names):
    """{name: Library}, all on one core; the peers' environment is made if it is not there."""
    others = environment.python() if set(names) - {"lathe"} else None
    one_core()
    made = {}
    try:
        for name in sorted(names):
            made[name] = Library(name, sys.executable if name == "lathe" else others)
        yield made
    finally:
        for library in made.values():
            library.close()


def measured_lines(wanted):
    chosen = [i for i, c in enumerate(CASES) if wanted is None or c.row in wanted]
    names = {"lathe"}.union(*(CASES[i].peers for i in chosen)) if chosen else set()
    with libraries(names) as ready:
        for i in chosen:
            yield measure(i, ready)
    for line in process_rows.lines(wanted):
        yield as_line(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted({c.row for c in CASES} | set(process_rows.ROWS), key=int)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(known)}")
    parser.add_argument("--headline", action="store_true", help="every row (the default)")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed.md")
    args = parser.parse_args()
    if unknown := set(args.rows) - set(known):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    wanted = None if args.headline or not args.rows else set(args.rows)
    lines = []
    for line in measured_lines(wanted):
        lines.append(line)
        show(line)
    if args.json:
        Path(args.json).write_text(json.dumps(lines, indent=1))
    if args.write:
        write(lines)
    failed = sum(not line["passed"] for line in lines)
    print(f"{len(lines) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
