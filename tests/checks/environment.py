"""Only core/base/flags.cpp reads the environment: there each variable has a default and a doc."""

import re

from tree import FOLDERS, Result, line_of, strip_cpp

NAME = "environment"

READS = re.compile(r"\b(secure_getenv|getenv|environ)\b")


def check(tree):
    result = Result()
    paths = tree.sources(*FOLDERS, "include", suffixes=(".cpp", ".h", ".hpp", ".py"))
    for path in paths:
        if path == "core/base/flags.cpp":
            continue
        text = tree.text(path)
        text = re.sub(r"#[^\n]*", "", text) if path.endswith(".py") else strip_cpp(text)
        for match in READS.finditer(text):
            line = line_of(text, match.start())
            if "not ours:" in tree.text(path).splitlines()[line - 1]:
                continue  # a library reads a variable of its own when it is opened
            result.problems.append(f"{path}:{line}: reads the environment ({match.group(0)})")
    result.figure = f"{len(paths)} files"
    return result
