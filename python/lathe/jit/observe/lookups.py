"""Functions in C that look at objects by name, or at classes, in a capture.

Each has a model here that is called in its place, as (observer, function, arguments, named ones):
it makes the reads and stores that the function does, or refuses them. So have the getters of
`operator` and the methods of object that are given a name, which calls.py finds by their kinds.
"""

import _abc
import _operator as operator  # the half in C: a first trace waits for imports
import os
import sys
import types
from _functools import reduce
from _warnings import warn as _warn

from ... import _lathe
from ..._lathe import Tensor
from .items import Item
from .printing import print_model, warn_model
from .recording import dict_of, in_mro
from .rows import is_array, is_plain
from .texts import Text, format_model, str_model

GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


def getter(observer, f, args):
    parts = f.__reduce__()[1]
    if type(f) is operator.methodcaller:
        return observer.call(observer.attribute(args[0], parts[0]))(*parts[1:])
    if type(f) is operator.attrgetter:
        found = [reduce(observer.attribute, p.split("."), args[0]) for p in parts]
    else:
        found = [observer.item(args[0], p) for p in parts]
    return found[0] if len(found) == 1 else tuple(found)


def by_name(observer, f, owner, name, args):
    """object.__getattribute__ and its kin, called by name."""
    if isinstance(owner, type):
        target, args = args[0], args[1:]
    else:
        target = owner
    if name == "__getattribute__":
        return observer._usual(target, args[0], type(target))
    observer.store(target, args[0], direct=True)
    if name == "__setattr__":
        return observer.set_attribute(target, args[0], args[1])
    return f(*((target, *args) if isinstance(owner, type) else args))


def _getattr(observer, f, args, kwargs):
    try:
        return observer.attribute(*args[:2])
    except AttributeError:
        if len(args) < 3:
            raise
        return args[2]


def _hasattr(observer, f, args, kwargs):
    try:
        observer.attribute(*args)
    except AttributeError:
        return False
    return True


def _setattr(observer, f, args, kwargs):
    observer.store(*args[:2])
    return f(*args)


def _vars(observer, f, args, kwargs):
    if not args:
        observer.refuse("vars() without an object looks at all names of the function")
    return observer.attribute(args[0], "__dict__")


def _dir(observer, f, args, kwargs):
    if not args:
        observer.refuse("dir() without an object looks at all names of the function")
    value, kind = args[0], type(args[0])
    observer.prepare(kind)
    if type(in_mro(kind.__mro__, "__dir__")[1]) is types.FunctionType:
        return f(value)  # observed code
    changed = [owner for owner, _, _ in observer.slots.values()]
    for thing in (value, kind):
        row, names = observer.row_of(thing), _names_of(thing)
        if row is None or is_plain(thing) or isinstance(thing, Tensor):
            continue
        known = {id(c) for c in (thing, *getattr(thing, "__mro__", ()))}
        if known & set(map(id, changed)) or id(dict_of(thing)) in observer.before:
            observer.refuse("dir() of what the traced code has changed")
        if not is_plain(names):
            observer.refuse(f"dir() gives {len(names)} names, too many to compare at each call")
        observer.row("of_value", row, _names_of, names)
    return f(value)


def _names_of(value):
    return tuple(dir(value))


def _isinstance(observer, f, args, kwargs):
    value, classes = args
    observer.prepare(type(value))
    for cls in classes if isinstance(classes, tuple) else (classes,):
        observer.prepare(type(cls))
        if isinstance(cls, type):
            observer.prepare(cls)
    if type(value) in (_lathe.SymInt, Text, Item):
        value = observer.type_of(value)()
    return f(value, classes)


def _issubclass(observer, f, args, kwargs):
    for cls in args[1] if isinstance(args[1], tuple) else (args[1],):
        observer.prepare(type(cls))
    return f(*args)


def _of_abc(observer, f, args, kwargs):
    import abc

    observer.answer(abc.get_cache_token, ())
    return f(*args, **kwargs)


def _len(observer, f, args, kwargs):
    if args and is_array(type(args[0])):  # the row of an array says its shape
        observer.row_of(args[0])
        return f(*args)
    if len(args) == 1 and isinstance(args[0], Tensor) and type(args[0]).__len__ is Tensor.__len__:
        observer._tensor_used(args[0])  # C would make a plain integer of a size
        return args[0].shape[0] if args[0].ndim else f(*args)
    return _of_size(observer, f, args, kwargs)


def _of_size(observer, f, args, kwargs):
    """len() and bool() of a list or dict read no item."""
    if len(args) == 1 and not kwargs and observer.reads_size(args[0]):
        return f(*args)
    return observer._listed(f, None, f.__name__, args, kwargs)


def _type(observer, f, args, kwargs):
    if len(args) == 1:
        return observer.type_of(args[0])
    return f(*args, **kwargs)


_MEMOS = ("copy", "lathe")  # they find by id() what they have met


def _identity(observer, f, args, kwargs):
    """id() and hash(): of an object from outside, the numbers hold for this very object."""
    value, row = args[0], observer.row_of(args[0])
    asks = str(sys._getframe(3).f_globals.get("__name__")).partition(".")[0]
    if row is None or is_plain(value) or asks in _MEMOS:
        return observer._listed(f, None, f.__name__, args, kwargs)
    observer.use(value)
    value = row.value if isinstance(value, Tensor) else value
    answer = f(value)
    observer.row("of_value", row, f, answer)
    return answer


def _fspath(observer, f, args, kwargs):
    (value,) = (*args, *kwargs.values())
    if type(value) is Text:
        value = value.settled()
    if issubclass(type(value), (str, bytes)):
        return f(value)
    return observer.call(observer.attribute(value, "__fspath__"))()


def _refused(what, advice=None):
    def model(observer, f, args, kwargs):
        observer.refuse(f"{what} would run at capture only", advice)

    return model


MODELS = {  # by function: what is called in its place
    getattr: _getattr, hasattr: _hasattr, setattr: _setattr, delattr: _setattr, vars: _vars,
    dir: _dir,
    isinstance: _isinstance, len: _len, bool: _of_size, issubclass: _issubclass, type: _type,
    id: _identity, hash: _identity, os.fspath: _fspath,
    print: print_model, str: str_model, repr: str_model, format: format_model,
    _warn: warn_model, input: _refused("input()"),
    open: _refused("open()"), exec: _refused("exec()"), eval: _refused("eval()"),
    globals: _refused("globals()"), __import__: _refused("__import__()"),
}  # fmt: skip
MODELS |= dict.fromkeys((_abc._abc_instancecheck, _abc._abc_subclasscheck), _of_abc)
