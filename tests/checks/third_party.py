"""Every dependency is pinned, and third_party/README.md says what it is for and its licence."""

import re

from tree import Result

NAME = "third party"


def names(text):
    """The packages a list names: first word of each line, without comment, options and version."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [re.split(r"[=<>! ]", line)[0] for line in lines if line and line[0] != "-"]


def unpinned(tree, asked, resolved):
    """Problems of a list of packages asked for, and of what it resolved to."""
    lines = tree.text(resolved).splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#") and "==" not in line:
            yield f"{resolved}:{number}: {line} has no exact version"
    have = {name.lower().replace("_", "-") for name in names("\n".join(lines))}
    for name in names(tree.text(asked)):
        if name.lower() not in have:
            yield f"{resolved}:1: lacks {name}"


def check(tree):
    result = Result()
    readme = tree.text("third_party/README.md")
    lists = [f for f in tree.sources("third_party", suffixes=(".in", ".txt")) if "/abseil" not in f]
    asked = [f for f in lists if f.endswith(".in") or "/apt" in f or "/ducc" in f]
    wanted = [name for path in asked for name in names(tree.text(path))]
    for name in wanted:
        if f"`{name}`" not in readme:
            result.problems.append(f"third_party/README.md:1: has no entry for {name}")
    pinned = 0
    for path in asked:
        if path.endswith(".in"):
            resolved = path.removesuffix(".in") + ".txt"
            pinned += len(names(tree.text(resolved)))
            result.problems += unpinned(tree, path, resolved)
    result.figure = f"{len(wanted)} packages asked for, {pinned} pinned"
    return result
