"""Every dependency is pinned, and third_party/README.md says what it is for and its licence."""

import re

from tree import Result

NAME = "third party"


def names(text):
    """The packages a list names: first word of each line, without comment and version."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [re.split(r"[=<>! ]", line)[0] for line in lines if line]


def check(tree):
    result = Result()
    readme = tree.text("third_party/README.md")
    wanted = names(tree.text("third_party/apt.txt")) + names(
        tree.text("third_party/requirements.in")
    )
    for name in wanted:
        if f"`{name}`" not in readme:
            result.problems.append(f"third_party/README.md:1: has no entry for {name}")
    pinned = tree.text("third_party/requirements.txt").splitlines()
    for number, line in enumerate(pinned, 1):
        if line.strip() and not line.startswith("#") and "==" not in line:
            result.problems.append(
                f"third_party/requirements.txt:{number}: {line} has no exact version"
            )
    have = {name.lower().replace("_", "-") for name in names("\n".join(pinned))}
    for name in names(tree.text("third_party/requirements.in")):
        if name.lower() not in have:
            result.problems.append(f"third_party/requirements.txt:1: lacks {name}")
    result.figure = f"{len(wanted)} packages asked for, {len(have)} pinned"
    return result
