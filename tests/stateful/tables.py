"""Programs written by hand, several in a file, each below a line that names it:

    # %% name: equal
    # %% name: refused
    # %% name: either
    # %% name: equal, traces 2

What stands above the first such line belongs to each of them. `equal`: a capture that gives eager's
results is wanted, `refused`: a refusal, `either`: one of the two. traces: at most so many.
"""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEAD = re.compile(r"^# %% (\w+): (equal|refused|either)(?:, traces (\d+))?$")
FOLDERS = ("classes", "ordinary")


@dataclass(frozen=True)
class Entry:
    name: str  # file.program
    source: str
    wanted: tuple  # verdicts
    most_traces: int | None = None
    features: frozenset = frozenset()


def entries_of(path):
    """The programs of one file; its lines keep their numbers. ValueError for a bad head."""
    lines = path.read_text().split("\n")
    heads = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    if not heads:
        raise ValueError(f"{path.name} has no program")
    found = {}
    for begin, end in zip(heads, [*heads[1:], len(lines)]):
        told = HEAD.match(lines[begin])
        if not told or told[1] in found:
            raise ValueError(f"{path.name}:{begin + 1}: no head, or a name twice: {lines[begin]}")
        common = lines[: heads[0]] + [""] * (begin - heads[0])
        wanted = ("equal", "refused") if told[2] == "either" else (told[2],)
        most = int(told[3]) if told[3] else None
        source = "\n".join(common + lines[begin:end]) + "\n"
        found[told[1]] = Entry(f"{path.stem}.{told[1]}", source, wanted, most)
    return list(found.values())


def entries(folder):
    """All programs of classes/ or ordinary/, or of another folder of tables."""
    return [e for path in sorted((HERE / folder).glob("*.py")) for e in entries_of(path)]
