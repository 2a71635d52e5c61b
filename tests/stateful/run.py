"""Runs stateful programs as they are and captured, and compares them after every call.

    python tests/stateful/run.py                      300 generated programs
    python tests/stateful/run.py --first 300 --count 2000 --jobs 2
    python tests/stateful/run.py classes ordinary     those written by hand
    python tests/stateful/run.py classes --only w02
    python tests/stateful/run.py --show 17            its text; also w02_attributes.two_levels
    python tests/stateful/run.py --shrink 17 --mode trace

What is reported: verdicts, features, refusals by reason, traces and calls served without capture.
A verdict that is not wanted and not in verdicts.txt fails, also a better one than is listed there;
--list prints the lines that the file would need. --env NAME=VALUE is for planted faults: it is in
the environment before lathe is imported. Ends with "N passed, N failed".
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEAST_SHARE = 5  # per cent of the programs in which each feature must be
FROM = 200  # programs, for the share to be asked for
SHOWN = 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", help="folders: classes, ordinary; generated if none")
    parser.add_argument("--mode", choices=("trace", "script", "plain"), action="append",
                        help="plain: as it is once more, which must be equal")  # fmt: skip
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", help="programs of tables whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--show", metavar="PROGRAM", help="prints a program and what came of it")
    parser.add_argument("--shrink", metavar="PROGRAM", help="makes a program smaller")
    parser.add_argument("--list", action="store_true", help="prints lines for verdicts.txt")
    parser.add_argument("--verdicts", type=Path, default=HERE / "verdicts.txt",
                        help="another list; /dev/null: only what is wanted passes")  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="only what fails, and the counts")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    args.mode = args.mode or ["trace", "script"]
    return args


def chosen(args):
    """The programs that the arguments name."""
    from stateful.generate import entry
    from stateful.tables import entries

    one = args.show or args.shrink
    if one and one.isdigit():
        return [entry(int(one))]
    if one:
        args.tables, args.only = ["classes", "ordinary"], one
    if not args.tables:
        return [entry(seed) for seed in range(args.first, args.first + args.count)]
    found = [e for folder in args.tables for e in entries(folder)]
    if not found:
        raise SystemExit(f"no programs in {', '.join(args.tables)}")
    return [e for e in found if not args.only or args.only in e.name]


def judged_all(programs, modes, jobs):
    """{(name, mode): Judged}"""
    from stateful.execute import run_all
    from stateful.judge import judge

    with tempfile.TemporaryDirectory() as folder:
        paths = {e.name: Path(folder) / f"{e.name}.py" for e in programs}
        for e in programs:
            paths[e.name].write_text(e.source)
        reports = run_all(list(paths.values()), modes, jobs, folder)
    return {
        (e.name, mode): judge(
            reports[paths[e.name], "eager"], reports[paths[e.name], mode], e.most_traces
        )
        for e in programs
        for mode in modes
    }


def unknown_programs(known, args):
    """Lines of verdicts.txt whose program is not there, of the tables that are run."""
    from stateful.tables import entries

    there = {e.name for folder in args.tables for e in entries(folder)}
    stems = {name.split(".")[0] for name in there}
    return sorted({n for n, _ in known if n.split(".")[0] in stems and n not in there})


def report(programs, modes, results, args):
    """Prints all there is to say; gives back (passed, failed)."""
    from stateful.judge import Totals, complaint, listed

    known = listed(args.verdicts)
    failed, by_file = 0, defaultdict(Counter)
    for name in unknown_programs(known, args):
        failed += 1
        print(f"FAILED   verdicts.txt: there is no program {name}")
    for mode in modes:
        totals = Totals()
        for e in programs:
            judged = results[e.name, mode]
            totals.add(judged)
            by_file[e.name.split(".")[0], mode][judged.verdict] += 1
            bad = complaint(e.name, mode, e.wanted, judged, known)
            failed += bad is not None
            if bad:
                print(f"FAILED   {mode:6} {e.name}: {bad}, it is {judged.verdict}: {judged.why}")
            elif judged.why and not args.quiet:
                print(f"{judged.verdict:8} {mode:6} {e.name}: {judged.why}")
        print(f"{mode}: {totals.text()}")
        if not args.quiet:
            for reason, count in totals.reasons.most_common(SHOWN):
                print(f"    {count:4} programs refused: {reason}")
    if args.tables and not args.quiet:
        for (file, mode), counts in sorted(by_file.items()):
            print(f"    {file} {mode}: {', '.join(f'{n} {v}' for v, n in counts.items())}")
    return len(programs) * len(modes) - failed, failed


def print_list(programs, modes, results):
    """The lines that verdicts.txt needs for these programs."""
    from stateful.judge import in_short

    for e in programs:
        bad = {m: results[e.name, m] for m in modes if results[e.name, m].verdict not in e.wanted}
        told = {m: (j.verdict, in_short(j)) for m, j in bad.items()}
        if len(modes) > 1 and len(told) == len(modes) and len(set(told.values())) == 1:
            told = {"all": told[modes[0]]}
        for mode, (verdict, why) in told.items():
            print(f"{e.name} {mode} {verdict} {why}")


def report_features(programs, quiet):
    """How many programs have each feature; gives back how many are too rare."""
    counts = Counter(f for e in programs for f in e.features)
    from stateful.generate import FEATURES

    rare = 0
    for feature in sorted(FEATURES, key=lambda f: (-counts[f], f)):
        share = 100 * counts[feature] / len(programs)
        bad = len(programs) >= FROM and share < LEAST_SHARE
        rare += bad
        if bad or not quiet:
            print(f"{'FAILED ' if bad else ''}    {share:5.1f} % {feature}")
    least = min(100 * counts[f] / len(programs) for f in FEATURES)
    print(f"features: {len(FEATURES)}, the rarest in {least:.1f} % of the programs")
    return rare


def show(program, results):
    for number, line in enumerate(program.source.split("\n"), 1):
        print(f"{number:4}  {line}")
    for (_, mode), judged in results.items():
        print(f"{mode}: {judged.verdict} {judged.why}; {judged.traces} traces, {judged.served} "
              f"of {judged.calls} calls served")  # fmt: skip


def main():
    args = arguments()
    if "PYTHONHASHSEED" not in os.environ:  # a seed's program is the same in every run
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    for pair in args.env:
        name, _, value = pair.partition("=")
        os.environ[name] = value
    sys.path[0] = str(HERE.parent)  # this folder is a package
    began = time.time()
    programs = chosen(args)
    if args.shrink:
        from stateful.shrink import shrink

        return print(shrink(programs[0], args.mode[0], judged_all))
    results = judged_all(programs, args.mode, args.jobs)
    if args.show:
        return show(programs[0], results)
    if args.list:
        return print_list(programs, args.mode, results)
    passed, failed = report(programs, args.mode, results, args)
    if not args.tables:
        failed += report_features(programs, args.quiet)
    print(f"-- stateful programs: {len(programs)}, {time.time() - began:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
