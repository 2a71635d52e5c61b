"""Runs the trap programs: t01 to t110, each of which some framework captures wrongly in silence.

Every program runs in a process of its own, forked from one that has only imported lathe: as it
is, under lathe.trace and under lathe.script. What it leaves in `out` and prints is compared with
what it gives as it is (structure, types, dtypes, shapes, bytes, NaN as one class; exceptions by
type).

equal     as without capture
refused   a TraceError or ScriptError that names a line of the program
misplaced the same where a refusal is wanted, but naming another line than the marked one
absent    the program needs something that lathe does not have, and proves nothing
wrong     anything else; there must be none

Each runs in variants besides (variants.py): `first` makes another call of each captured function
before the program's first one; `threads` has eight threads compute instead of one; `strict` makes a
fallback to eager an error. A variant is compared with the same variant as it is.

fallback  the flag of `strict` said so: without it the call runs node by node

A program's docstring says what is wanted: `equal`, `guard` (captured again, then equal) or
`refuse` at a line marked `# !t` (trace), `# !s` (script) or `# !ts`. A program whose verdict is
another one stands in verdicts.txt, with the verdict that it has and the reason. A verdict that is
neither wanted nor listed fails, also a better one, and so does a listed one that the program does
not have any more: the list is always what is true.

Called by tests/run.py; ends with "N passed, N failed", a verdict each.
"""

import argparse
import contextlib
import io
import os
import pickle
import re
import signal
import struct
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODES = ("trace", "script")
VARIANTS = ("plain", "first", "threads", "strict")
VERDICTS = ("equal", "refused", "misplaced", "fallback", "absent", "wrong")
LISTED = HERE / "verdicts.txt"
SECONDS = 120  # the longest a program may take


# ── one program ─────────────────────────────────────────────────────────────────────────────────


def described(value):
    """A value as something to compare: types, shapes and bytes."""
    import lathe as lt

    if isinstance(value, lt.Tensor):
        t = value.detach().to("cpu")
        return ("tensor", t.dtype.name, tuple(t.shape), elements(t))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, [described(v) for v in value])
    if isinstance(value, dict):
        return (type(value).__name__, [(described(k), described(v)) for k, v in value.items()])
    if isinstance(value, float):
        return ("float", "nan" if value != value else struct.pack("d", value))
    return (type(value).__name__, repr(value))


def elements(t):
    """Its bytes, any NaN as one."""
    import lathe as lt

    if t.dtype.is_complex:
        return [elements(t.real), elements(t.imag)]
    if t.dtype is lt.bfloat16:
        t = t.to(lt.float32)
    if t.dtype.is_floating_point:
        t = lt.where(t != t, lt.full((), float("nan"), dtype=t.dtype), t)
    return t.contiguous().numpy().tobytes()


def execute(path, capture):
    """The program's module, and what it printed (also if it raised)."""
    import trap_runner

    trap_runner.capture = capture
    printed = io.StringIO()
    module = type(sys)("trap_program")
    module.__dict__.update({"__name__": "trap_program", "__file__": str(path)})
    sys.modules["trap_program"] = module
    raised = None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    except BaseException as e:
        raised = e
    return module, printed.getvalue(), raised


def run_program(path, mode, variant):
    """What the program gives, as a dictionary that can be sent to another process."""
    import variants

    import lathe as lt

    # Itself: a refusal at once names the caller's line.
    capture = {"eager": lambda f: f, "trace": lt.trace, "script": lt.script}[mode]
    if variant == "first":
        calls = variants.Calls()
        execute(path, calls.recorder())
        capture = calls.warmed(mode)
        lt.manual_seed(0)
        lt.set_default_dtype(lt.float32)
    elif variant == "threads":
        lt.set_flag("threads", 8)
    elif variant == "strict":
        lt.set_flag("fallback_is_error", True)
    report, in_threads = {}, []
    threading.excepthook = lambda args: in_threads.append(str(args.exc_value))
    module, report["printed"], raised = execute(path, capture)
    try:
        if raised is not None:
            raise raised
        report["out"] = described(module.out)
        report["shown"] = repr(module.out)
    except BaseException as e:
        report["raised"] = type(e).__name__
        report["text"] = str(e)
        report["refused"] = isinstance(e, (lt.TraceError, lt.ScriptError))
        report["where"] = traceback.format_exc()
        said = [report["text"], *in_threads]
        report["fallback"] = any("makes this call run node by node" in text for text in said)
    functions = [f for f in vars(module).values() if hasattr(type(f), "counts")]
    report["captures"] = sum(f.counts["traces"] for f in functions if f.counts)
    return report


def start(path, mode, variant, folder):
    """Forks a process for one program; gives its id and the file of its report."""
    file = Path(folder) / f"{path.stem}.{mode}.{variant}"
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid, file
    status = 1
    try:
        signal.alarm(SECONDS)
        report = run_program(path, mode, variant)
        file.write_bytes(pickle.dumps(report))
        status = 0
    finally:
        os._exit(status)


# ── judging ─────────────────────────────────────────────────────────────────────────────────────


def marked_lines(path, mode):
    letter = mode[0]
    return {
        i
        for i, line in enumerate(path.read_text().split("\n"), 1)
        if re.search(r"# !t?s?\b.*", line) and letter in line.split("# !")[1].split()[0]
    }


def wanted(path, mode):
    return re.search(rf"^{mode}: (.*)$", path.read_text(), re.M)[1]


def judge(path, mode, eager, report):
    """(one of VERDICTS, what is to be said about it)"""
    if report is None:
        return "wrong", "the process died"
    if report.get("fallback"):
        return "fallback", first_line(report)
    if report.get("refused"):
        named = re.findall(rf"{re.escape(path.name)}:(\d+)", report["text"])
        if not named:
            return "wrong", "a refusal without the program's line: " + report["text"]
        lines = {int(n) for n in named}
        want = wanted(path, mode)
        if want.startswith("refuse"):
            if lines & marked_lines(path, mode):
                return "refused", ""
            return "misplaced", f"names line {named[0]}, not the marked one: {first_line(report)}"
        if lines & marked_lines(path, mode) and "refuse" in want:
            return "refused", ""
        return "refused", f"gap, {want} is wanted: {first_line(report)} (line {named[0]})"
    if "raised" in eager:
        last = eager["text"].split("\n")[0]
        return "absent", f"eager raises {eager['raised']}: {last}"
    for part in ("raised", "out", "printed"):
        if eager.get(part) != report.get(part):
            mine = report.get("where") or report.get("shown")
            if part == "printed":
                mine = report["printed"]
            return "wrong", f"{part} differs: {mine}\n  eager: {eager.get('shown')}"
    if wanted(path, mode).startswith("refuse"):
        return "equal", "equal, where a refusal is asked"
    return "equal", ""


def first_line(report):
    return report["text"].split("\n")[0]


# ── what is expected ────────────────────────────────────────────────────────────────────────────


def listed():
    """{(program, mode, variant): (verdict, reason)} of verdicts.txt; ValueError for a bad line."""
    found = {}
    for number, line in enumerate(LISTED.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split(None, 4)
        if len(words) != 5:
            raise ValueError(f"{LISTED.name}:{number}: program, modes, variants, verdict, reason")
        program, modes, variants, verdict, reason = words
        modes = MODES if modes == "all" else modes.split(",")
        variants = VARIANTS if variants == "all" else variants.split(",")
        if verdict not in VERDICTS or verdict == "wrong":
            raise ValueError(f"{LISTED.name}:{number}: a program may not be {verdict}")
        for key in ((program, m, v) for m in modes for v in variants):
            if key in found or key[1] not in MODES or key[2] not in VARIANTS:
                raise ValueError(f"{LISTED.name}:{number}: {' '.join(key)}: twice, or unknown")
            found[key] = verdict, reason
    return found


def wanted_verdict(path, mode):
    return "refused" if wanted(path, mode).startswith("refuse") else "equal"


def complaint(path, mode, variant, verdict, known):
    """Why this verdict fails the run, or None."""
    name = f"t{number(path):02}"
    expected, _ = known.get((name, mode, variant), (wanted_verdict(path, mode), ""))
    if (name, mode, variant) in known and expected == wanted_verdict(path, mode):
        return f"listed as {expected}, which is what the program wants: take the line out"
    if verdict == expected:
        return None
    where = "listed" if (name, mode, variant) in known else "wanted"
    return f"{expected} is {where}, it is {verdict}"


# ── all of them ─────────────────────────────────────────────────────────────────────────────────


def number(path):
    return int(re.match(r"t(\d+)_", path.name)[1])


def run_all(paths, modes, variants, jobs):
    """Reports by (path, mode, variant)."""
    reports = {}
    with tempfile.TemporaryDirectory() as folder:
        waiting = [(p, m, v) for v in variants for p in paths for m in ("eager", *modes)]
        running = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                job = waiting.pop(0)
                pid, file = start(*job, folder)
                running[pid] = (job, file)
            pid, _ = os.wait()
            if pid not in running:
                continue
            job, file = running.pop(pid)
            reports[job] = pickle.loads(file.read_bytes()) if file.exists() else None
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="t01, t02 ...; all if none")
    parser.add_argument("--mode", choices=MODES, action="append")
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quiet", action="store_true", help="only what fails, and the counts")
    args = parser.parse_args()
    modes = args.mode or list(MODES)
    paths = sorted(HERE.glob("t[0-9]*.py"), key=number)
    if args.names:
        numbers = {int(n.lstrip("tT")) for n in args.names}
        paths = [p for p in paths if number(p) in numbers]
    sys.path.insert(0, str(HERE))
    import lathe.nn  # noqa: F401
    import lathe.optim  # noqa: F401

    began = time.time()
    variants = args.variant or list(VARIANTS)
    reports = run_all(paths, modes, variants, args.jobs)
    failed, known = 0, listed()
    names = {f"t{number(p):02}" for p in HERE.glob("t[0-9]*.py")}
    for name in sorted({key[0] for key in known} - names):
        failed += 1
        print(f"{LISTED.name}: there is no program {name}")
    for variant in variants:
        for mode in modes:
            counts = dict.fromkeys(VERDICTS, 0)
            for path in paths:
                eager = reports[path, "eager", variant] or {}
                verdict, why = judge(path, mode, eager, reports[path, mode, variant])
                counts[verdict] += 1
                bad = complaint(path, mode, variant, verdict, known)
                failed += bad is not None
                if bad:
                    print(f"FAILED   {mode:6} {variant:7} {path.stem}: {bad}: {why}")
                elif why and not args.quiet:
                    print(f"{verdict:9} {mode:6} {variant:7} {path.stem}: {why}")
            told = ", ".join(f"{n} {v}" for v, n in counts.items() if n or v == "wrong")
            print(f"{mode} {variant}: {told}")
    print(f"-- traps: {time.time() - began:.1f} s")
    print(f"{len(paths) * len(modes) * len(variants) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
