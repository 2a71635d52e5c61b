"""script: like trace, and control flow that data decides is captured.

The function's own source is read and run, statement by statement, on symbolic tensors, with
Python's values and Python's rules; so all that trace can capture a script can. But an `if`,
`while`, `and`, `or`, `not`, comparison or conditional whose question is a tensor becomes a
structure of the graph: both branches, or the body, are recorded. Functions and forward() methods
that the source calls are read the same way; what has no source that may be read (the library
itself, builtins) runs as it is, as under trace.

Interpreter (here: statements; script_expressions, script_structures) runs one function. Its local
names are a dictionary, so that a branch can be run, looked at, and undone. script_source finds and
looks at syntax trees; script_values has numbers that data decides, and joins values: after an if, a
name whose value differs between the branches is one result of the structure for each tensor or
number in it, and a flag where it may be None (script_optional). Items and attributes that a branch
changes are joined in place (script_heap), as long as the structure stays. What follows an if that
may return, break or continue is run inside both branches; a loop that may return is left, and two
names beside the user's say so.
"""

import ast

from .. import _lathe, ops
from .._lathe import Tensor
from . import script_source as source
from .observe.observer import Observer
from .observe.rewrite import Room
from .script_expressions import CELLS, Closure, Expressions, of_data, throw
from .script_join import Again, Raised
from .script_match import Matching
from .script_math import power
from .script_observed import Observed
from .script_optional import Facts, facts_of, learn
from .script_recursion import result_of
from .script_structures import BREAK, CLOSED, CONTINUE, END, PLAIN_ERRORS, RETURN, Structures
from .script_values import Number, decided_by_data, operator_of
from .trace import OfObject, Traced, is_object


class Session(Observed):
    """One capture: what all interpreters of it share."""

    def __init__(self, observer):
        super().__init__(observer)
        self.recursions = []  # functions that call themselves, recorded now, outermost first
        self.depth = 0  # of functions calling functions
        self.recording = 0  # of structures inside each other
        self.rounds = 0  # of loops that are written out there
        self.rounds_known = []  # Known of the loops that are recorded now, the innermost last
        self.live = []  # interpreters under way, outermost first
        self.given = {}  # what the call came with, and others hold
        self.here = []  # conditions that are true where the code is
        self.asserted = []  # (what may be None, what was known of it before)
        self.calls = {}  # functions that the program calls, see lathe.callback
        self.checks = {"failed": 0}  # a number whose computation fails where eager code raises
        self.trying = []  # how many structures are around each try that is under way
        self.crossed = None  # an exception that has left a part which data decides about
        self.thrown = None  # the last exception of a raise statement
        self.inner = False  # part of a trace, which nothing can run as it is
        self.chosen = {}  # by id: what is no longer the object that a branch named
        self.of_lists = {}  # by id: tensors that were read from lists whose length data decides
        self.made = {}  # by id: a list that the script has made, and the syntax tree that did
        self.recorded = set()  # ids of those that were made in a part that is recorded

    def scope(self, facts):
        return Facts(self.asserted, facts)

    def fail_where(self, condition):
        """The program fails where this is true: the call then runs as it is, and raises what eager
        code raises, with all that comes before."""
        self.observer.note_failure()
        failed = ops.checked_range(condition.to(_lathe.int64), 0, 0)
        self.checks["failed"] = Number(failed, int) + self.checks["failed"]

    def call(self, f, args, kwargs):
        """Runs a Python function as part of the script."""
        self.observer.enter(f)
        with self.observer.resting():
            code = self.observer.code_of(f)
            i = Interpreter(self, code.co_filename, source.find(code), f.__globals__)
            i.cells = dict(zip(code.co_freevars, f.__closure__ or ()))
            i.function = i.who = f
            self.given[id(f)] = f.__defaults__, f.__kwdefaults__
            i.env.update(source.bind_function(f, args, kwargs))
        return i.run_function()


class Interpreter(Expressions, Structures, Matching):
    """Runs one function of a script."""

    def __init__(self, session, file, node, names, outer=None):
        self.session, self.file, self.node, self.globals, self.outer = (
            session, file, node, names, outer,
        )  # fmt: skip
        self.env = {}
        self.comprehended = []  # variables of the comprehensions that run
        self.cells = {}
        self.function = None  # from outside of the script
        self.who = None  # what was called: a function, or a Closure
        self.loops = []  # of the frame under way: the innermost last
        self.learnt = {}  # by node and level: Known
        self.copies = 1  # of what is recorded now, inside of branches that do not return
        self.levels = {}  # by node: how many of it are being recorded, one inside of the other
        self.makers = {}  # by name of a loop's return value: what makes a stand-in for it
        self.local, self.declared = source.local_names(node), source.declared(node)
        self.shared = source.shared_names(node)

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def run_function(self):
        return result_of(self)

    def said(self):
        return f"{getattr(self.node, 'name', '<lambda>')}()"

    def run_body(self):
        session = self.session
        if self.shared:
            self.env[CELLS] = {n: self.env.pop(n) for n in self.shared if n in self.env}
        session.depth += 1
        session.live.append(self)
        try:
            if isinstance(self.node, ast.Lambda):
                return self.evaluate(self.node.body)
            how, value = self.block(self.node.body, None)
            return value if how == RETURN else None
        finally:
            session.live.pop()
            session.depth -= 1

    # ── statements ──────────────────────────────────────────────────────────────────────────────
    # A statement gives (how it ended, value). `rest` is what follows it, up to the end of the
    # function or of the loop's body: (statements, where to go on, what follows those).

    def block(self, statements, rest):
        for i, s in enumerate(statements):
            out = self.statement(s, (statements, i + 1, rest))
            if out[0] != END:
                return out
        return END, None

    def follow(self, rest):
        while rest is not None:
            statements, at, rest = rest
            for i in range(at, len(statements)):
                out = self.statement(statements[i], (statements, i + 1, rest))
                if out[0] != END:
                    return out
        return END, None

    def statement(self, node, rest):
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            kind = source.spoken(node)
            self.refuse(node, f"{kind} cannot be part of a script",
                        next="use lathe.trace, or move it out of the function")  # fmt: skip
        if not self.session.recording:
            return method(node, rest) or (END, None)
        try:
            return method(node, rest) or (END, None)
        except (_lathe.ScriptError, _lathe.TraceError, Again, RecursionError):
            raise
        except Exception as e:
            if self.is_tried():
                raise
            if e is self.session.thrown:
                self.fail(node)
            if isinstance(e, _lathe.Error):
                raise  # eager would run one branch only, and perhaps not this one
            if isinstance(e, PLAIN_ERRORS):
                self.fail(node)
            self.refuse(node, "an exception in a part that data decides about",
                        got=f"{type(e).__name__}: {e}",
                        next="take the part out of the branch or the loop")  # fmt: skip

    def _Expr(self, node, rest):
        self.evaluate(node.value)

    def _Pass(self, node, rest):
        pass

    _Nonlocal = _Global = _Pass  # read in advance: source.declared()

    def _Assign(self, node, rest):
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _AnnAssign(self, node, rest):
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def _AugAssign(self, node, rest):
        target = node.target
        f = self.in_place(node)
        if isinstance(target, ast.Name):
            old = self.name(target)
            self.set_name(
                node, target.id, self.do(node, f, old, self.operand(node, old, node.value))
            )
        elif isinstance(target, ast.Attribute):
            thing, name = self.evaluate(target.value), self.attribute(target)
            old = self.do(target, getattr, thing, name)
            new = self.do(node, f, old, self.operand(node, old, node.value))
            self.do(node, setattr, thing, name, new)
        else:
            thing = self.evaluate(target.value)
            index = self.index(thing, target.slice)
            old = self.do(target, operator_of("[]"), thing, index)
            new = self.do(node, f, old, self.operand(node, old, node.value))
            self.do(node, operator_of("[]="), thing, index, new)

    def in_place(self, node):
        """What an augmented assignment does to two values."""
        f = operator_of(node.op, in_place=True)
        if not isinstance(node.op, ast.Pow):
            return f
        return lambda a, b: power(self, node, a, b) if of_data(a, b) else f(a, b)

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.set_name(target, target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Attribute):
            self.do(target, setattr, self.evaluate(target.value), self.attribute(target), value)
        elif isinstance(target, ast.Subscript):
            thing = self.evaluate(target.value)
            if isinstance(value, Number) and isinstance(thing, Tensor):
                value = value.within(thing.dtype) if value.kind is int else value.tensor
            self.do(target, operator_of("[]="), thing, self.index(thing, target.slice), value)
        else:
            self.refuse(target, f"{source.spoken(target)} cannot be assigned to in a script")

    def unpack(self, target, value):
        items = list(self.do(target, iter, value))
        names = target.elts
        star = [i for i, n in enumerate(names) if isinstance(n, ast.Starred)]
        if star:
            first, after = star[0], len(names) - star[0] - 1
            if len(items) < first + after:
                raise ValueError("not enough values to unpack")
            middle = items[first : len(items) - after]
            items = items[:first] + [middle] + items[len(items) - after :]
            names = [n.value if isinstance(n, ast.Starred) else n for n in names]
        if len(items) != len(names):
            raise ValueError(f"{len(items)} values to unpack into {len(names)} names")
        for n, item in zip(names, items):
            self.assign(n, item)

    def _Delete(self, node, rest):
        for target in node.targets:
            if isinstance(target, ast.Name):
                if target.id in self.declared:
                    self.refuse(node, f"{target.id!r} is deleted, which is not the function's own")
                self.name(target)
                del self.names_of(target.id)[target.id]
            elif isinstance(target, ast.Subscript):
                thing = self.evaluate(target.value)
                self.do(node, operator_of("del []"), thing, self.index(thing, target.slice))
            else:
                self.refuse(node, "this cannot be deleted in a script")

    def _Return(self, node, rest):
        return RETURN, None if node.value is None else self.evaluate(node.value)

    def _Break(self, node, rest):
        return BREAK, None

    def _Continue(self, node, rest):
        return CONTINUE, None

    def _Raise(self, node, rest):
        if self.session.recording and not self.is_tried():
            self.fail(node)
        if node.exc is None:
            self.refuse(node, "a raise without an exception cannot be part of a script",
                        next="name the exception: `except E as e: raise e`")  # fmt: skip
        raised = self.evaluate(node.exc)
        cause = None if node.cause is None else self.evaluate(node.cause)
        try:
            self.do(node, throw, raised, cause)
        except Exception as e:
            self.session.thrown = e
            raise

    def is_tried(self):
        """Is there a try in the same part? Then it sees the exception."""
        return self.session.recording in self.session.trying[-1:]

    def fail(self, node):
        """An exception is raised here, if the program comes here."""
        if any(r.result is None for r in self.session.recursions):
            raise Raised  # a recording that is thrown away
        self.may_fail(node)
        if not self.session.here:
            self.refuse(node, "an exception that every round of a loop raises",
                        next="raise it before the loop, or under an if")  # fmt: skip
        self.do(node, self.session.fail_where, self.session.here[-1])
        raise Raised

    def may_fail(self, node):
        if self.session.inner:
            self.refuse(node, "an exception that data decides about, inside of a lathe.trace",
                        next="make the outer function a script too")  # fmt: skip

    def _Assert(self, node, rest):
        value = self.test(node.test)
        if decided_by_data(value):
            self.may_fail(node)
            value = self.as_truth(node, value)
            self.do(node, self.session.fail_where, ops.logical_not(value.tensor))
            learn(self.session.asserted, facts_of(value)[0])
        elif not self.truth(node, value):
            if self.session.recording and not self.is_tried():
                self.fail(node)
            self.do(node, throw, AssertionError(*([self.evaluate(node.msg)] if node.msg else [])))

    def _FunctionDef(self, node, rest):
        if node.decorator_list:
            self.refuse(node, "a decorated function inside a script")
        if source.is_generator(node):
            self.refuse(node, "a generator inside a script", next="build a list instead")
        self.set_name(node, node.name, Closure(self, node))

    def _Import(self, node, rest):
        for name, value in self.do(node, self.session.imported, node, self.globals).items():
            self.set_name(node, name, value)

    _ImportFrom = _Import

    def _With(self, node, rest):
        managers = []
        try:
            for item in node.items:
                manager = self.evaluate(item.context_expr)
                value = self.do(node, self.method(manager, "__enter__"), manager)
                managers.append(manager)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value)
            outcome = self.block(node.body, CLOSED)
        except BaseException as e:
            while managers:
                manager = managers.pop()
                if self.do(
                    node, self.method(manager, "__exit__"), manager, type(e), e, e.__traceback__
                ):
                    self.refuse(node, "a context manager that swallows an exception")
            raise
        while managers:
            manager = managers.pop()
            self.do(node, self.method(manager, "__exit__"), manager, None, None, None)
        return outcome

    def method(self, value, name):
        return self.session.observer.attribute(type(value), name)

    def _Try(self, node, rest):
        try:
            out = self.handled(node) if node.handlers else self.block(node.body, CLOSED)
        except BaseException as e:
            if not isinstance(e, Exception) or self.is_ours(e):
                raise
            after = self.block(node.finalbody, CLOSED)
            if after[0] == END:
                raise
            return after
        after = self.block(node.finalbody, CLOSED)
        return after if after[0] != END else out

    def handled(self, node):
        """A try whose exceptions are caught, as far as the capture meets them. Where the elements
        raise one, the program fails, and the call runs as it is."""
        session = self.session
        classes = [self.caught_by(h) for h in node.handlers]
        session.trying.append(session.recording)
        try:
            out = self.block(node.body, CLOSED)
            caught = None
        except Exception as e:
            if self.is_ours(e):
                raise
            caught = e
        finally:
            session.trying.pop()
        if caught is None:
            return self.block(node.orelse, CLOSED) if out[0] == END else out
        for handler, wanted in zip(node.handlers, classes):
            if isinstance(caught, wanted):
                return self.handler(handler, caught)
        raise caught

    def caught_by(self, handler):
        """The classes of exceptions that a handler is for."""
        wanted = BaseException if handler.type is None else self.evaluate(handler.type)
        classes = wanted if isinstance(wanted, tuple) else (wanted,)
        for c in classes:
            if not (isinstance(c, type) and issubclass(c, BaseException)):
                problem = "an except of what is no class of exceptions"
                advice = "name the exceptions, as in `except KeyError:`"
                self.refuse(handler.type, problem, got=repr(c), next=advice)
        return classes

    def handler(self, handler, caught):
        if handler.name is not None:
            self.set_name(handler, handler.name, caught)
        try:
            return self.block(handler.body, CLOSED)
        finally:
            if handler.name is not None:
                self.names_of(handler.name).pop(handler.name, None)

    def is_ours(self, problem):
        """A refusal, or a sign of the capture's own: nothing that eager code raises."""
        ours = (_lathe.ScriptError, _lathe.TraceError, Again, RecursionError)
        session = self.session
        return (isinstance(problem, ours) or problem is session.crossed
                or session.observer.refused is not None)  # fmt: skip


class Scripted(Traced):
    """What lathe.script gives: called like the function, and looked into like a trace."""

    _word = "script"
    _interprets = True
    _captures = None  # part of an outer capture, it runs as a script all the same

    def __init__(self, function):
        super().__init__(function)
        source.require(function)

    def __call__(self, *args, **kwargs):
        if _lathe._tracing():
            # Part of an outer trace, whose own code runs as Python: this part is read all the same.
            return self._part(Observer.active(), args, kwargs, inner=True)[0]
        return super().__call__(*args, **kwargs)

    def _once_more(self, problem, args, kwargs):
        try:
            return super()._once_more(problem, args, kwargs)
        except RecursionError:
            raise problem from None  # the program's error says more

    def _why(self, problem):
        if not isinstance(problem, _lathe.OverflowError):
            return problem
        return _lathe.ScriptError("eager code raises an exception here", op="script")

    def _run(self, observer, args, kwargs):
        result, session = self._part(observer, args, kwargs)
        self._let_wait(observer)
        failed = session.checks["failed"]
        return Checked(result, failed.tensor) if decided_by_data(failed) else result

    def _part(self, observer, args, kwargs, inner=False):
        f = observer.attribute(self, "_function") if inner else self._function
        observer.swap_at_once()
        session = Session(observer)
        session.inner = inner
        with observer.resting():
            node = source.any_node(f)
            i = Interpreter(session, source.file_of(f), node, {})
        session.given.update(f=f, args=list(args), kwargs=dict(kwargs))
        with Room():
            return i.call(node, f, list(args), dict(kwargs)), session


class Checked:
    """A result that holds only if a number can be computed."""

    _is_checked = True

    def __init__(self, value, check):
        self.value, self.check = value, check


class ScriptedObject(OfObject, Scripted):
    """What lathe.script gives of a module or of another object."""


def script(function):
    """Makes a function run as a compiled program, also where data decides what it does.

    Like trace, and an `if`, `while`, `for i in range(n)`, `and`, `or`, `not` or conditional
    expression whose question is a tensor becomes part of the program, in this function and in those
    it calls. int(), float(), bool() and .item() of a tensor give numbers that the program computes.
    Results, gradients and random numbers are the same bits as without script.

    Refused with a ScriptError at the user's line: branches that leave a name with two kinds of
    value, or change the structure of a list, a dict or an object; text of elements that is not
    printed.
    """
    return (ScriptedObject if is_object(function) else Scripted)(function)


__all__ = ["Scripted", "ScriptedObject", "script"]
