"""How Lathe's signatures differ from PyTorch's, in words that a list of known ones can hold.

A call that PyTorch takes must be one that an overload of ours takes: the same names at the same
places, keyword-only ones by name alone, and the same value where an argument is left out. For each
of PyTorch's overloads it is asked

    no (a, b)             nothing takes just the arguments that have no default
    lacks c               a, b and c by name
    c not by position     a, b and c, c by its place
    c by position         c is keyword-only there, and ours takes it by its place
    c=1 here, 0 there     the defaults differ
    no Tensor for c       c may be a tensor there, and nothing here takes one
    adds d                ours has a parameter that PyTorch has in no overload
"""

from __future__ import annotations

import ast

from table import Parameter, Signature

SAME = {"self": "input"}  # the name of a number in the place of a tensor
# What callables add to the schemas of a whole sort of ops, whether PyTorch has it for each or not.
SHARED = {"out", "requires_grad", "layout", "pin_memory", "generator", "memory_format"}


def named(name: str) -> str:
    return SAME.get(name, name)


def asked_as(theirs: Parameter) -> str:
    """The name it must have here; "/name" for one by its place alone, which may have any."""
    return f"/{theirs.name}" if theirs.kind == "place" else named(theirs.name)


def takes(ours: Signature, places: list[str], keywords: set[str]) -> bool:
    """Whether it takes arguments for these parameters: by place, in order, and by name."""
    plain = [named(p.name) for p in ours.parameters if p.kind in ("positional", "place")]
    spread = {p.kind for p in ours.parameters}
    if len(places) > len(plain) and "*" not in spread:
        return False
    if any(mine != asked and asked[0] != "/" for mine, asked in zip(plain, places)):
        return False
    by_name = {named(p.name) for p in ours.parameters if p.kind in ("positional", "keyword", "*")}
    if not keywords <= by_name and "**" not in spread:
        return False
    given = set(plain[: len(places)]) | set(places) | keywords
    required = [p for p in ours.parameters if p.default is None and p.kind[0] != "*"]
    return all(named(p.name) in given for p in required)


def any_takes(ours, places, keywords=frozenset()) -> bool:
    return any(takes(o, places, set(keywords)) for o in ours)


def plain_value(text: str):
    """A default's value, where lists, tuples and one number for every axis are the same."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.removeprefix("lathe.").removeprefix("torch.")
    if isinstance(value, (list, tuple)):
        value = list(value)
        return value[0] if value and len(set(map(repr, value))) == 1 else value
    return value


KINDS = {"Number": "number", "int": "number", "float": "number", "Scalar": "number"}
KINDS |= {"DTypeLike": "dtype"}
KNOWN = {"Tensor", "number", "str", "list", "bool", "dtype"}


def kinds(types: tuple[str, ...]) -> set[str]:
    """What a value may be, in words common to both; empty where nothing is said."""
    found = set()
    for text in types:
        for word in text.split("|"):
            word = word.strip().removesuffix("?").replace("(!)", "")
            if word.endswith("]"):
                found |= {"list"} | ({"number"} if word.startswith(("int[", "float[")) else set())
            else:
                found.add(KINDS.get(word, word))
    return found & KNOWN


def refused(ours, theirs: Parameter, places, keywords) -> list[str]:
    """Kinds of values that it may be there, and that no overload of ours takes in its place."""
    taken = set()
    for o in ours:
        if takes(o, places, set(keywords)):
            mine = next((p for p in o.parameters if named(p.name) == theirs.name), None)
            if mine is None or not kinds(mine.types):
                return []  # by its place only, or of a type that is not said
            taken |= kinds(mine.types)
    return [f"no {kind} for {theirs.name}" for kind in sorted(kinds(theirs.types) - taken)]


ROW_MAJOR = ("strided", "contiguous_format", "preserve_format")  # the only layout there is


def unset(value) -> bool:
    """Whether nothing is asked for: pin_memory=False, stride=() and dim=None say the same."""
    return value is None or value is False or value == [] or value in ROW_MAJOR


def same_default(a: str, b: str) -> bool:
    left, right = plain_value(a), plain_value(b)
    return (
        (left == right and type(left) is not bool)
        or left is right
        or (unset(left) and unset(right))
    )


def against(ours: list[Signature], theirs: Signature) -> list[str]:
    """The differences of one overload of PyTorch's."""
    parameters = [Parameter(asked_as(p), p.types, p.kind, p.default) for p in theirs.parameters]
    asked = [p for p in parameters if p.kind[0] != "*"]
    starred = [p.name for p in parameters if p.kind == "*"]
    places = [p.name for p in asked if p.kind != "keyword" and p.default is None] + starred
    keywords = {p.name for p in asked if p.kind == "keyword" and p.default is None}
    if not any_takes(ours, places, keywords):
        shown = ", ".join([*places, *(f"{k}=" for k in sorted(keywords))])
        return [f"no ({shown})"]
    found = []
    order = list(places)
    placed = [p.name for p in asked if p.kind == "place" and p.default is None]
    if not starred and not any_takes(ours, placed, keywords | set(places) - set(placed)):
        found.append(f"({', '.join(places)}) not by name")
    for p in asked:
        if p.default is None:
            found += refused(ours, p, places, keywords)
            continue
        if not any_takes(ours, places, keywords | {p.name}):
            found.append(f"lacks {p.name}")
            continue
        if p.kind != "keyword":
            order.append(p.name)
            if not any_takes(ours, order, keywords):
                found.append(f"{p.name} not by position")
        elif any_takes(spreadless(ours), [*order, p.name], keywords):
            found.append(f"{p.name} by position")
        found += refused(ours, p, places, keywords | {p.name})
        found += defaults(ours, p, places, keywords)
    return found


def defaults(ours, theirs: Parameter, places, keywords) -> list[str]:
    """A default that another value stands for, in an overload that takes the call without it."""
    for o in ours:
        if not takes(o, places, set(keywords)):
            continue
        for p in o.parameters:
            if named(p.name) == theirs.name and not same_default(p.default or "", theirs.default):
                return [f"{p.name}={p.default} here, {theirs.default} there"]
        return []
    return []


def spreadless(ours: list[Signature]) -> list[Signature]:
    """Without those that gather what is given by place: it is no parameter's then."""
    return [o for o in ours if all(p.kind != "*" for p in o.parameters)]


def required(signature: Signature) -> tuple[str, ...]:
    return tuple(named(p.name) for p in signature.parameters if p.default is None)


def differences(ours: list[Signature], theirs: list[Signature]) -> list[str]:
    """All of them for one name, each once."""
    found, seen = [], set()
    for signature in theirs:
        new = against(ours, signature)
        if required(signature) in seen:  # the overload before it gave the defaults of such a call
            new = [d for d in new if " there" not in d]
        seen.add(required(signature))
        found += new
    known = {named(p.name) for s in theirs for p in s.parameters} | SHARED
    if not any(p.kind == "**" for s in theirs for p in s.parameters):
        anyhow = sum(p.kind == "place" for p in theirs[0].parameters)
        names = [named(p.name) for o in ours for p in o.parameters[anyhow:] if p.kind[0] != "*"]
        found += [f"adds {name}" for name in names if name not in known]
    return list(dict.fromkeys(found))
