"""Nested tuples, lists, named tuples and dicts of anything: taken apart into leaves, and put
together again."""

from .. import _lathe

_LEAF = None  # the structure of what is no container


def flatten(tree):
    """(the leaves in order, the structure). Dicts are read in their own order."""
    leaves = []
    return leaves, _take_apart(tree, leaves)


def _take_apart(tree, leaves):
    if isinstance(tree, dict):
        return (type(tree), tuple(tree), [_take_apart(v, leaves) for v in tree.values()])
    if isinstance(tree, (tuple, list)):
        return (type(tree), None, [_take_apart(v, leaves) for v in tree])
    leaves.append(tree)
    return _LEAF


def unflatten(structure, leaves):
    """The tree of this structure with these leaves, in order."""
    return _put_together(structure, iter(leaves))


def _put_together(structure, leaves):
    if structure is _LEAF:
        return next(leaves)
    kind, keys, parts = structure
    values = [_put_together(part, leaves) for part in parts]
    if keys is None:
        return kind(*values) if hasattr(kind, "_fields") else kind(values)
    items = zip(keys, values)
    return dict(items) if kind is dict else _like_dict(kind, items)


def _like_dict(kind, items):
    from collections import defaultdict

    return defaultdict(None, items) if issubclass(kind, defaultdict) else kind(items)


def mapped(function, tree):
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def matching(name, what, tree, structure):
    """The leaves of a tree that must have this structure, whatever order its dicts are in."""
    leaves = []
    if not _match(tree, structure, leaves):
        raise _lathe.ValueError(
            f"{what} do not have the structure they belong to", op=name, got=describe(tree),
            expected=_text(structure), next="nest them in the same tuples, lists and dicts",
        )  # fmt: skip
    return leaves


def _match(tree, structure, leaves):
    if structure is _LEAF:
        leaves.append(tree)
        return not isinstance(tree, (tuple, list, dict))
    kind, keys, parts = structure
    if keys is not None:
        if not isinstance(tree, dict) or set(tree) != set(keys):
            return False
        return all(_match(tree[k], part, leaves) for k, part in zip(keys, parts))
    if not isinstance(tree, (tuple, list)) or len(tree) != len(parts):
        return False
    return all(_match(value, part, leaves) for value, part in zip(tree, parts))


def spread(name, what, prefix, structure, is_value):
    """For each leaf of the structure, the value that `prefix` has for it: one at a node is for all
    below that node."""
    found = []
    if not _spread(prefix, structure, is_value, found):
        raise _lathe.ValueError(
            f"{what} does not fit the structure that it speaks of", op=name, got=repr(prefix),
            expected=f"one value, or one for each part of {_text(structure)}",
            next="give one value for all, or nest them in the same way",
        )  # fmt: skip
    return found


def _spread(prefix, structure, is_value, found):
    if is_value(prefix):
        found += [prefix] * leaf_count(structure)
        return True
    if structure is _LEAF:
        return False
    _, keys, parts = structure
    if keys is not None:
        if not isinstance(prefix, dict) or set(prefix) != set(keys):
            return False
        pairs = [(prefix[k], part) for k, part in zip(keys, parts)]
    else:
        if not isinstance(prefix, (tuple, list)) or len(prefix) != len(parts):
            return False
        pairs = zip(prefix, parts)
    return all(_spread(p, part, is_value, found) for p, part in pairs)


def leaf_count(structure):
    return 1 if structure is _LEAF else sum(leaf_count(part) for part in structure[2])


def describe(tree):
    return _text(flatten(tree)[1])


def _text(structure):
    """As Python would write it, with * for a leaf."""
    if structure is _LEAF:
        return "*"
    kind, keys, parts = structure
    inner = [_text(part) for part in parts]
    if keys is not None:
        return "{" + ", ".join(f"{k!r}: {text}" for k, text in zip(keys, inner)) + "}"
    if issubclass(kind, list):
        return "[" + ", ".join(inner) + "]"
    return "(" + ", ".join(inner) + ("," if len(inner) == 1 else "") + ")"
