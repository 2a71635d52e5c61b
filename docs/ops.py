"""Prints docs/ops.md: each public name of PyTorch's operators, had, for later, or not to come.

    python docs/ops.py           writes docs/ops.md
    python docs/ops.py --check   exit status 1 where the page is not what it would print
    python docs/ops.py --count   what is not had, by reason

The names are those of tests/signatures/names.txt. What is had is looked up in the module, so
nothing is listed by hand; why a name is missing is in docs/ops_reasons.txt, a line a group.
"""

import inspect
import re
import sys
import textwrap
from functools import cache
from pathlib import Path

import lathe as lt

HERE = Path(__file__).resolve().parent
NAMES = HERE.parent / "tests/signatures/names.txt"
REASONS = HERE / "ops_reasons.txt"
PAGE = HERE / "ops.md"
SPACES = (
    "torch",
    "Tensor",
    "nn.functional",
    "linalg",
    "fft",
    "special",
    "masked",
    "signal.windows",
)
MISSING = object()  # None is a value: newaxis
WORDS = ("have", "later", "never", "other")
HEADER = """\
# Operators

Every public name of PyTorch's operators: the functions of `torch`, the methods and attributes of
`Tensor`, and the functions of `nn.functional`, `linalg`, `fft`, `special`, `masked` and
`signal.windows`. What is there is looked up in the module, so that this page cannot say more than
the library; the others say why. Printed by `docs/ops.py`; the reasons are `docs/ops_reasons.txt`,
the differences of what is there `tests/signatures/differences.txt`.
"""


def names():
    return [n for n in NAMES.read_text().splitlines() if n and not n.startswith("#")]


@cache
def reasons():
    """[(pattern, word, reason)] in the order of the file."""
    lines = [n for n in REASONS.read_text().splitlines() if n and not n.startswith("#")]
    found = []
    for line in lines:
        pattern, word, reason = re.fullmatch(r"(.*?): (\w+): (.*)", line).groups()
        assert word in WORDS[1:], line
        found.append((re.compile(pattern), word, reason))
    return found


def is_there(name):
    """Is there something of this name in the module?"""
    found = lt
    for part in name.removeprefix("torch.").split("."):
        owner, found = found, inspect.getattr_static(found, part, MISSING)
        found = getattr(owner, part, MISSING) if found is MISSING else found
        if found is MISSING:
            return False
    return True


def reason_of(name):
    """(word, reason), or None."""
    return next((r[1:] for r in reasons() if r[0].fullmatch(name)), None)


def table():
    """{name: (word, reason)}; LookupError for a name that is missing without a reason."""
    found = {}
    for name in names():
        told = reason_of(name)
        if is_there(name) and (told is None or told[0] != "other"):
            told = ("have", "")
        if told is None:
            raise LookupError(f"{name} is missing and {REASONS.name} has no reason")
        found[name] = told
    return found


def idle():
    """The patterns that no missing name needs."""
    missing = [n for n, (word, _) in table().items() if word != "have"]
    used = {next(r[0] for r in reasons() if r[0].fullmatch(n)) for n in missing}
    return [r[0].pattern for r in reasons() if r[0] not in used]


def space_of(name):
    return next(s for s in reversed(SPACES) if name.startswith(s + "."))


def listed(members, space):
    """Names in one paragraph of code words."""
    words = ", ".join(f"`{m.removeprefix(space + '.')}`" for m in members)
    return textwrap.wrap(words, 110, break_long_words=False, break_on_hyphens=False)


def section(space, found):
    lines = [f"## {space}", ""]
    groups = {}
    for name, told in found.items():
        if space_of(name) == space:
            groups.setdefault(told, []).append(name)
    for (word, reason), members in sorted(groups.items(), key=place):
        head = f"**{word}** ({len(members)})" + (f": {reason}." if reason else "")
        lines += [*textwrap.wrap(head, 110), "", *listed(members, space), ""]
    return lines


def place(group):
    """Where a group stands in its section."""
    (word, reason), _ = group
    return WORDS.index(word), reason


def counts(found):
    rows = ["| names of | all | have | later | never | other |", "|---|---|---|---|---|---|"]
    for space in (*SPACES, "all"):
        words = [w for n, (w, _) in found.items() if space in (space_of(n), "all")]
        each = " | ".join(str(words.count(w)) for w in WORDS)
        rows.append(f"| {space} | {len(words)} | {each} |")
    return [*rows, ""]


def page():
    found = table()
    lines = [HEADER, *counts(found)]
    for space in SPACES:
        lines += section(space, found)
    return "\n".join(lines)


def told():
    """One line: how many names of each word, and the reasons of those for later."""
    found = [t for t in table().values() if t[0] != "have"]
    reasons_of = {r for word, r in found if word == "later"}
    counts = [f"{word} {sum(t[0] == word for t in found)}" for word in WORDS[1:]]
    return f"ops: {len(names())} names; {', '.join(counts)}; later: {'; '.join(sorted(reasons_of))}"


def main():
    if "--count" in sys.argv:
        print(told())
    elif "--check" not in sys.argv:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit("docs/ops.md is not what the definitions say: run ./dev python docs/ops.py")
    if unused := idle():
        sys.exit(f"{REASONS.name}: no missing name needs {unused}")


if __name__ == "__main__":
    main()
