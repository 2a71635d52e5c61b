"""Functions and classes in a capture: which code runs observed.

A function runs with the code that rewrite.py makes of its source. What dataclass() has made has no
source, but is known to read the fields of its arguments.
"""

import sys
import types
from _functools import partial

from ..._capturing import CAPTURE, PACKAGE
from . import sources
from .recording import HEAP, MISSING, dict_of, in_mro


class Functions:
    """Of an Observer."""

    _at_once = False  # does no function wait for its observed code?

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def let_c_call(self, f):
        """A function that C is going to call runs observed."""
        if type(f) is types.FunctionType:
            self.identified(f)
            self.swap(f)
        elif type(f) is types.MethodType:
            self.let_c_call(f.__func__)
        elif type(f) is partial:
            self.let_c_call(f.func)
        else:
            self.prepare(type(f))
            for cls in type(f).__mro__:
                for part in list(vars(cls).values()) if cls.__flags__ & HEAP else ():
                    if type(part) is types.FunctionType:
                        self.swap(part, cls)

    def swap(self, function, cls=None):
        """Gives a function its observed code, until the end."""
        code = function.__code__
        if id(function) in self._waiting:
            code = self._awaken(function)
        if id(function) in self._originals or self.net.has(code):
            return
        if code.co_filename.startswith(CAPTURE):
            return
        with self.resting():
            hooked = sources.observed(code)
        if hooked is not None:
            self._originals[id(function)] = code
            self._swapped.append((function, code))
            function.__code__ = sources.bind(hooked, self, function, self._note)
        elif self._is_generated(code, cls):
            self._read_fields_in(function, code, cls)
            self.enter(function)
        elif self._reads_little(function):
            self._note(code)
            self._originals[id(function)] = code
            self.enter(function)

    def swap_later(self, function, cls):
        """The same for a function of the library's own, of whose class a value is used: it gets its
        observed code when it is called, since few of them are."""
        code = function.__code__
        own = code.co_filename.startswith(PACKAGE) and not code.co_filename.startswith(CAPTURE)
        if self._at_once or not own:
            self.swap(function, cls)
        elif id(function) not in self._originals and not self.net.has(code):
            self._waiting[id(function)] = function, cls
            self._stand_in(_WAITING, function, code, function)

    def swap_at_once(self):
        """From now on none waits: a script looks at the code and the parameters of functions."""
        self._at_once = True
        for function, cls in list(self._waiting.values()):
            self.swap(function, cls)

    def _stand_in(self, standing, function, code, handed):
        """Gives a function code of ours until the end, which hands its arguments to a method here
        with what is handed."""
        self._originals[id(function)] = code
        self._swapped.append((function, code))
        hooked = standing.replace(co_freevars=code.co_freevars, co_name=code.co_name)
        function.__code__ = sources.bind(hooked, self, handed, self._note)

    def _awaken(self, function):
        """Its own code, which it has again."""
        del self._waiting[id(function)]
        code = function.__code__ = self._originals.pop(id(function))
        return code

    def awaited(self, function, args, kwargs):
        """A function is called that waits for its observed code."""
        if self.on():
            self.swap(*self._waiting.get(id(function), (function,)))
        elif self._live:  # on another thread, or for the observer itself
            function = _with_code(function, self.code_of(function))
        return function(*args, **kwargs)

    def give_back(self, function):
        """Gives a function that was made by observed code its own code. False: which is not known.
        Others have theirs, or get it at the end."""
        code = function.__code__
        if id(function) in self._originals or not self.net.has(code):
            return True
        for outer, own in self._swapped:
            for hooked, plain in zip(sources.inside(outer.__code__), sources.inside(own)):
                if hooked is code and plain.co_name == code.co_name:
                    function.__code__ = plain
                    return True
        return False

    def _read_fields_in(self, function, code, cls):
        """A method that dataclass() has made reads fields, of all that it is given."""
        self._note(code)
        if code.co_name == "__init__" or "__dataclass_fields__" not in vars(cls):
            self._originals[id(function)] = code
            return
        self._stand_in(_GENERATED, function, code, _with_code(function, code))

    def generated(self, method, args, kwargs):
        for value in args if self.on() else ():
            with self.resting():
                self._fields(value)
        return method(*args, **kwargs)

    def _fields(self, value):
        kind, row = type(value), self.row_of(value)
        space = dict_of(value)
        for name in getattr(kind, "__dataclass_fields__", ()) if row is not None else ():
            field, member = getattr(value, name, MISSING), in_mro(kind.__mro__, name)[1]
            if type(member) is types.MemberDescriptorType:
                if (id(value), name) not in self.written:
                    self.row("member", row, member, field, raw=True)
            elif space is not None:
                self.read_key(space, name, raw=True, owner=value)
            if type(field) in (list, tuple, dict, set, frozenset):
                self.contents(field, deep=True)
            self.prepare(type(field))

    def _reads_little(self, function):
        """Is it the traced function, and all that it can read known without its source?"""
        if self.traced is not function:
            return False
        with self.resting():
            from .sourceless import reads

            found = reads(function, *self.given_to)
        for module, name in found or ():
            self.read_attribute(module, name)
        for inner in sources.inside(function.__code__) if found is not None else ():
            self._note(inner)
        return found is not None

    @staticmethod
    def _is_generated(code, cls):
        """A method that dataclass() or namedtuple() has made: it reads and sets fields, no more."""
        made = code.co_filename == "<string>" or code.co_filename.startswith("<attrs generated")
        return (
            made
            and cls is not None
            and ("__dataclass_fields__" in vars(cls) or "_fields" in vars(cls))
        )

    # ── imports ─────────────────────────────────────────────────────────────────────────────────

    def importing(self, level, modules, items, space=None):
        if not self.on():
            return
        space = space or sys._getframe(1).f_globals
        for name in modules:
            with self.resting():
                module = __import__(name, space, None, items, level)
            if not level:
                self.constant(sys.modules, "sys.modules")
                self.read_key(sys.modules, name)
            for item in items if items != ("*",) else ():
                self.attribute(module, item)
                self.read_key(dict_of(module), item, raw=True)  # the statement binds it as it is


def _with_code(function, code):
    """Another function that does what this one does with that code."""
    made = types.FunctionType(code, function.__globals__, code.co_name, function.__defaults__,
                              function.__closure__)  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    return made


_WAITING = (lambda *args, **kwargs: "\0observer".awaited("\0function", args, kwargs)).__code__
_GENERATED = (lambda *args, **kwargs: "\0observer".generated("\0function", args, kwargs)).__code__
