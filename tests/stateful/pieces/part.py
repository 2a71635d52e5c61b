"""What a generated program is put together from.

In the texts `w` is the world, `y` the tensor that the step works on, `out` a list that can become
part of the result, and $ the number of the part in its program. NUM, INT, WORD, BOOL stand for a
literal that is drawn anew wherever they are, SMALL for a number that is never 0.
"""

import re
import textwrap
from dataclasses import dataclass

NUMBERS = ("0.5", "1.5", "2.0", "-1.25", "3.0", "0.0", "2", "-1", "1.0", "0.1")
SMALL = ("0.5", "1.5", "2.0", "0.25", "3.0")
WORDS = ('"tanh"', '"relu"', '"abs"', '"sin"')
LITERALS = {
    "NUM": lambda r: r.choice(NUMBERS),
    "SMALL": lambda r: r.choice(SMALL),
    "INT": lambda r: str(r.randrange(4)),
    "WORD": lambda r: r.choice(WORDS),
    "BOOL": lambda r: r.choice(("True", "False")),
}


@dataclass(frozen=True)
class Part:
    features: frozenset
    top: str = ""  # at the level of the module
    init: str = ""  # in make(), where w is being filled
    step: str = ""  # in the captured function
    changes: tuple = ()  # bodies of functions of w that run between calls
    raises: tuple = ()  # names of exceptions that it may raise


def part(features, step, top="", init="", changes=(), raises=()):
    """A Part from texts with free indentation. features: names separated by commas."""
    texts = [textwrap.dedent(t).strip("\n") for t in (top, init, step)]
    bodies = tuple(textwrap.dedent(c).strip("\n") for c in changes)
    return Part(named(features), *texts, bodies, tuple(raises))


def named(features):
    return frozenset(f.strip() for f in features.split(","))


def drawn(text, r, number):
    """The text with its literals drawn and $ replaced."""
    for token, draw in LITERALS.items():
        text = re.sub(rf"\b{token}\b", lambda _, d=draw: d(r), text)
    return text.replace("$", str(number))
