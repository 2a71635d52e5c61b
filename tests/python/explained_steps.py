"""The steps that explain(verbose=True) tells of, and a layer whose plan is looked at."""

import re

import lathe as lt

STEP = re.compile(r"  \d+\. ")
CHOICE = re.compile(r" +([\w.]+) \((defined|pinned|free)\): (.*)")


def layer(x, w, b):
    return lt.gelu(x @ w + b)


def arguments(dtype=lt.float32):
    lt.manual_seed(1)
    return [lt.randn(*s).to(dtype) for s in ((6, 40), (40, 5), (5,))]


def steps_of(text):
    """[(head, {entry: (bits class, reason)})] of each step."""
    steps = []
    for line in text.splitlines():
        if STEP.match(line):
            steps.append((line.strip(), {}))
        elif steps and (found := CHOICE.match(line)):
            entry, kind, reason = found.groups()
            steps[-1][1][entry] = (kind, reason)
    return steps
