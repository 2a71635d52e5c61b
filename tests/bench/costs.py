"""What calls of captured functions cost: all in one run, pinned to one core.

    ./dev python tests/bench/costs.py [peers] [guards] [capture] [--json FILE]

peers: two rows of ./dev bench, each in turns with its peer and compared with float64 before: the
peer's time over ours.
guards: modules of 200 parameters of which nothing changed between calls (guards.py): a call over
its program, run on the same inputs without a guard.
capture: the first call of a traced network in a fresh process, with no kernel compiled before: what
it takes of the processor over a call of the network itself. In this are the import of the observer,
observing, tracing, optimising and compiling; the median over processes. Bits are eager's.

Prints PASS or FAIL for each, with its bar; ends with "N passed, N failed".
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import guards
import numpy as np
import table
from process_rows import python
from rows import CASES

import lathe as lt
import run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from models.run import FILES  # noqa: E402

RATIOS = {"4": 2.2, "3": 2.5}  # by row: at least
PARAMETERS = ("100 layers", "200 weights")
# Before 3.12 each dict is asked for its version; since then the interpreter tells of writes.
GUARDS = 2e-6 if sys.version_info >= (3, 12) else 5e-6  # seconds, at most
NETWORKS = {"ResNet-50": "resnet50", "BERT-base": "bert_base"}
CAPTURE = 0.5  # seconds, at most
PROCESSES = 3
FIRST_CALL = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import costs
costs.first_call({{!r}})
"""


def line(kind, what, figure, passed, told):
    return {"kind": kind, "what": what, "figure": figure, "passed": passed, "told": told}


def peers():
    chosen = {c.row: i for i, c in enumerate(CASES) if c.row in RATIOS and c.headline}
    with run.libraries({"lathe", *(p for i in chosen.values() for p in CASES[i].peers)}) as all_:
        for row, least in RATIOS.items():
            got = run.measure(chosen[row], all_)
            ratio = got.get("ratio", 0.0)
            times = ", ".join(f"{n} {table.time_text(s)}" for n, s in got["seconds"].items())
            told = "; ".join([f"{ratio:.2f}x (at least {least:g}x): {times}", *got["problems"]])
            passed = not got["problems"] and ratio >= least
            yield line("peers", got["name"], ratio, passed, told)


def guarded():
    for name in PARAMETERS:
        call, program, over = guards.measure(name, rounds=144)
        told = (
            f"{1e6 * over:.2f} us (at most {1e6 * GUARDS:g}) over {1e6 * program:.1f}, "
            f"call {1e6 * call:.1f}; Python {sys.version_info.major}.{sys.version_info.minor}"
        )
        yield line("guards", f"200 parameters, {name}", over, over <= GUARDS, told)


def timed(call):
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def flat(results):
    results = results if isinstance(results, tuple) else (results,)
    return [t.numpy().tobytes() for t in results]


def first_call(name):
    """In a process of its own: prints seconds of eager, and of a traced network's first call."""
    network = NETWORKS[name]
    model = FILES[network].build(network).eval()
    *inputs, _ = FILES[network].batch(np.random.default_rng(0), network)
    with lt.no_grad():
        model(*inputs)
        eager, wanted = min((timed(lambda: model(*inputs)) for _ in range(3)), key=lambda t: t[0])
        traced = lt.trace(model)
        first, got = timed(lambda: traced(*inputs))
    same = flat(got) == flat(wanted)
    print(json.dumps({"eager": eager, "first": first, "same": same}))


def captured():
    for name in NETWORKS:
        got = []
        for _ in range(PROCESSES):
            with tempfile.TemporaryDirectory() as kernels:
                got.append(python(FIRST_CALL.format(name), LATHE_CACHE_DIR=kernels))
        over = statistics.median(g["first"] - g["eager"] for g in got)
        same = all(g["same"] for g in got)
        first, eager = (statistics.median(g[key] for g in got) for key in ("first", "eager"))
        told = f"{over:.2f} s (at most {CAPTURE:g}): first call {first:.2f}, eager {eager:.2f}"
        told += "" if same else "; the results are not eager's"
        yield line("capture", f"{name} captured", over, same and over <= CAPTURE, told)


KINDS = {"peers": peers, "guards": guarded, "capture": captured}


def main(kinds, doc):
    """Runs the kinds that are asked for, of {name: function that gives lines}; prints each line."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=list(kinds), help=", ".join(kinds))
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(kinds):
        parser.error(f"no kind {', '.join(sorted(unknown))}")
    run.pin(1)
    lines = []
    for kind in options.kinds:
        for got in kinds[kind]():
            lines.append(got)
            print(
                f"{'PASS' if got['passed'] else 'FAIL'}  {got['what']}: {got['told']}", flush=True
            )
    if options.json:
        Path(options.json).write_text(json.dumps(lines, indent=1))
    failed = sum(not got["passed"] for got in lines)
    print(f"{len(lines) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(KINDS, __doc__)
