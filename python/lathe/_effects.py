"""What a function could change: compared before and after it is recorded.

A part of a structure is recorded by running it once, and both branches of a cond are. What it does
to Python's objects would then have happened another number of times than in eager, so it is
refused: lists, dicts, sets, attributes, closure cells, globals that its code names, and `.grad`.
"""

from . import _lathe
from ._lathe import Tensor

_MOST_OBJECTS = 1 << 18
_PLAIN = (int, float, bool, str, bytes, complex, type(None), type, type(len))


class Effects:
    """Of one structure, whose parts are these functions."""

    def __init__(self, op, *functions):
        self.op, self.functions = op, functions
        self.recorded = False
        self.depth = _lathe._recording()
        self.before = _Walk(functions) if _lathe._tracing() else None

    def watched(self, part, one_of=False):
        """The part, which notes whether it was recorded. one_of: eager runs one of two."""

        def run(*args):
            recorded = self.before is not None and _lathe._recording() > self.depth
            self.recorded |= recorded
            try:
                return part(*args)
            except Exception as e:
                if not (recorded and one_of) or type(e).__module__.startswith("lathe"):
                    raise
                raise _lathe.TraceError(
                    "an exception in a branch that data decides about", op=self.op,
                    got=f"{type(e).__name__}: {e}", expected="branches that run to their end",
                    next="take what raises out of the branch",
                ) from e  # fmt: skip

        return run

    def checked(self, structure):
        """What the structure gives. TraceError if a part that was recorded changed an object."""
        result = structure()
        if self.recorded and (changed := self.before.difference()):
            raise _lathe.TraceError(
                "a part that is recorded once changes a Python object", op=self.op, got=changed,
                expected="functions that change tensors alone",
                next="give back what changes, or carry it",
            )  # fmt: skip
        return result


class _Walk:
    """All that functions can reach, as it is now."""

    def __init__(self, functions):
        self.functions = functions
        self.seen = self._walk()

    def difference(self):
        """What has changed, in words; "" if nothing has."""
        now = self._walk()
        for key, (thing, parts) in self.seen.items():
            if key not in now:
                continue  # nobody holds it any more: what held it has changed, and says so
            others = now[key][1]
            if len(parts) != len(others) or any(
                a is not b and not _same(a, b) for a, b in zip(parts, others)
            ):
                return f"a {type(thing).__name__}"
        return ""

    def _walk(self):
        seen, waiting = {}, list(self.functions)
        while waiting:
            thing = waiting.pop()
            if isinstance(thing, _PLAIN) or id(thing) in seen:
                continue
            parts = _parts(thing)
            if parts is None:
                continue
            if len(seen) > _MOST_OBJECTS:
                raise _lathe.TraceError(
                    "the functions of a structure reach more objects than can be watched",
                    got=f"more than {_MOST_OBJECTS}", expected="functions of tensors",
                    next="pass what they need as operands",
                )  # fmt: skip
            seen[id(thing)] = (thing, parts)
            waiting += parts
        return seen


def _same(a, b):
    """A gradient is a new Python object each time that it is asked for."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and _lathe._same_tensor(a, b)


def _parts(thing):
    """The objects that it holds; None for what holds none that could change."""
    kind = type(thing)
    if isinstance(thing, Tensor):
        return [thing.grad] if thing.is_leaf and thing.requires_grad else None
    if isinstance(thing, dict):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, (list, tuple, set, frozenset)) or kind.__name__ == "deque":
        return list(thing)
    code = getattr(thing, "__code__", None)
    if code is not None and hasattr(thing, "__globals__"):
        return _of_function(thing, code)
    if kind.__name__ == "module" or kind.__module__ == "lathe._lathe":
        return None
    if kind.__module__.startswith("lathe.jit"):
        return _of_script(thing)
    parts = [
        getattr(thing, n) for n in ("__self__", "__func__", "__wrapped__") if hasattr(thing, n)
    ]
    if hasattr(thing, "func") and hasattr(thing, "keywords"):  # a functools.partial
        parts += [thing.func, thing.args, thing.keywords]
    held = getattr(thing, "__dict__", None)
    if isinstance(held, dict):
        parts.append(held)
    return parts or None


def _of_function(function, code):
    parts = [function.__defaults__, function.__kwdefaults__]
    for cell in function.__closure__ or ():
        try:
            parts.append(cell.cell_contents)
        except ValueError:  # not set yet
            parts.append(None)
    names = function.__globals__
    if names.get("__name__", "").split(".")[0] != "lathe":
        parts += [names[n] for n in _names(code) if n in names]
    return parts


def _of_script(thing):
    """The names of the functions around a function that a script defines; of a trace nothing."""
    parts, outer = [], thing.outer if type(thing).__name__ == "Closure" else None
    while outer is not None:
        parts += [*outer.env.values(), *outer.cells.values()]
        outer = outer.outer
    return parts


def _names(code):
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, type(code)):
            yield from _names(inner)
