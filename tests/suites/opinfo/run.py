"""Runs PyTorch's operator database (OpInfo) against lathe, in an interpreter that has both.

    PYTHONPATH=build/release/python TORCH/bin/python tests/suites/opinfo/run.py
        [--all] [--only REGEX] [--modes forward,gradient] [--dtype float32] [--json FILE]
        [--processes N] [--timeout S] [--resume] [--quiet]

Counts the entries of manifest.txt: a public half, chosen by checksum. `--all` takes every entry. An
entry ends as pass, wrong, crash, unsupported or timeout in each mode (modes.py), or as differs:
wrong, and differences.txt says why it stays so. What is not passed is listed with the first reason.
`not run` and a reason where PyTorch is missing.
"""

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

try:
    import expecttest  # noqa: F401
    import torch
except ImportError as e:
    print(f"opinfo: not run: {e}")
    sys.exit(0)

import entries
import modes
import pool
from compare import told_tolerances

import lathe as lt

ORDER = ("pass", "unsupported", "timeout", "wrong", "crash", "differs", "none")
DIFFERENCES = Path(__file__).with_name("differences.txt")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every entry, not the public half")
    parser.add_argument("--only", help="entries whose full name matches this")
    parser.add_argument("--modes", default=",".join(modes.MODES), help="separated by commas")
    parser.add_argument("--dtype", help="the one dtype that is tried (gradients keep f64)")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=180, help="seconds for a mode of an entry")
    parser.add_argument("--json", type=Path, help="keep every outcome there, a line each")
    parser.add_argument("--resume", action="store_true", help="not again what that file has")
    parser.add_argument("--quiet", action="store_true", help="the summary only")
    parser.add_argument("--write-manifest", action="store_true")
    args = parser.parse_args()
    args.modes = args.modes.split(",")
    if unknown := set(args.modes) - set(modes.MODES):
        parser.error(f"no mode {', '.join(sorted(unknown))}; there are {', '.join(modes.MODES)}")
    return args


def chosen(found, args):
    """The indices of the entries that are asked for."""
    wanted = set(entries.manifest()) if not args.all else None
    names = [e.name for e in found]
    if wanted and (gone := wanted - set(names)):
        print(f"not in this PyTorch ({torch.__version__}): {', '.join(sorted(gone))}")
    return [
        i
        for i, e in enumerate(found)
        if not e.private
        and (wanted is None or e.name in wanted)
        and (not args.only or re.search(args.only, e.name))
    ]


def before(args):
    """{(name, mode): outcome} of an earlier run."""
    if not args.resume or not args.json or not args.json.exists():
        return {}
    rows = map(json.loads, args.json.read_text().splitlines())
    return {(r["name"], r["mode"]): r for r in rows}


def decided():
    """{'name mode': why ours is another}"""
    lines = DIFFERENCES.read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def run(found, args):
    """{(name, mode): outcome as a dict}."""
    done, differences = before(args), decided()
    jobs = []
    for i in chosen(found, args):
        left = [m for m in args.modes if (found[i].name, m) not in done]
        if left:
            jobs.append((i, left))
    if args.json and not done:
        args.json.write_text("")

    def finished(entry, mode, outcome, seconds):
        name = found[entry].name
        if outcome.status == "wrong" and (why := differences.get(f"{name} {mode}")):
            outcome = outcome._replace(status="differs", reason=why)
        row = {"name": name, "mode": mode, **outcome._asdict(), "seconds": round(seconds, 2)}
        done[name, mode] = row
        if args.json:
            with args.json.open("a") as kept:
                print(json.dumps(row), file=kept)
        before = done.get((name, args.modes[0]), row)["reason"]
        absent = (
            mode != args.modes[0]
            and outcome.reason.startswith("no lathe.")
            and (outcome.reason == before)
        )
        if not args.quiet and outcome.status not in ("pass", "none") and not absent:
            print(f"{outcome.status:<11} {name} {mode}: {outcome.reason}", flush=True)

    pool.run_all(found, jobs, args.processes, args.timeout, finished)
    names = {found[i].name for i in chosen(found, args)}
    return {key: row for key, row in done.items() if key[0] in names and key[1] in args.modes}


def summary(rows):
    """The lines of figures."""
    lines, words = [], []
    for mode in modes.MODES:
        of_mode = [r for (_, m), r in rows.items() if m == mode and r["status"] != "none"]
        if not of_mode:
            continue
        count = Counter(r["status"] for r in of_mode)
        asked, right = sum(r["samples"] for r in of_mode), sum(r["passed"] for r in of_mode)
        others = ", ".join(f"{s} {count[s]}" for s in ORDER[1:6] if count[s])
        lines.append(
            f"  {mode:<9} {count['pass']:>4} of {len(of_mode)} entries "
            f"({right} of {asked} samples){'; ' + others if others else ''}"
        )
        words.append(f"{mode} {count['pass']} of {len(of_mode)}")
    bad = {
        s: len({n for (n, _), r in rows.items() if r["status"] == s}) for s in ("wrong", "crash")
    }
    lines.append(f"opinfo: {', '.join(words)}; wrong {bad['wrong']}, crash {bad['crash']}")
    return lines


def main():
    args = parse()
    torch.set_num_threads(1)
    found = entries.every_entry()
    if args.write_manifest:
        entries.MANIFEST.write_text(entries.manifest_text(found))
        return
    if args.dtype:
        only = getattr(torch, args.dtype)
        for e in found:
            have = only in e.info.supported_dtypes("cpu")
            e.dtypes = lambda have=have: [only] if have else []
    rows = run(found, args)
    private = sum(bool(e.private) and (args.all or e.public_half) for e in found)
    print(f"lathe {lt.__version__} against PyTorch {torch.__version__}")
    print(f"{private} entries are private to PyTorch and not counted")
    print(f"tolerances, relative/absolute: {told_tolerances()}")
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
