"""Nothing in the tree names a machine: no home or scratch path, no host of a package registry.

The patterns are written so that they do not match themselves.
"""

import re

from tree import Result, line_of

NAME = "machine words"

PATTERNS = [
    (r"(?<![\w.$}])/(?:root|work|home/\w+|Users/\w+|mnt/\w+)/", "a path of one machine"),
    (
        r"\b(?:pypi|pythonhosted|anaconda|deb\.debian|archive\.ubuntu|snapshot\.debian)\.(?:org|com)\b",
        "a host of a package registry",
    ),
    (
        r"\b(?:index-url|extra-index-url|trusted-host)\b\s*[= ]\s*\w",
        "a setting of one machine's package registry",
    ),
    (
        r"(?i)\b(?:[c]laude|[a]nthropic|[o]penai|[c]hatgpt|[c]opilot|[l]anguage model)\b",
        "a word that has no place here",
    ),
    (
        r"(?i)co-[a]uthored-by|generated [b]y (?:an? )?ai\b|\bas an [a]i\b",
        "a word that has no place here",
    ),
]
COMPILED = [(re.compile(p), why) for p, why in PATTERNS]
BINARY = (
    ".png",
    ".jpg",
    ".gif",
    ".ico",
    ".npz",
    ".npy",
    ".bin",
    ".gz",
    ".safetensors",
    ".lathe",
    ".pdf",
)


def check(tree):
    result = Result()
    paths = [f for f in tree.files if not f.endswith(BINARY)]
    for path in paths:
        text = tree.text(path)
        for pattern, why in COMPILED:
            for match in pattern.finditer(text):
                line = line_of(text, match.start())
                result.problems.append(f"{path}:{line}: {why}: {match.group(0).strip()}")
    result.figure = f"{len(paths)} files"
    return result
