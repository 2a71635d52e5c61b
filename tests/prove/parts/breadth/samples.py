"""Line 1: PyTorch's operator samples, the public half."""

import json

from ..proof import LOGS, Line, Missing, require
from ..suites import share, suite

LINE = Line(1, "PyTorch's own samples: values, gradients, traces, refusals", True, proof="breadth")
SCRIPT = "tests/suites/opinfo/run.py"
ROWS = LOGS / "opinfo.jsonl"
SHORT = "forward,gradient,second,jvp,traced,errors"


def measure(name, *arguments):
    LOGS.mkdir(parents=True, exist_ok=True)
    ROWS.unlink(missing_ok=True)
    words = ("--processes", "2", "--json", ROWS, *arguments)
    done = suite(name, SCRIPT, *words, modules=("torch", "expecttest"))
    return done.last(r"^opinfo: (.*)")


@LINE.part("every entry, every mode", minutes=30, quick=lambda: measure("opinfo", "--modes", SHORT))
def everything():
    return measure("opinfo-full")


def rows(*modes):
    """The outcomes of these modes, of the run that the first part made."""
    if not ROWS.exists():
        raise Missing("the first part has not run")
    every = map(json.loads, ROWS.read_text().splitlines())
    found = [r for r in every if r["mode"] in modes and r["status"] != "none"]
    require(found, f"nothing was asked in {', '.join(modes)}")
    return found


def passed(found):
    return sum(r["status"] == "pass" for r in found)


def entries_of(mode, least):
    found = rows(mode)
    return share(passed(found), len(found), least, f"{mode}: entries")


@LINE.part("forward: at least 97 % of the entries")
def forward():
    return entries_of("forward", 97)


@LINE.part("strided, channels-last; every dtype: at least 97 % each", minutes=4)
def layouts():
    return f"{entries_of('layout', 97)}; {entries_of('dtypes', 97)}"


@LINE.part("methods and in-place forms: at least 97 % each", minutes=4)
def forms():
    return f"{entries_of('method', 97)}; {entries_of('inplace', 97)}"


@LINE.part("gradients: at least 97 %")
def gradient():
    return entries_of("gradient", 97)


@LINE.part("second order: at least 95 %")
def second():
    return entries_of("second", 95)


@LINE.part("forward mode: at least 95 %")
def forward_mode():
    return entries_of("jvp", 95)


@LINE.part("traces: all that can be captured have eager's bytes")
def traced():
    found = rows("traced")
    absent = [r for r in found if r["status"] == "unsupported" and "TraceError" not in r["reason"]]
    refused = [r for r in found if r["status"] == "unsupported" and "TraceError" in r["reason"]]
    captured = [r for r in found if r["status"] != "unsupported"]
    told = share(passed(captured), len(captured), 100, "captured and equal")
    return f"{told}; refused by a trace {len(refused)}, without eager's result {len(absent)}"


@LINE.part("wrong 0, crash 0")
def faults():
    bad = [r for r in map(json.loads, ROWS.read_text().splitlines())
           if r["status"] in ("wrong", "crash", "timeout")]  # fmt: skip
    told = "; ".join(f"{r['status']} {r['name']} {r['mode']}" for r in bad[:5])
    require(not bad, f"{len(bad)}, the first: {told}")
    return "none"


@LINE.part("error samples: at least 99 % refused")
def errors():
    found = rows("errors")
    right, asked = (sum(r[k] for r in found) for k in ("passed", "samples"))
    return share(right, asked, 99, "samples")
