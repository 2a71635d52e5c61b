"""Times Lathe beside its peers and says where it stands. Called by ./dev bench.

Each library runs in a process of its own (worker.py); all share one core, or as many as --threads
says, and take turns, round by round, so that whatever the machine does meets them alike. Before
anything is timed, each result is compared with one computed in float64. The ratio of a round is
the time of the fastest peer over Lathe's; the figure is the median of the rounds. A peer that is
missing, fails or is wrong makes its rows fail.
"""

import argparse
import contextlib
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import process_rows
import table
from peers import threads
from rows import CASES

import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROUNDS = 63
LEAST_ROUNDS = 3
SECONDS, QUICK = 8.0, 2.0  # for the rounds of one case
PAUSE = 5e-3  # seconds before a round of several threads, in which those of others stop to spin
FAR = 3.0  # times the fastest peer: who takes as long sits out from the third round on


@functools.cache
def truths():
    """A folder, as long as this process lives, where workers keep the truths for each other."""
    return tempfile.TemporaryDirectory(prefix="truths-")


def environment_of(package):
    count = len(os.sched_getaffinity(0))  # as cores() left them
    variables = os.environ | dict.fromkeys(threads.VARIABLES, str(count))
    variables["LATHE_BENCH_TRUTHS"] = truths().name
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


def in_the_race(timed):
    """The names of Lathe and of the peers that are not far behind the fastest."""
    medians = {name: statistics.median(t.best()[1]) for name, t in timed.items()}
    fastest = min((m for name, m in medians.items() if name != "lathe"), default=0.0)
    return {n for n, m in medians.items() if n == "lathe" or m <= FAR * fastest}


def take_turns(libraries, index, seconds=SECONDS):
    pause = PAUSE if len(os.sched_getaffinity(0)) > 1 else 0.0
    timed = {library.name: Timed() for library in libraries}
    began = time.time()
    for count in range(ROUNDS):
        if count >= LEAST_ROUNDS and time.time() - began > seconds:
            break
        first = count % len(libraries)
        for library in libraries[first:] + libraries[:first]:
            time.sleep(pause)
            timed[library.name].add(library.ask("round", index))
        if count == 1 and "lathe" in timed:
            racing = in_the_race(timed)
            libraries = [library for library in libraries if library.name in racing]
    return timed


def measure(index, libraries, seconds=SECONDS):
    """One line of the table, as a dict."""
    case = CASES[index]
    line = {"row": case.row, "name": case.name, "group": case.group, "bar": case.bar}
    line["unit"] = "ratio"
    wanted = [libraries["lathe"], *(libraries[p] for p in case.peers)]
    problems = {library.name: check(library, index) for library in wanted}
    ready = [library for library in wanted if problems[library.name] is None]
    line["problems"] = [p for p in problems.values() if p]
    try:
        timed = take_turns(ready, index, seconds)
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
        line["lathe_ways"] = {
            way: statistics.median(rounds) for way, rounds in timed["lathe"].rounds.items()
        }
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


def pin(count):
    """Leaves to this process, and so to its children, the last cores it may use, a thread each."""
    there = sorted(os.sched_getaffinity(0))
    if len(there) < count:
        raise SystemExit(f"--threads {count}: this process may use {len(there)} cores")
    os.sched_setaffinity(0, there[-count:])


@contextlib.contextmanager
def libraries(names, cores=1):
    """{name: Library}, all on these cores; the peers' environment is made if it is not there."""
    others = environment.python() if set(names) - {"lathe"} else None
    pin(cores)
    made = {}
    try:
        for name in sorted(names):
            made[name] = Library(name, sys.executable if name == "lathe" else others)
        yield made
    finally:
        for library in made.values():
            library.close()


def chosen_cases(args):
    """The places in CASES of what the command line asks for."""
    groups = {name.lower() for name in args.group}

    def wanted(case):
        return (
            (not args.rows or case.row in args.rows)
            and (not groups or case.group.lower() in groups)
            and (not args.headline or case.headline)
            and (not args.only or re.search(args.only, case.name))
        )

    return [i for i, case in enumerate(CASES) if wanted(case)]


def measured_lines(args):
    chosen = chosen_cases(args)
    names = {"lathe"}.union(*(CASES[i].peers for i in chosen)) if chosen else set()
    with libraries(names, args.threads) as ready:
        for i in chosen:
            yield measure(i, ready, QUICK if args.quick else SECONDS)
    if not args.only and not args.group and args.threads == 1:
        for line in process_rows.lines(set(args.rows) or None):
            yield as_line(line)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted({c.row for c in CASES} | set(process_rows.ROWS), key=int)
    groups = list(dict.fromkeys(c.group for c in CASES))
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(known)}")
    parser.add_argument("--only", metavar="REGEX", help="cases in whose name it is found")
    parser.add_argument(
        "--group", action="append", default=[], metavar="NAME", help=f"of {', '.join(groups)}"
    )
    parser.add_argument(
        "--headline", action="store_true", help="rows 1 to 6, 8 and 14 in short, 29, 30"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK:g} s of rounds a case, not {SECONDS:g}"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of each library (1)"
    )
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed.md")
    args = parser.parse_args()
    if args.threads < 1 or (args.write and args.threads > 1):
        parser.error("--threads is at least 1, and the table of docs/speed.md is of 1")
    if unknown := set(args.rows) - set(known):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    if unknown := {g for g in args.group if g.lower() not in map(str.lower, groups)}:
        parser.error(f"no group {', '.join(sorted(unknown))}")
    return args


def main():
    args = arguments()
    lines = []
    for line in measured_lines(args):
        lines.append(line)
        table.show(line)
    summary = table.summary(lines)
    if summary:
        table.show_summary(summary)
    if args.json:
        Path(args.json).write_text(json.dumps({"lines": lines, "summary": summary}, indent=1))
    if args.write:
        table.write(lines)
    failed = sum(not line["passed"] for line in lines)
    print(f"{len(lines) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
