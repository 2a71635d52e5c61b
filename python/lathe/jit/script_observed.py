"""What a script reads and writes, seen by the observer of its capture.

A script's own code is not rewritten: the interpreter does each step of it, and tells the observer.
What it calls that is no script runs as observed code.
"""

import ast
import builtins
import operator
import types

from .. import _lathe
from .._capturing import CAPTURE
from .observe.operators import AUGMENT, OPERATE
from .observe.recording import BOXES
from .script_lists import DataList, attribute, is_users
from .script_values import refuse

_IN_PLACE = frozenset(AUGMENT.values())
_BINARY = {f: name for name, f in OPERATE.items()}
_OF_MEMORY = ("data_ptr", "grad_fn", "is_contiguous", "is_leaf", "requires_grad", "retain_grad",
              "storage_offset", "stride", "_version")  # fmt: skip
_ITSELF = (operator.is_, operator.is_not)


def _is_own(f):
    """A function of the interpreter, which says itself what it reads."""
    while hasattr(f, "func"):
        f = f.func
    f = getattr(f, "__func__", f)
    code = getattr(f, "__code__", None)
    if code is not None:
        return code.co_filename.startswith(CAPTURE)
    if not isinstance(f, type) and type(f).__module__.startswith("lathe.jit.script"):
        return True
    return getattr(f, "__name__", "").startswith("_record_")


class Observed:
    """Of a session: its observer, and the gradients of the leaves that were met."""

    def __init__(self, observer):
        self.observer = observer

    def observed(self, f, args):
        """What does a step of the script, and with what."""
        o = self.observer
        if any(type(a) is DataList for a in args[:2]):
            for a in args:
                o.contents(a, deep=True) if isinstance(a, BOXES) else None
            if f in _BINARY and any(is_users(a) for a in args):
                refuse("a list whose length data decides beside an object whose operators are code",
                       "call a function, which is read as part of the script")  # fmt: skip
            return (attribute if f is getattr or f is setattr else f), args
        if f is getattr and args[1] in _OF_MEMORY and id(args[0]) in self.of_lists:
            refuse(f"{args[1]} of a tensor that was read from a list which data makes longer: the "
                   "list keeps copies", "ask it of the tensor that is appended")  # fmt: skip
        if f is getattr and len(args) == 2:
            return o.attribute, args
        if f is setattr:
            return f, (o.store(args[0], args[1]), *args[1:])
        if f is operator.getitem:
            return o.item, args
        if f is operator.setitem or f is operator.delitem:
            container = o.store_into(args[0])
            return f, (container, o.stored_key(args[1]), *args[2:])
        if type(f) is types.BuiltinFunctionType:  # not the user's, whose == may be their own
            if f in _ITSELF:
                o.identified(*args)
                return f, args
            if f in _IN_PLACE:
                return o.augment_by(f, *args), args[:0]
            if f is operator.mod and type(args[0]) is str:
                return o.operate, (*args, "Mod")
            if f in _BINARY and len(args) == 2:
                return f, o.operands(*args, _BINARY[f])
        if _is_own(f):
            name = getattr(f, "__name__", "")
            for a in args if name == "compare" else ():  # by == and its kin, with all they hold
                o.contents(a, deep=True) if isinstance(a, BOXES) else None
            asks = name.startswith("_contains")
            args = (args[0], o.behind(args[1])) if asks else args
            for a in args if asks and not o.looks_for(*args) else ():
                o.contents(a, deep=True) if isinstance(a, (list, tuple, dict, set)) else o.use(a)
            return f, args
        return o.call(f), args

    def imported(self, node, space):
        """What an import statement binds."""
        given = {n: space.get(n) for n in ("__name__", "__package__", "__spec__", "__path__")}
        made, plain = {}, isinstance(node, ast.Import)
        names = [a.name for a in node.names]
        self.observer.importing(getattr(node, "level", 0), names if plain else [node.module or ""],
                                [] if plain else names, space)  # fmt: skip
        with self.observer.resting():
            code = compile(ast.Module([node], []), "<import>", "exec")
            exec(code, {**given, "__builtins__": vars(builtins)}, made)
        return made

    def read_global(self, space, name):
        o, value = self.observer, space[name]
        return o.received(o.of_variable(o.read_key(space, name), (id(space), name), value))

    def read_cell(self, scope, name):
        o, cell = self.observer, scope.cells[name]
        row = o.cell_row(scope.function, name)
        return o.received(o.of_variable(row, (id(cell), None), cell.cell_contents))

    # ── gradients ───────────────────────────────────────────────────────────────────────────────

    def leaves(self):
        """The leaf tensors met so far, in order."""
        return [t for _, t, _ in self.observer.leaf_tensors()]

    def grads(self):
        return [t.grad for t in self.leaves()]

    def all_grads(self, grads):
        """Gradients of an earlier moment, with those of leaves that were met since."""
        begun = [before for _, _, before in self.observer.leaf_tensors()]
        return [*grads, *begun[len(grads) :]]

    def put_grads(self, grads):
        for t, g in zip(self.leaves(), self.all_grads(grads)):
            _lathe._put_grad(t, g)
