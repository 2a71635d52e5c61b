"""There is one derivative: `.grad` belongs to a definition; nothing else decides by op or kind.

A row's rule stands in core/ops, that of callbacks and custom ops beside what makes them; what a
kind derives stands in core/dispatch/grad.cpp. The tape and `differentiate` call those: in autodiff/
there are cases for structures of graphs only, none for a kind of row or an op, and nobody else
keeps a table of derivatives or of shape rules.
"""

import re

from tree import FOLDERS, Result, line_of, strip_cpp

NAME = "derivatives"

RULE = re.compile(r"\.(grad|infer)\s*=\s*(\[|[a-z_]+_(grad|gradient|backward)\b)")
RULES_STAND = re.compile(r"core/(ops/|dispatch/(grad|custom|callback)\.cpp|op/op\.cpp)")
KIND = re.compile(r"\bcase\s+Kind::(\w+)|\.kind\s*[!=]=\s*Kind::(?!composite)(\w+)")
TABLE = re.compile(r"map<[^;>]*(GradRule|InferRule|GradFn)\b")


def check(tree):
    result = Result()
    paths = tree.sources(*FOLDERS, suffixes=(".cpp", ".h"))
    rules = 0
    for path in paths:
        text = strip_cpp(tree.text(path))

        def problem(match, what, path=path, text=text):
            result.problems.append(f"{path}:{line_of(text, match.start())}: {what}")

        for match in RULE.finditer(text):
            rules += 1
            if not RULES_STAND.match(path):
                problem(match, f"a second .{match.group(1)} beside the rows")
        for match in TABLE.finditer(text):
            problem(match, f"a table of {match.group(1)}s beside the rows")
        if path.startswith("autodiff/"):
            for match in KIND.finditer(text):
                problem(match, f"decides by the kind {match.group(1) or match.group(2)}")
    result.figure = f"{rules} rules, {len(paths)} files"
    return result
