"""The tensors that a function holds, of which only Python knows: a callback that a program makes
reads them as they are then.
"""

from ... import _lathe
from ..._lathe import Tensor

_MOST_OBJECTS = 1 << 18
_PLAIN = (int, float, bool, str, bytes, complex, type(None), type, type(len))


def tensors_held_by(function):
    """The tensors that it can reach. TraceError if that is too much to look at."""
    seen, waiting, found = {}, [function], []
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        if isinstance(thing, Tensor):
            found.append(thing)
        parts = _parts(thing)
        if parts is None:
            continue
        if len(seen) > _MOST_OBJECTS:
            raise _lathe.TraceError(
                "a callback reaches more objects than can be looked at",
                got=f"more than {_MOST_OBJECTS}", expected="functions of tensors",
                next="pass what it needs as arguments",
            )  # fmt: skip
        seen[id(thing)] = thing
        waiting += parts
    return found


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
