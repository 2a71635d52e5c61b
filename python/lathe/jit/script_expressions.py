"""Expressions of a script: names, operators, comprehensions and calls."""

import ast
import functools
import inspect
import operator
import types

from .. import _lathe
from .. import ops as lathe_ops
from .._capturing import is_standard
from .._lathe import Tensor
from ..nn.module import Module
from . import script_source as source
from .observe.recording import BOXES, HEAP
from .observe.texts import Text
from .script_builtins import BUILTINS, keeps
from .script_join import Undefined
from .script_lists import READING, DataList, Each, function_of, grown, new_list
from .script_math import power
from .script_optional import ADVICE, Maybe, facts_of, settled
from .script_values import (
    Number,
    as_condition,
    decided_by_data,
    is_inside,
    is_number,
    operator_of,
    refuse_at,
)
from .trace import Traced

_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
CELLS = " cells"  # no name that a source can have: holds those that functions share
_ASKING = ("equal", "allclose")  # of lathe._functions: their answer is a bool of Python
_SCRIPTED_PACKAGES = (
    "lathe._grad_mode",
    "lathe._loops",
    "lathe._list_loops",
    "lathe.nn.module",
    "lathe.nn.containers",
)


def throw(error, cause=None):
    raise error from cause if cause is not None else error


def is_chosen_text(value):
    return type(value) is Text and value.is_chosen()


def readable(f):
    """May the function's source be run statement by statement?"""
    if f.__module__ is not None and f.__module__.split(".")[0] == "lathe":
        asks = f.__module__ == "lathe._functions" and f.__name__ in _ASKING
        read = asks or f.__module__ in _SCRIPTED_PACKAGES
        return read and not source.is_special(f.__code__)
    if is_standard(f.__code__.co_filename):
        return False
    return source.find(f.__code__) is not None and not source.is_special(f.__code__)


def _as_numbers(op, left, right):
    """Sizes that only running tells are numbers where what they give is no size."""
    if isinstance(op, (ast.Div, ast.Pow)) or any(
        isinstance(x, (float, Number)) for x in (left, right)
    ):
        return [Number.of(x) if is_inside(x) else x for x in (left, right)]
    return left, right


def of_data(a, b):
    """Are they numbers, and does data decide one of them?"""
    return is_number(a) and is_number(b) and (isinstance(a, Number) or isinstance(b, Number))


def _is_own(cls):
    """Is it a class of the user's? Others are observed where they are called."""
    return cls.__module__.split(".")[0] not in ("lathe", "numpy")


def _getter_of(cls, name):
    """The function of a property that has source; None: it is no such property."""
    found = next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)
    if type(found) is not property or not isinstance(found.fget, types.FunctionType):
        return None
    return found.fget if readable(found.fget) else None


def _is_callable_object(f):
    """Is it an object of the user's, whose class has a function for calls?"""
    kind = type(f)
    if not _is_own(kind) or isinstance(f, (type, Closure)):
        return False
    found = (vars(c)["__call__"] for c in kind.__mro__ if "__call__" in vars(c))
    return isinstance(next(found, None), types.FunctionType)


def _copies_list(f):
    return isinstance(f, types.BuiltinMethodType) and f.__name__ == "copy"


class Closure:
    """A function defined inside a script: it reads the names of where it was defined, as they are
    when it is called, and has the default arguments that they were then."""

    def __init__(self, outer, node):
        self.outer, self.node = outer, node
        self.__name__ = getattr(node, "name", "<lambda>")
        self.defaults = [outer.evaluate(d) for d in source.parameters(node)[1]]
        self.comprehended = tuple(outer.comprehended)

    def outer_names(self):
        return self.outer.env

    def __call__(self, *args, **kwargs):
        outer = self.outer
        names, _ = source.parameters(self.node)
        inner = type(outer)(outer.session, outer.file, self.node, outer.globals, outer)
        inner.who = self
        if self.comprehended:
            read = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)}
            for variables in self.comprehended:
                inner.env.update((n, v) for n, v in variables.items() if n in read)
        inner.env.update(source.bind(self.__name__, names, self.defaults, args, kwargs, inner))
        return inner.run_function()


class Expressions:
    """What evaluates; Interpreter (script.py) is one."""

    def refuse(self, node, problem, got="", next=""):
        refuse_at(self.file, node.lineno, problem, got, next, source.excerpt(self.file, node))

    def do(self, node, f, *args, **kwargs):
        """Calls a function so that the user's line is this node's."""
        if any(type(a) is Maybe for a in args) or kwargs:
            args, kwargs = self.present(node, f, args, kwargs)
        f, args = self.session.observed(f, args)
        try:
            return source.trampoline(self.file, node.lineno)(f, args, kwargs)
        except TypeError as e:
            if isinstance(e, _lathe.Error) or not any(isinstance(a, Number) for a in args):
                raise
            self.refuse(node, "a number that data decides cannot be used here", got=str(e))

    def present(self, node, f, args, kwargs):
        """Arguments of what is no part of the script: none may be None as data decides."""
        args, kwargs = list(map(settled, args)), {k: settled(v) for k, v in kwargs.items()}
        taken = (
            2 if f is setattr or f is operator.setitem and not isinstance(args[0], Tensor) else 0
        )
        for a in (*args[: taken or None], *kwargs.values()):
            if type(a) is Maybe:
                self.refuse(node, "a value that may be None is used here", next=ADVICE)
        return args, kwargs

    # ── names ───────────────────────────────────────────────────────────────────────────────────

    def name(self, node):
        name = node.id
        names = {} if name in self.declared else self.names_of(name)
        if name in names:
            value = names[name]
            if isinstance(value, Undefined):
                if value.refusal is not None:
                    value.refusal()
                self.refuse(node, f"{name!r} may be undefined here: {value.why}",
                            next="give it a value before")  # fmt: skip
            return settled(value)
        if name in self.local:
            self.do(node, throw, UnboundLocalError(
                f"cannot access local variable {name!r} where it is not associated with a value"
            ))  # fmt: skip
        outer = None if self.declared.get(name) is ast.Global else self.outer
        if outer is not None and (name in outer.names_of(name) or name in outer.local):
            return outer.name(node)
        return self.do(node, self.free, name)

    def names_of(self, name):
        """What holds a local name: the cells, if functions inside share it."""
        return self.env[CELLS] if name in self.shared else self.env

    def set_name(self, node, name, value):
        how, scope = self.declared.get(name), self
        if how is None:
            self.names_of(name)[name] = value
            return
        while how is ast.Nonlocal and scope.outer is not None:
            scope = scope.outer
            if name in scope.local:
                scope.set_name(node, name, value)
                return
        if self.session.recording:
            self.refuse(node, f"a part that data decides about changes {name!r}, a variable from "
                        "outside of the script", next="keep it in an attribute of an object"
                        )  # fmt: skip
        self.session.observer.rebinds(name)
        if how is ast.Global:
            self.globals[name] = value
        else:
            scope.cells[name].cell_contents = value

    def free(self, name):
        scope = None if self.declared.get(name) is ast.Global else self
        while scope is not None:
            if name not in scope.declared and name in scope.names_of(name):
                return scope.names_of(name)[name]
            if name in scope.cells:
                return self.session.read_cell(scope, name)
            scope = scope.outer
        if name in self.globals:
            return self.session.read_global(self.globals, name)
        builtins = self.globals.get("__builtins__", __builtins__)
        builtins = builtins if isinstance(builtins, dict) else vars(builtins)
        if name in builtins:
            return builtins[name]
        raise NameError(f"name {name!r} is not defined")

    # ── expressions ─────────────────────────────────────────────────────────────────────────────

    def evaluate(self, node):
        method = getattr(self, "_e_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, f"{source.spoken(node)} cannot be part of a script")
        return method(node)

    def _e_Constant(self, node):
        return node.value

    def _e_Name(self, node):
        return self.name(node)

    def _e_Tuple(self, node):
        return tuple(self.items(node.elts))

    def _e_List(self, node):
        return self.made_list(node, self.items(node.elts))

    def made_list(self, node, items):
        """What the script makes, if it is a list: one of those whose length data decides, if it was
        seen to become one."""
        session = self.session
        if type(items) is not list:
            return items
        if node in session.observer.recorded:
            return self.do(node, new_list, session, items)
        session.made[id(items)] = items, node
        if session.recording:
            session.recorded.add(id(items))
        return items

    def _e_Set(self, node):
        return set(self.items(node.elts))

    def items(self, nodes):
        out = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                out.extend(self.do(n, iter, self.evaluate(n.value)))
            else:
                out.append(self.evaluate(n))
        return out

    def _e_Dict(self, node):
        out = {}
        for k, v in zip(node.keys, node.values):
            if k is None:
                out.update(self.session.observer.spread(self.evaluate(v)))
            else:
                key = self.evaluate(k)
                out[key] = self.evaluate(v)
        return out

    def _e_Attribute(self, node):
        thing, name = self.evaluate(node.value), self.attribute(node)
        plain = _is_own(type(thing)) and not isinstance(thing, type) and not name.startswith("__")
        if plain and (getter := _getter_of(type(thing), name)) is not None:
            self.session.observer.attribute(type(thing), name)
            return self.do(node, self.session.call, getter, [thing], {})
        return self.do(node, getattr, thing, name)

    def attribute(self, node):
        """The name of an attribute. A private one has its class in it, which a script does not
        look for."""
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            self.refuse(node, "a private name", got=node.attr, next="name it with one underscore")
        return node.attr

    def _e_Subscript(self, node):
        thing = self.evaluate(node.value)
        out = self.do(node, operator_of("[]"), thing, self.index(thing, node.slice))
        return self.made_list(node, out) if isinstance(node.slice, ast.Slice) else out

    def index(self, thing, node):
        """An index into the thing; numbers that data decides pick elements of tensors alone."""
        index = self.evaluate(node)
        if isinstance(index, tuple):
            return tuple(self.one_index(thing, node, i) for i in index)
        return self.one_index(thing, node, index)

    def one_index(self, thing, node, i):
        if isinstance(i, Tensor) and type(thing) in (list, DataList):
            i = Number.of_tensor(i)
        if type(thing) is DataList:
            return i
        if type(i) is DataList and isinstance(thing, Tensor):
            return self.do(node, DataList.as_index, i)
        if isinstance(i, slice):
            bounds = [i.start, i.stop, i.step]
            if not any(map(decided_by_data, bounds)):
                return i
            if not isinstance(thing, Tensor) or decided_by_data(i.step):
                grown(self.session, thing)
                self.refuse(node, "a slice of a list, or a step, that data decides",
                            next="slice a tensor: lathe.stack(items)[:n]")  # fmt: skip
            self.session.observer.note_size()
            return slice(*(b.size() if isinstance(b, Number) else b for b in bounds))
        if not isinstance(i, Number):
            return i
        if isinstance(thing, (list, tuple, str, range)):
            grown(self.session, thing)
            self.refuse(
                node, f"an item of a {type(thing).__name__} by an index that data decides",
                next="pick from a tensor: lathe.stack(items)[i], or choose with if",
            )  # fmt: skip
        return i.tensor

    def _e_Slice(self, node):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if p is None else self.evaluate(p) for p in parts))

    def _e_BinOp(self, node):
        left = self.evaluate(node.left)
        right = self.operand(node, left, node.right)
        left, right = _as_numbers(node.op, left, right)
        if isinstance(node.op, ast.Pow) and of_data(left, right):
            return power(self, node, left, right)
        return self.made_list(node, self.do(node, operator_of(node.op), left, right))

    def operand(self, node, left, right):
        """The right operand; one by which data decides that numbers are divided is not zero."""
        value = self.evaluate(right)
        if not isinstance(node.op, _DIVISIONS):
            return value
        return self.divisor(node, left, value, exact=isinstance(node.op, ast.Div))

    def divisor(self, node, dividend, value, exact):
        if is_inside(value):
            value = Number.of(value)
        if not (isinstance(value, Number) and is_number(dividend)):
            return value
        self.may_fail(node)
        for wrong in self.do(node, value.no_divisor, dividend, exact):
            self.do(node, self.session.fail_where, wrong)
        return value.as_divisor()

    def _e_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            value = self.test(node.operand)
            if decided_by_data(value):
                value = self.as_truth(node, value)
                return self.do(node, operator_of("not"), value)
            return not self.truth(node, value)
        return self.do(node, operator_of(node.op), self.evaluate(node.operand))

    def test(self, node):
        """An expression of which only the truth matters: its operands may be of different kinds."""
        if isinstance(node, ast.BoolOp):
            return self.boolean(node, isinstance(node.op, ast.And), node.values, truth=True)
        if isinstance(node, ast.Compare):
            left = self.evaluate(node.left)
            return self.comparison(node, left, node.ops, node.comparators, truth=True)
        value = self.evaluate(node)
        if type(value) is DataList:
            return value.truth()
        return self.texts_equal(node, value, "", False) if is_chosen_text(value) else value

    def texts_equal(self, node, left, right, positive):
        """left == right, and its contrary, of texts of which data chooses one."""
        if type(left) is str:
            left, right = right, left
        if type(right) not in (str, Text):
            return not positive
        answer = self.do(node, left.is_equal, right)
        if isinstance(answer, Tensor):
            return Number(answer if positive else lathe_ops.logical_not(answer), bool)
        return answer is positive

    def as_truth(self, node, value):
        if not decided_by_data(value):
            return self.truth(node, value)
        if isinstance(value, Number) and value.kind is bool:
            return value
        answer = Number(self.condition(node, value), bool)
        answer.yes, answer.no = facts_of(value)
        return answer

    def condition(self, node, value):
        with_line = functools.partial(as_condition, value)
        return self.do(node, with_line)

    def _e_BoolOp(self, node):
        return self.boolean(node, isinstance(node.op, ast.And), node.values)

    def boolean(self, node, is_and, values, truth=False):
        first = self.test(values[0]) if truth else self.evaluate(values[0])
        if truth:
            first = self.as_truth(node, first)
        if len(values) == 1:
            return first
        test = self.texts_equal(node, first, "", False) if is_chosen_text(first) else first
        if not decided_by_data(test):
            if self.truth(node, test) is not is_and:
                return first
            return self.boolean(node, is_and, values[1:], truth)

        learnt = []

        def other():
            second = self.boolean(node, is_and, values[1:], truth)
            learnt[:] = [facts_of(second)[0 if is_and else 1]]
            return second

        def same():
            return first

        yes, no = (other, same) if is_and else (same, other)
        value = self.decide(node, test, yes, no, source.assigned(values[1:]))
        if isinstance(value, Number) and value.kind is bool:
            facts = [*facts_of(first)[0 if is_and else 1], *learnt[0]]
            value.yes, value.no = (facts, ()) if is_and else ((), facts)
        return value

    def _e_Compare(self, node):
        return self.comparison(node, self.evaluate(node.left), node.ops, node.comparators)

    def comparison(self, node, left, ops, others, truth=False):
        right = self.evaluate(others[0])
        if isinstance(ops[0], (ast.Is, ast.IsNot)):
            result = self.identity(node, left, right, isinstance(ops[0], ast.Is))
        elif isinstance(ops[0], (ast.Eq, ast.NotEq)) and any(map(is_chosen_text, (left, right))):
            result = self.texts_equal(node, left, right, isinstance(ops[0], ast.Eq))
        else:
            result = self.do(node, operator_of(ops[0]), left, right)
        if len(ops) == 1:
            return self.as_truth(node, result) if truth else result
        if not decided_by_data(result):
            if not self.truth(node, result):
                return result
            return self.comparison(node, right, ops[1:], others[1:], truth)
        if truth:
            result = self.as_truth(node, result)

        def more():
            return self.comparison(node, right, ops[1:], others[1:], truth)

        return self.decide(node, result, more, lambda: result, source.assigned(others[1:]))

    def identity(self, node, left, right, positive):
        """left is right, and its contrary."""
        left, right = settled(left), settled(right)
        for a, b in ((left, right), (right, left)):
            if type(a) is Maybe:
                if b is not None:
                    self.refuse(node, "'is' of a value that may be None", next=ADVICE)
                return self.do(node, a.is_none if positive else a.is_there)
            if isinstance(a, Number) and b is not None:
                if a.kind is not bool or type(b) is not bool:
                    self.refuse(node, "'is' of a number that data decides", next="compare with ==")
                return self.do(node, operator.eq if positive else operator.ne, a, b)
        chosen = self.session.chosen
        if (
            left is not right
            and right is not None
            and left is not None
            and (id(left) in chosen or id(right) in chosen)
        ):
            self.refuse(node, "'is' of what data has chosen: which object it is, it decides",
                        next="compare what they hold")  # fmt: skip
        return self.do(node, operator.is_ if positive else operator.is_not, left, right)

    def _e_IfExp(self, node):
        test = self.test(node.test)
        if not decided_by_data(test):
            return self.evaluate(node.body if self.truth(node, test) else node.orelse)
        return self.decide(node, test, lambda: self.evaluate(node.body),
                           lambda: self.evaluate(node.orelse), source.assigned([node]))  # fmt: skip

    def _e_NamedExpr(self, node):
        value = self.evaluate(node.value)
        self.set_name(node, node.target.id, value)
        return value

    def _e_JoinedStr(self, node):
        return self.session.observer.joined(*[self.evaluate(v) for v in node.values])

    def _e_FormattedValue(self, node):
        value = self.evaluate(node.value)
        spec = "" if node.format_spec is None else self.evaluate(node.format_spec)
        return self.do(node, self.session.observer.formatted, value, node.conversion, spec)

    def _e_Lambda(self, node):
        return Closure(self, node)

    def _e_ListComp(self, node):
        out = self.made_list(node, [])
        if type(out) is DataList:
            return self.comprehended_list(node, out)
        self.comprehend(node.generators, lambda: out.append(self.evaluate(node.elt)), out)
        return out

    def comprehended_list(self, node, out):
        """A comprehension whose length data decides, by loops."""
        name, loops = source.as_loops(node)
        own = [n for g in node.generators for n in source.targets(g.target)]
        kept = {n: self.env.pop(n) for n in own if n in self.env}
        self.env[name] = out
        self.block(loops, None)
        out = self.env.pop(name)
        for n in own:
            self.env.pop(n, None)
        self.env.update(kept)
        return out

    def _e_SetComp(self, node):
        out = []
        self.comprehend(node.generators, lambda: out.append(self.evaluate(node.elt)))
        return set(out)

    def _e_GeneratorExp(self, node):
        out = self._e_ListComp(node)
        return out if type(out) is DataList else iter(out)

    def _e_DictComp(self, node):
        out = {}

        def add():
            key = self.evaluate(node.key)
            out[key] = self.evaluate(node.value)

        self.comprehend(node.generators, add)
        return out

    def comprehend(self, generators, add, made=None):
        """The names that a comprehension binds are its own. made: the list that it makes."""
        own = [n for g in generators for n in source.targets(g.target)]
        if taken := [n for n in own if n in self.shared or n in self.declared]:
            self.refuse(generators[0].iter, f"a comprehension names {taken[0]!r} what is also a "
                        "variable that functions share", next="give it another name"
                        )  # fmt: skip
        kept = {n: self.env[n] for n in own if n in self.env}
        variables = {}  # as they are now, for functions that are made here
        self.comprehended.append(variables)

        def run(at):
            if at == len(generators):
                add()
                return
            g = generators[at]
            items = self.evaluate(g.iter)
            if type(items) is Each or type(items) is DataList and not items.is_known():
                grown(self.session, made)
            for item in self.do(g.iter, iter, items):
                self.assign(g.target, item)
                variables.update((n, self.env[n]) for n in own if n in self.env)
                tests = [self.test(c) for c in g.ifs]
                if any(decided_by_data(t) for t in tests):
                    grown(self.session, made)
                    self.refuse(g.ifs[0], "a comprehension whose length data decides",
                                next="make a list: [... for ... if ...]")  # fmt: skip
                if all(tests):
                    run(at + 1)

        try:
            run(0)
        finally:
            self.comprehended.pop()
        for n in own:
            self.env.pop(n, None)
        self.env.update(kept)

    # ── calls ───────────────────────────────────────────────────────────────────────────────────

    def _e_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            cls, first = self.cells["__class__"].cell_contents, self.first_argument()
            return super(cls, first)
        f = self.evaluate(node.func)
        if f is bool and len(node.args) == 1 and isinstance(node.args[0], ast.BoolOp):
            return self.as_truth(node, self.test(node.args[0]))  # its operands may differ in kind
        args = self.items(node.args)
        kwargs = {}
        for k in node.keywords:
            if k.arg is None:
                kwargs.update(self.session.observer.spread(self.evaluate(k.value)))
            else:
                kwargs[k.arg] = self.evaluate(k.value)
        return self.call(node, f, args, kwargs)

    def first_argument(self):
        name = self.node.args.args[0].arg
        return self.names_of(name)[name]

    def call(self, node, f, args, kwargs):
        if isinstance(f, types.MethodType) and type(f.__self__) is DataList:
            return self.do(node, f.__func__, f.__self__, *args, **kwargs)
        while True:
            self.session.observer.look_through(f)
            if isinstance(f, types.MethodType):
                later = self.session.observer.put_off(f)
                if later is not None:
                    return later(*args, **kwargs)
                f, args = f.__func__, [f.__self__, *args]
            elif isinstance(f, functools.partial):
                args, kwargs = [*f.args, *args], {**f.keywords, **kwargs}
                f = f.func
            elif isinstance(f, Traced):
                f = self.session.observer.attribute(f, "_function")
            elif isinstance(f, Module) and type(f).__call__ is Module.__call__:
                f, args = Module.__call__, [f, *args]
            elif _is_callable_object(f):
                f, args = self.session.observer.attribute(type(f), "__call__"), [f, *args]
            else:
                break
        if type(f) is Maybe:
            self.refuse(node, "a value that may be None is called", next=ADVICE)
        lists = [a for a in (*args, *kwargs.values()) if type(a) is DataList]
        if lists:
            known = function_of(f, lists) if f is zip or type((*args, 0)[0]) is DataList else None
            if known is not None:
                return self.of_lists(node, f, known, args, kwargs)
            args, kwargs = self.with_lists(node, f, args, kwargs)
        if any(type(a) is Each for a in args):
            self.refuse(node, "an iterator over a list whose length data decides is kept",
                        next="write it into the for statement")  # fmt: skip
        stand_in = BUILTINS.stand_in(f)
        if stand_in is not None:
            if f is not isinstance and f is not bool:
                args, kwargs = self.present(node, None, args, kwargs)
            for value in (*args, *kwargs.values()) if f is not bool and f is not sum else ():
                self.session.observer.use(value)
            return self.do(node, stand_in, self, node, args, kwargs)
        if isinstance(f, type) and (init := self.init_of(f)) is not None:
            made = self.do(node, object.__new__, f)
            self.do(node, self.session.call, init, [made, *args], kwargs)
            return made
        if isinstance(f, types.FunctionType) and readable(f):
            if f.__name__ in _ASKING and f.__module__ == "lathe._functions":
                f = f.__wrapped__
            return self.do(node, self.session.call, f, args, kwargs)
        if isinstance(f, Closure):
            return self.do(node, functools.partial(f, *args, **kwargs))
        args, kwargs = BUILTINS.taken(self, f, args, kwargs)
        if BUILTINS.refuse_numbers(self, node, f, args, kwargs):
            out = self.do(
                node, functools.partial(self.session.observed(f, args)[0], *args, **kwargs)
            )
        else:
            out = self.do(node, f, *args, **kwargs)
        return self.made_list(node, out) if f is list or f is sorted or _copies_list(f) else out

    def of_lists(self, node, f, known, args, kwargs):
        """What a function of Python's, or an op, does to lists whose length data decides."""
        try:
            inspect.signature(known).bind(*args, **kwargs)
        except TypeError as e:
            self.refuse(node, f"{f.__name__}() of a list whose length data decides", got=str(e),
                        next="leave the argument out, or write a for loop")  # fmt: skip
        for a in args:
            self.session.observer.contents(a, deep=True) if isinstance(a, BOXES) else None
        return self.do(node, known, *args, **kwargs)

    def init_of(self, cls):
        """The __init__ of a class of the user's that is all that making an object runs; None: more
        is run, or it has no source."""
        if type(cls) is not type or not cls.__flags__ & HEAP or not _is_own(cls):
            return None
        if issubclass(cls, Module):
            return None
        if self.session.observer.attribute(cls, "__new__") is not object.__new__:
            return None
        init = next(vars(c)["__init__"] for c in cls.__mro__ if "__init__" in vars(c))
        if not isinstance(init, types.FunctionType) or not readable(init):
            return None
        return self.session.observer.attribute(cls, "__init__")

    def as_it_is(self, node, f, args, kwargs):
        """A call of a function that means something else for what data decides, without such."""
        BUILTINS.refuse_numbers(self, node, f, args, kwargs)
        return self.session.observed(f, args)[0](*args, **kwargs)

    def with_lists(self, node, f, args, kwargs):
        """The arguments of a call where lists are among them whose length data may decide: what is
        no part of the script is given lists, as far as it does not."""
        if f is isinstance or isinstance(f, (Closure, functools.partial)) or keeps(f):
            return args, kwargs
        if isinstance(f, types.FunctionType) and readable(f):
            return args, kwargs
        if isinstance(f, type) and self.init_of(f) is not None:
            return args, kwargs
        own = getattr(f, "__self__", None)
        if type(own) is list:  # one that grows by such a list does so as data decides
            grown(self.session, own)
        reads = type(f) is _lathe.Op or any(f is g for g in READING)

        def as_list(a):
            if type(a) is DataList and not (reads and a.is_known()):
                name = getattr(f, "__name__", type(f).__name__)
                self.refuse(node, f"{name}() of a list whose length data decides",
                            next="stack it first, lathe.stack(items), or go through it with a for "
                            "loop")  # fmt: skip
            if type(a) is not DataList:
                return a
            return iter(a) if f is enumerate or f is zip else list(iter(a))

        return list(map(as_list, args)), {n: as_list(a) for n, a in kwargs.items()}
