"""What a captured run of a program is worth, and which verdicts are known."""

import keyword
import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .describe import first_difference

VERDICTS = ("equal", "refused", "costly", "unplaced", "wrong", "crash", "broken")
CAPTURES = ("trace", "script")


@dataclass
class Judged:
    """verdict: equal; refused: some call was, by an error that names a line of the program, and
    changed nothing; unplaced: the same, but the error names no line of the program; costly: equal,
    with more traces than wanted; wrong: another result or state; crash: the process died or did not
    end; broken: the program itself fails."""

    verdict: str
    why: str = ""
    reasons: list = field(default_factory=list)  # of refusals, one a refused call
    calls: int = 0
    served: int = 0  # calls that ran a program captured before
    traces: int = 0


def judge(eager, report, most_traces=None):
    """A Judged, from the reports of both runs."""
    for which, one in (("eager", eager), ("captured", report)):
        if "died" in one:
            verdict = "broken" if one is eager else "crash"
            code = one["died"]
            said = "did not end" if code == -signal.SIGALRM else f"ended with {code}"
            return Judged(verdict, f"the {which} process {said}")
    unexpected = next((c["unexpected"] for c in eager["calls"] if "unexpected" in c), None)
    if eager["broken"] or unexpected or not eager["calls"]:
        return Judged("broken", eager["broken"] or unexpected or "it makes no call")
    calls = report["calls"]
    judged = Judged("equal", calls=len(calls))
    judged.traces = sum(c["traces"] for c in calls)
    judged.served = sum(c["served"] for c in calls)
    judged.reasons = [c["refused"] for c in calls if c["refused"]]
    fault = first_fault(eager, report)
    if fault:
        judged.verdict, judged.why = "wrong", fault
    elif any(c["unplaced"] for c in calls):
        judged.verdict, judged.why = "unplaced", shown(judged.reasons[0])
    elif judged.reasons:
        judged.verdict, judged.why = "refused", shown(judged.reasons[0])
    elif most_traces is not None and judged.traces > most_traces:
        judged.verdict = "costly"
        judged.why = f"{judged.traces} traces, at most {most_traces} wanted"
    return judged


def in_short(judged):
    """A reason for verdicts.txt: what a refusal says, or where a wrong run first differs."""
    if judged.reasons and judged.verdict in ("refused", "unplaced"):
        return general(judged.reasons[0])
    line = judged.why.split("\n")[0]
    found = re.match(r"(call \d+: )(a refusal that left a trace: )?(\S+?): ", line)
    if judged.verdict != "wrong" or not found:
        return line
    return f"{found[1]}{'a refusal changed ' if found[2] else ''}{found[3]}" + (
        "" if found[2] else " differs"
    )


def first_fault(eager, report):
    for number, (expected, found) in enumerate(zip(eager["calls"], report["calls"]), 1):
        if found["left"]:
            return f"call {number}: a refusal that left a trace: {found['left']}"
        if expected["raised"] != found["raised"]:
            told = found.get("unexpected", found["raised"])
            return f"call {number} raised {told}; eager: {expected['raised']}"
        difference = first_difference(expected["lines"], found["lines"])
        if difference:
            return f"call {number}: {difference}"
    return report["broken"]


def shown(text):
    """The first line of a refusal, and the line of the program that it names."""
    at = re.search(r"^\s*at:\s*(.*)$", text, re.M)
    return text.split("\n")[0] + (f"  [{Path(at[1]).name}]" if at else "")


def keyword_or_dots(found):
    return found[0] if keyword.iskeyword(found[1] or "") else "'...'"


def general(text):
    """A refusal's reason without names, numbers and quoted text, to count it by."""
    line = text.split("\n")[0]
    line = re.sub(r"'([^']*)'|\"[^\"]*\"|`[^`]*`", keyword_or_dots, line)
    line = re.sub(r": [\w.]+ \([\w.]+\) ", ": NAME ", line)
    line = re.sub(r"\b(?:[A-Za-z_]\w*\.)+\w+\b", "NAME", line)
    line = re.sub(r"\b\w*\d\w*\b", "N", line)
    return line[:110]


# ── what is known ───────────────────────────────────────────────────────────────────────────────


def listed(path):
    """{(program, mode): (verdict, reason)} of verdicts.txt; ValueError for a bad line."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split(None, 3)
        if len(words) != 4:
            raise ValueError(f"{path.name}:{number}: program, mode, verdict, reason")
        program, modes, verdict, reason = words
        if verdict not in VERDICTS or verdict == "broken":
            raise ValueError(f"{path.name}:{number}: no verdict of a program is {verdict}")
        for mode in CAPTURES if modes == "all" else modes.split(","):
            if mode not in CAPTURES or (program, mode) in found:
                raise ValueError(f"{path.name}:{number}: {program} {mode}: twice, or unknown")
            found[program, mode] = verdict, reason
    return found


def complaint(program, mode, wanted, judged, known):
    """Why this verdict fails the run, or None. wanted: the verdicts that are as they should be."""
    expected, _ = known.get((program, mode), (None, None))
    if expected in wanted:
        return f"listed as {expected}, which is wanted: take the line out"
    if expected is not None:
        return None if judged.verdict == expected else f"{expected} is listed"
    return None if judged.verdict in wanted else f"{' or '.join(wanted)} is wanted"


@dataclass
class Totals:
    """Of one mode over all programs."""

    verdicts: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    calls: int = 0
    served: int = 0
    refused: int = 0
    traces: int = 0

    def add(self, judged):
        self.verdicts[judged.verdict] += 1
        self.reasons.update({general(r) for r in judged.reasons})
        self.calls += judged.calls
        self.served += judged.served
        self.refused += len(judged.reasons)
        self.traces += judged.traces

    def text(self):
        told = ", ".join(
            f"{self.verdicts[v]} {v}"
            for v in VERDICTS
            if self.verdicts[v] or v in ("equal", "refused", "wrong")
        )
        share = f"{100 * self.served / max(self.calls, 1):.0f} %"
        return (
            f"{told}; {self.calls} calls: {self.traces} traces, {self.served} served ({share}), "
            f"{self.refused} refused"
        )
