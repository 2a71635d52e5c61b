"""lt.callback in a capture: what the function holds is part of what the program holds for.

The function runs as it is, at each run of the program, long after the capture. What it finds by
name then is as it is then. But what it holds, an object whose method it is or the variables around
a lambda, is that of the capture: so those objects must be the same at each call that the program
serves, and what is made or changed in the capture cannot be held.
"""

import types
from _functools import partial
from _weakref import ref

from ... import _lathe
from ..._lathe import Tensor
from . import sources
from .recording import hold
from .rows import IDENTITY, is_plain
from .texts import Text


class Waiting:
    """on: ordered calls of this capture wait for the end of the program."""

    on = False


class Callbacks:
    """Of an Observer."""

    def start_callbacks(self):
        self.hosts = {}  # functions of this capture, by all that they depend on
        self.called = 0  # how many ordered calls are recorded
        self.may_fail = False  # data decides whether the program fails, and eager code runs instead
        self.presumes = False  # the same of a size, if what was printed until then has waited
        self.waiting = Waiting()
        self.can_wait = True  # what is printed, until the program has not failed

    def note_ordered(self, can_wait=False):
        """Before an ordered call is recorded. can_wait: it may happen when nothing fails any more,
        as it gives nothing."""
        self.called += 1
        self.can_wait = self.can_wait and can_wait
        if self.may_fail and (_lathe._recording() or self.waiting.on):
            self._twice()
        self.waiting.on |= self.presumes and self.can_wait

    def note_failure(self):
        """Before it is recorded that the program fails where data says so."""
        self.may_fail = True
        if self.called:
            self._twice()

    def note_size(self):
        """Before a size is made of a number: a call whose size does not do runs as eager code,
        which prints what has waited until then."""
        self.presumes = True
        self.waiting.on |= self.can_wait and self.called > 0

    def _twice(self):
        """What was printed before would be printed once more by the eager code that runs instead,
        so it waits until nothing can fail."""
        if not self.can_wait:
            self._refuse_twice()
        self.waiting.on = True

    def _refuse_twice(self):
        self.refuse(
            "an exception that data decides may come after something was printed or called, which "
            "would happen once more",
            got="a program that fails half way, and eager code that runs instead",
            next="raise before the first call, or call outside",
        )

    def refuse_hidden_changes(self, what):
        """A function that is called in the middle of a run would not see Python's state as the
        traced code has left it: that is repeated when the program has run."""
        if self.has_changed():
            self.refuse(
                f"{what} comes after a change of Python state, which later calls make when the "
                "program has run",
                got=f"a store at {self.first_store}",
                next="make the change after the call, or in the function that is called",
            )

    def _refuse_written(self, function):
        """The same of tensors: a program writes to what it is given when all else is done. What a
        function finds in modules that it names is not looked at."""
        with self.resting():
            from .held import tensors_held_by

            written = [self._concrete(t) for t in _lathe._written()]
            reached = tensors_held_by(function) if written else ()
            old = [t for t in reached if any(_lathe._share_memory(t, w) for w in written)]
        if old:
            self.refuse(
                "a callback can reach a tensor that the traced code has written to before: the "
                "program does so when it has run",
                got=f"a tensor of shape {tuple(old[0].shape)}",
                next="pass the tensor to it as an argument, or call it before the write",
            )

    def _concrete(self, tensor):
        row = self.tensors.get(_lathe._identity(tensor))
        return row.value if row is not None and isinstance(row.value, Tensor) else tensor

    def callback(self, function, *args, result=None, ordered=None, vjp=None):
        """In the place of lathe.callback."""
        self.refuse_hidden_changes("a callback")
        if ordered or ordered is None and result is None:
            self.note_ordered()
        self._refuse_written(function)
        for value in (args, result):
            self._note_parts(value)
        called = [None if f is None else self._as_later(f) for f in (function, vjp)]
        with self.resting():
            from ..._callbacks import prepared  # not above: with it come all of lathe.func
            from ...func.trees import mapped

            args, result = (mapped(self._as_argument, v) for v in (args, result))
            return prepared(called[0], args, result, ordered, called[1], self.hosts)()

    def _note_parts(self, value):
        """All of an argument is read."""
        self.use(value)
        if type(value).__module__ == "lathe.library":  # a TensorSpec
            for name in type(value).__slots__:
                self.attribute(value, name)
        if isinstance(value, (dict, list, tuple)):
            for part in value.values() if isinstance(value, dict) else value:
                self._note_parts(part)

    def _as_argument(self, leaf):
        """With the program's tensors in the place of those from outside."""
        if type(leaf) is Text:
            return leaf.settled()
        return self._tensor_used(leaf) if isinstance(leaf, Tensor) else leaf

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def _as_later(self, function):
        """The function that a run calls."""
        kind = type(function)
        if kind is types.MethodType:
            self.pin(function.__self__, "the object of a callback's method")
            inner = self._as_later(function.__func__)
            return _Method(inner, function.__self__)
        if kind is partial:
            for value in (*function.args, *function.keywords.values()):
                self.pin(value, "an argument of a callback's partial()")
            inner = self._as_later(function.func)
            return partial(inner, *function.args, **function.keywords)
        if kind is types.FunctionType:
            self.identified(function)
            return function if self.was_there(function) else self._as_it_was_written(function)
        if kind.__name__ == "Closure" and kind.__module__.startswith("lathe.jit.script"):
            return self._out_of_script(function)
        if not issubclass(kind, IDENTITY):
            self.pin(function, "the function of a callback")
        return function

    def _as_it_was_written(self, function):
        """A function that the traced code has made, without hooks, and with variables of its own:
        eager calls it now, whatever they are set to afterwards."""
        code = sources.plain(function.__code__)
        if code is None:
            self.refuse("a callback is given a function of the traced code whose source cannot be "
                        "told from another's on its line",
                        got=function.__name__, next="define it outside")  # fmt: skip
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.pin(value, "a default of a callback")
        closure = [types.CellType(self._variable(n, cells[n].cell_contents))
                   for n in code.co_freevars]  # fmt: skip
        made = types.FunctionType(code, function.__globals__, function.__name__,
                                  function.__defaults__, tuple(closure))  # fmt: skip
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        return made

    def _out_of_script(self, closure):
        """The same for a function that a script defines, whose variables the script keeps."""
        names, values = _names_read(closure.node), {}
        for name in sorted(names):
            scope = closure.outer
            while scope is not None and name not in scope.env and name not in scope.cells:
                scope = scope.outer
            if scope is not None:
                value = scope.env[name] if name in scope.env else scope.cells[name].cell_contents
                values[name] = self._variable(name, value)
        with self.resting():
            return _compiled(closure.node, closure.outer, values)

    def _variable(self, name, value):
        """What a function finds under a name that is a variable around it."""
        made = type(value) is types.FunctionType and not self.was_there(value)
        if made or type(value).__name__ == "Closure":
            return self._as_later(value)
        self.pin(value, f"{name!r}, which a callback uses,")
        return value

    def pin(self, value, what):
        """From now on, the program holds for this very object only."""
        kind = type(value)
        if is_plain(value):
            return
        if issubclass(kind, IDENTITY):
            if self.was_there(value):
                return
            self._refuse_held(kind.__name__, what, "made in the traced code")
        if isinstance(value, Tensor) or kind in (_lathe.SymInt, _lathe.SymFloat):
            self._refuse_held(kind.__name__, what, "a value of the program")
        if hasattr(kind, "_is_data") or kind.__module__.startswith("lathe.jit.script"):
            self._refuse_held(kind.__name__, what, "known to the script only")
        row = self.row_of(value)
        if row is None:
            self._refuse_held(kind.__name__, what, "made in the traced code")
        if row.test != "is":
            row.test, row.loose = "is", False
            hold(row, value)

    def _refuse_held(self, got, what, why):
        self.refuse(
            f"{what} is {why}, which a later call of the program would not have",
            got=got,
            next="pass it to the callback as an argument, or define the function outside",
        )


def _names_read(node):
    import ast  # not above: a first trace waits for imports

    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _compiled(node, scope, values):
    """The function of a syntax tree, with these variables around it."""
    import ast

    given = [ast.arg(name) for name in values]
    is_lambda = isinstance(node, ast.Lambda)
    body = [ast.Return(node)] if is_lambda else [node, ast.Return(ast.Name(node.name, ast.Load()))]
    around = ast.FunctionDef("around", ast.arguments([], given, None, [], [], None, []), body, [],
                             lineno=node.lineno, end_lineno=node.end_lineno, col_offset=0,
                             end_col_offset=0)  # fmt: skip
    tree = ast.fix_missing_locations(ast.Module([around], []))
    made = {}
    exec(compile(tree, scope.file, "exec"), scope.globals, made)
    return made["around"](**values)


class _Method:
    """A method whose object the program does not keep alive: its guards ask for that object."""

    def __init__(self, function, owner):
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self._function = function
        try:
            self._owner = ref(owner)
        except TypeError:
            self._owner = lambda: owner

    def __call__(self, *args):
        return self._function(self._owner(), *args)
