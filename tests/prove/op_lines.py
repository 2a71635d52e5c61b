"""How many lines an op takes: definition, functions that serve it alone, name, samples.

    python tests/prove/op_lines.py [--list]

Read from the sources of the tree, without running them. A definition is the statement, or the row
of a table, that has its schema; a function counts where one definition alone leads to it. Comments
and blank lines do not count.
"""

import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = re.compile(r'"(\w+(?:\.\w+)?)\((?=[A-Z*)])')
FUNCTION = re.compile(r"^(?!namespace|struct|enum|class|using)[\w:<>&*, ]+?\b(\w+)\(.*[^;]$")


def code(path):
    """The lines of a source without comments and blanks."""
    lines = (re.sub(r"//.*", "", line).rstrip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def functions(lines):
    """{name: its lines} of the functions at the left edge."""
    found, at = {}, 0
    while at < len(lines):
        start, named = at, FUNCTION.match(lines[at])
        at += 1
        if not named:
            continue
        if lines[start].count("{") == lines[start].count("}") > 0:
            found[named[1]] = lines[start : start + 1]
            continue
        end = next((i for i in range(at, len(lines)) if lines[i] == "}"), None)
        if end is not None and not any(line.endswith(";") for line in lines[start:at]):
            found[named[1]] = lines[start : end + 1]
            at = end + 1
    return found


def definition(lines, at):
    """The statement or the row around line `at`, which has a schema."""
    first = last = at
    while not re.match(r"\s*(r\.\w+\(|\{\"|\{$|add\w*\()", lines[first]) and at - first < 12:
        first -= 1
    depth = 0
    for last in range(first, len(lines)):
        text = re.sub(r'"[^"]*"', "", lines[last])
        depth += sum(map(text.count, "({[")) - sum(map(text.count, ")}]"))
        if depth <= 0:
            break
    return lines[first : last + 1]


def reached(text, known, seen):
    """The functions that this text leads to."""
    for name in set(re.findall(r"\b\w+\b", text)) & set(known) - seen:
        seen.add(name)
        reached("\n".join(known[name][1:]), known, seen)
    return seen


def samples():
    found = {}
    for path in sorted((ROOT / "tests/samples").glob("*.txt")):
        for line in path.read_text().splitlines():
            name = line.lstrip("! ").split(":")[0]
            found[name] = found.get(name, 0) + 1
    return found


def main():
    tried, table = samples(), []
    for path in sorted((ROOT / "core/ops").glob("*.cpp")):
        lines = code(path)
        known = functions(lines)
        known = {n: body for n, body in known.items() if not SCHEMA.search("\n".join(body))}
        texts = [(m[1], definition(lines, i)) for i, line in enumerate(lines)
                 for m in SCHEMA.finditer(line)]  # fmt: skip
        texts = [(name, text) for name, text in texts if "->" in "".join(text)]
        leads = [reached("\n".join(text), known, set()) for _, text in texts]
        for (name, text), mine in zip(texts, leads):
            alone = [f for f in mine if sum(f in other for other in leads) == 1]
            count = len(text) + sum(len(known[f]) for f in alone) + 1 + tried.get(name, 0)
            table.append((count, name, path.name))
    if "--list" in sys.argv:
        for count, name, file in sorted(table):
            print(f"{count:>4} {name} ({file})")
    counts = [count for count, _, _ in table]
    most = ", ".join(f"{name} {count}" for count, name, _ in sorted(table)[-3:])
    print(
        f"op lines: median {statistics.median(counts):g} of {len(counts)} definitions, most {most}"
    )


if __name__ == "__main__":
    main()
