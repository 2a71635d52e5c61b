"""The lines of ./dev bench as text: one each while it runs, the table of docs/speed.md, a summary.

A line is a dict: row, name, unit ("ratio" or "ms"), bar, problems, passed; of a ratio also group,
seconds {library: seconds}, ways {library: its fastest way}, best (the fastest peer) and ratio.
"""

import datetime
import math
import platform
import re
import subprocess
from pathlib import Path

from rows.case import GOAL

ROOT = Path(__file__).resolve().parents[2]
SPEED = ROOT / "docs/speed.md"
HEAD = ["row", "what", "Lathe", "best peer", "figure", "bar", "", "the others"]


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


def show(line):
    row, what, ours, peer, figure, bar, word, remarks = cells(line)
    peer = f"  ({ours} against {peer})" if peer else ""
    print(f"{word}  {row:>2} {what:<50} {figure:>9}  {bar:<9}{peer}  {remarks}", flush=True)


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


def summary(lines):
    """{group, and "all": cases, those without a ratio, the others' geometric mean, the share at
    the goal and the least}."""
    groups = {}
    for line in lines:
        if line["unit"] == "ratio":
            for group in (line["group"], "all"):
                groups.setdefault(group, []).append(line)
    if "all" in groups:
        groups["all"] = groups.pop("all")  # the last
    return {group: figures(members) for group, members in groups.items()}


def figures(lines):
    timed = [line for line in lines if "ratio" in line]
    ratios = [line["ratio"] for line in timed]
    found = {"cases": len(lines), "without_ratio": len(lines) - len(timed)}
    if ratios:
        found["mean"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found["share"] = sum(ratio >= GOAL for ratio in ratios) / len(lines)
        found["least"] = min(ratios)
        found["least_name"] = min(timed, key=lambda line: line["ratio"])["name"]
    return found


def show_summary(summary):
    print(f"\n{'group':<24}cases  geometric mean  at {GOAL:g}x or above  least")
    for group, of in summary.items():
        told = f"{group:<24}{of['cases']:>5}"
        if "mean" in of:
            least = f"{of['least']:.2f}x {of['least_name']}"
            told += f"{of['mean']:>15.2f}x{of['share']:>18.0%}  {least}"
        if of["without_ratio"]:
            told += f"; {of['without_ratio']} without a ratio"
        print(told)
    print()
