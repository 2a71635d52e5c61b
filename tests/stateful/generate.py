"""Stateful programs at random: entry(seed) is always the same one.

A program takes its parts by feature: the features are dealt like cards, some four to a program
(ROUND), so that every one is in the same share of any run of seeds. Half of the programs only read
Python's state, the others change it or hold what no attribute shows. A feature's part is either
one of the steps in pieces/, or a value held in some place (pieces/holders.py) and used in some way
(pieces/uses.py). Then come a style (how the step reaches its world), arguments, a result, and a
schedule of calls with changes of the world between them.
"""

import random
import re
import textwrap

from .pieces import holders_in_code, holders_unusual  # noqa: F401 they fill HOLDERS
from .pieces.control import CONTROL
from .pieces.derivatives import DERIVATIVES
from .pieces.effects import EFFECTS
from .pieces.effects_unusual import UNUSUAL
from .pieces.forms import ARGUMENTS, RESULT_TOP, RESULTS, STYLES
from .pieces.hidden import HIDDEN
from .pieces.holders import HOLDERS
from .pieces.modules import MODULES
from .pieces.part import Part, drawn, named
from .pieces.tensors import TENSORS
from .pieces.uses import KINDS, TOP, USE_FEATURES
from .tables import Entry

STEPS = [*EFFECTS, *UNUSUAL, *HIDDEN, *TENSORS, *MODULES, *DERIVATIVES, *CONTROL]
WANTED = ("equal", "refused")
IMPORTS = re.findall(
    r"\w+",
    "abc collections contextlib contextvars copy dataclasses enum functools heapq io itertools "
    "math operator queue random sys types typing weakref",
)

# What a capture has to refuse or to record; then what it changes; then what it only reads.
HIDDEN_STATE = sorted(named("random.Random, np.random.Generator, counters in C"))
CHANGES = sorted(
    named(
        "effect: attributes, effect: lists, effect: dicts, effect: closures, effect: globals, "
        "iterators, fake clocks, raise before writes, raise after writes, cached_property, printing"
    )
)
READS = sorted(
    named(
        "attributes, nested attributes, class attributes, properties, __getattr__, __call__, "
        "dataclasses, named tuples, slots, inheritance, super(), descriptors, "
        "__eq__, __len__, __iter__, list, dict, set, deque, defaultdict, nested containers, "
        "closures, nonlocal, default arguments, functions made in loops, partial, globals, "
        "made modules, getattr by name, attrgetter, generators, itertools, "
        "lathe's random stream, context variables, modules, parameters, buffers, train and eval, "
        "hooks, shared parameters, NumPy arrays, views, in-place writes, gradients, optimizers, "
        "exceptions, flags, f-strings, sorting with keys, monkeypatching, "
        "results without tensors, nested results"
    )
)
FEATURES = sorted({*HIDDEN_STATE, *CHANGES, *READS})
IN_FORMS = named("results without tensors, nested results")
# How many features of each kind the ten programs of a round have.
ROUND = [(1, 0, 3)] * 2 + [(0, 2, 2)] * 3 + [(0, 0, 4)] * 5


def changes_state(features):
    return any(f in CHANGES or f in HIDDEN_STATE or f.startswith("effect: ") for f in features)


def held_value(r, holder, only_reads):
    """A Part: a value in this holder, and a use of it."""
    kinds = sorted(KINDS)
    if "class attributes" in holder.features or "enums" in holder.features:
        kinds.remove("function")  # there it would be a method
    literal, uses = KINDS[r.choice(kinds)]
    if only_reads:
        uses = [u for u in uses if not changes_state(features_of_use(u))]

    def filled(text):
        return re.sub(r"\bVALUE\b", lambda _: literal(r), text)

    use = r.choice(uses)
    features = holder.features | features_of_use(use)
    step = re.sub(r"\bR\b", lambda _: holder.read, use)
    changes = tuple(filled(c) for c in holder.changes)
    return Part(features, filled(holder.top), filled(holder.init), step, changes)


def features_of_use(use):
    return {f for text, f in USE_FEATURES.items() if text in use}


def part_with(r, feature, only_reads):
    """A Part that has this feature; only_reads: and changes no state of Python."""
    fit = [
        p
        for p in [*STEPS, *HOLDERS, *HOLDERS]
        if feature in p.features and not (only_reads and changes_state(p.features))
    ]
    if not fit:
        raise ValueError(f"no part has the feature {feature}")
    chosen = r.choice(fit)
    return chosen if isinstance(chosen, Part) else held_value(r, chosen, only_reads)


def dealt(seed):
    """The features of this seed's program: from three decks, so that each is in the same share of
    any run of seeds."""
    round_, at = divmod(seed, len(ROUND))
    cards = []
    for kind, deck in enumerate((HIDDEN_STATE, CHANGES, READS)):
        counts = [c[kind] for c in ROUND]
        begin = round_ * sum(counts) + sum(counts[:at])
        for place in range(begin, begin + counts[at]):
            which, n = divmod(place, len(deck))
            cards.append(random.Random(f"deck {kind} {which}").sample(deck, len(deck))[n])
    return cards


def chosen_parts(r, wanted):
    parts, has = [], set()
    for feature in wanted:
        if feature not in has and feature not in IN_FORMS:
            parts.append(part_with(r, feature, feature in READS))
            has |= parts[-1].features
    if r.random() < 0.25:
        parts.append(
            held_value(r, r.choice([h for h in HOLDERS if not changes_state(h.features)]), True)
        )
    r.shuffle(parts)
    return parts


def chosen_result(r, wanted):
    forms = [f for f in wanted if f in IN_FORMS]
    fit = [
        (f, text)
        for f, text in RESULTS
        if (not forms or forms[0] in f) and (changes_state(wanted) or "effect: " not in f)
    ]
    features, text = r.choice(fit)
    return {f for f in named(features) if f}, text


class Writer:
    """The text of a program, as it grows."""

    def __init__(self, r):
        self.r = r
        self.top, self.init, self.step, self.changes = [], [], [], []

    def add(self, number, part):
        r = self.r

        def text(of):
            return drawn(of, r, number)

        if part.top:
            self.top.append(text(part.top))
        if part.init:
            self.init.append(text(part.init))
        self.changes += [text(c) for c in part.changes]
        body = text(part.step)
        if r.random() < 0.25:
            helper = f"def part_{number}(w, x, y, out):\n{indented(body)}\n    return y"
            self.top.append(helper)
            body = f"y = part_{number}(w, x, y, out)"
        self.step.append(body)
        if r.random() < 0.3:
            self.step.append("out.append(y)")
        if r.random() < 0.3:
            self.step.append("y = lt.sin(y)")


def indented(text, by=4):
    return textwrap.indent(text, " " * by)


def schedule(r, changes, variants):
    """The changes that the schedule makes, and its lines: which of them come before a call, which
    arguments it has, and how many rows these have."""
    calls, used = [], []
    for call in range(r.randrange(6, 11)):
        some = []
        if call > 1 and r.random() < 0.55:
            some = r.sample(range(changes), min(changes, r.choice((1, 1, 2, 2))))
            if used and r.random() < 0.3:  # back to what it was, perhaps
                some = [r.choice(used)]
        used += [i for i in some if i not in used]
        which = r.randrange(variants) if r.random() < 0.5 else 0
        calls.append(([used.index(i) for i in some], which, r.choice((1, 2, 2, 2, 3))))
    lines = [f"    ({some}, {which}, {rows})," for some, which, rows in calls]
    return used, "schedule = [\n" + "\n".join(lines) + "\n]"


CALLS = """
def tensor(rows, shift):
    return lt.arange(rows * 4.0).reshape(rows, 4) * 0.25 - shift


def arguments(which, rows, shift):
    x = tensor(rows, shift)
    return [
VARIANTS
    ][which]()


def calls(w):
    for number, (some, which, rows) in enumerate(schedule):
        for i in some:
            changes[i](w)
        result = yield arguments(which, rows, number % 2)
"""
BACKWARD = """        if isinstance(result, lt.Tensor) and result.requires_grad:
            with lt.enable_grad():
                result.sum().backward()
"""


def entry(seed):
    """The program of this seed, as an Entry."""
    r = random.Random(f"program {seed}")
    wanted = dealt(seed)
    parts = chosen_parts(r, wanted)
    style, given = r.choice(STYLES), r.choice(ARGUMENTS)
    result_features, result = chosen_result(r, wanted)
    features = set().union(*(p.features for p in parts), style.features, given.features)
    writer = Writer(r)
    for number, part in enumerate(parts):
        writer.add(number, part)
    source = assembled(r, writer, style, given, result, parts)
    return Entry(f"seed_{seed}", source, WANTED, None, frozenset(features | result_features))


def assembled(r, writer, style, given, result, parts):
    body = "\n".join([given.begin, "out = []", *writer.step, result])
    step = style.step.replace("PARAMETERS", given.parameters)
    step = step.replace("BODY2", indented(body, 8)).replace("BODY", indented(body))
    if not writer.changes:
        writer.changes.append("w.unused = None")
    used, told = schedule(r, len(writer.changes), len(given.variants))
    changes = [writer.changes[i] for i in used]
    raises = {name for p in parts for name in p.raises}
    if any("gradients" in p.features for p in parts):  # another part may switch gradients off
        raises.add("lt.AutogradError")
    make = "\n".join(["w = World()", *writer.init, "return w"])
    variants = "\n".join(
        f"        lambda: {drawn(v, r, 0)}," for v in (v.replace("X", "x") for v in given.variants)
    )
    blocks = [
        "\n".join(
            f"import {m}" for m in IMPORTS if re.search(rf"\b{m}\.", all_text(writer, given, style))
        ),
        "import numpy as np\n\nimport lathe as lt",
        TOP.strip(),
        RESULT_TOP.strip() if "Result(" in result or "Answer(" in result else "",
        given.top,
        *writer.top,
        style.world,
        step,
        f"def make():\n{indented(make)}",
        f"def target(w):\n{indented(style.target)}" if style.target else "",
        *(f"def change_{i}(w):\n{indented(c)}" for i, c in enumerate(changes)),
        "changes = [\n" + "".join(f"    change_{i},\n" for i in range(len(changes))) + "]",
        f"raises = ({', '.join(sorted(raises))},)" if raises else "",
        told,
        CALLS.strip().replace("VARIANTS", variants)
        + ("\n" + BACKWARD.rstrip() if r.random() < 0.3 else ""),
    ]
    return "\n\n\n".join(b for b in blocks if b) + "\n"


def all_text(writer, given, style):
    parts = [*writer.top, *writer.init, *writer.step, *writer.changes]
    return "\n".join([RESULT_TOP, given.top, style.target, *parts])
