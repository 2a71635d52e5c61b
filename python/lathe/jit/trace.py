"""trace: a function runs once on symbolic tensors and from then on as a compiled program."""

import itertools

# Of functools and collections.abc, without the rest of them: see state.py.
from _collections import defaultdict
from _collections_abc import Coroutine, Iterator
from _functools import partial

from .. import _lathe
from .._lathe import Tensor
from .arrays import StandIn, is_array, stand_in
from .changes import changed_line, refuse_changes
from .inputs import NOTHING, ByValue, StandIns, Varying, is_float, may_be_ours
from .state import Snapshot, nested_too_deep, snapshot


def sequence_maker(kind):
    """What makes a list, or a tuple of this class, from its items; None: another class."""
    if kind in (list, tuple) or hasattr(kind, "n_sequence_fields"):  # as ops with several results
        return kind
    return getattr(kind, "_make", None) if issubclass(kind, tuple) else None


def is_record(value):
    """Is it an instance of a dataclass? As `dataclasses` says, which takes long to import."""
    return hasattr(type(value), "__dataclass_fields__")


_MOST_LEVELS = 128  # of nested arguments and results; more is a list that contains itself
_MOST_CONTAINERS = 1 << 16  # in them; a few lists that share lists can have 2^60 paths through them


class _Shape:
    """Takes nested tuples, lists and dicts apart into tensors, and puts them together again.

    TraceError for what is nested deeper than _MOST_LEVELS, or contains itself, or has more than
    _MOST_CONTAINERS.
    """

    def __init__(self, value, number=lambda value: None):
        self.tensors, self.plain = [], []
        self.places = set()  # of floats and arrays: (id of a container, key)
        self.number = number  # (tensor, type) of a number that the program computes, or None
        self.containers = 0
        self.plan = self._plan(value, 0)

    def _plan(self, value, level, container=None, at=None):
        if isinstance(value, Tensor):
            self.tensors.append(value)
            return (Tensor, len(self.tensors) - 1)
        inner = level + 1
        make = sequence_maker(type(value))
        record = is_record(value)
        if make or record or type(value) is dict:
            self.containers += 1
            if level > _MOST_LEVELS or self.containers > _MOST_CONTAINERS:
                raise nested_too_deep(_MOST_LEVELS)
        if make:
            return ("items", make, [self._plan(v, inner, value, i) for i, v in enumerate(value)])
        if type(value) is dict:
            return (dict, [(k, self._plan(v, inner, value, k)) for k, v in value.items()])
        if record:
            fields = vars(value)
            plans = [(k, self._plan(v, inner, fields, k)) for k, v in fields.items()]
            return ("record", type(value), plans)
        if type(value) is _lathe.SymFloat and value.settled is not None:
            value = value.settled  # of a capture that is over, or another thread's
        if type(value) in (_lathe.SymInt, _lathe.SymFloat):
            self.tensors.append(value)
            return ("size", len(self.tensors) - 1)
        number = self.number(value)
        if number is not None:
            self.tensors.append(number[0])
            return ("number", len(self.tensors) - 1, number[1])
        if issubclass(type(value), StandIn):  # a result: the array itself
            value = value.itself()
        self.plain.append(value)
        if is_float(type(value)) or is_array(type(value)):
            self.places.add((id(container), at))
            return ("placed", value, (id(container), at))
        return ("plain", value)

    def rebuild(self, tensors, plan=None, placed=()):
        """placed: what is to be at such places."""
        plan = self.plan if plan is None else plan
        kind = plan[0]
        if kind is Tensor:
            return tensors[plan[1]]
        if kind == "items":
            return plan[1](self.rebuild(tensors, p, placed) for p in plan[2])
        if kind is dict:
            return {k: self.rebuild(tensors, p, placed) for k, p in plan[1]}
        if kind == "record":
            made = object.__new__(plan[1])
            made.__dict__.update({k: self.rebuild(tensors, p, placed) for k, p in plan[2]})
            return made
        if kind == "placed":
            return placed[plan[2]] if plan[2] in placed else plan[1]
        if kind == "size":
            return tensors[plan[1]]
        if kind == "number":
            return plan[2](tensors[plan[1]].item())
        return plan[1]


class _Program:
    """All programs for one state of Python: sizes and layouts are told apart by the engine."""

    def __init__(self, name, keep, varying, by_value):
        self.engine = _lathe.Function(name)
        self.keep = keep
        self.varying = varying  # inputs.Varying
        self.by_value = by_value  # inputs.ByValue: what is part of the programs instead
        # By trace: they differ where the traced code asked for sizes, dtypes or layouts.
        self.traces = itertools.count()
        self.results = {}  # how a result is put together

    def explain(self):
        why = "; ".join(self.by_value.why) if self.by_value else ""
        text = f"constants where floats and arrays could be inputs: {why}\n" if why else ""
        return text + self.engine.explain()


_MOST_STATES = 128  # of Python that a function keeps programs for
_MOST_RESULTS = 256  # kept without a look at which programs are gone
_MOST_KNOWN = 4
_MOST_UNUSED = 16


class _Again(Exception):
    """The call is to be made again: a capture has met what an input cannot serve (by_value, in the
    state of this key), or began without a walk that says which tensor is which array.

    suspected: an error was the sign, and it may have another cause.
    """

    def __init__(self, key, by_value=NOTHING, suspected=False):
        self.key, self.by_value, self.suspected = key, by_value, suspected


class _Known:
    """What a call found, to serve the next one without a walk over Python's state."""

    def __init__(self, traced, program, notes):
        self.witness = _lathe.Witness(*notes, program.varying.inputs)
        self.call = program.engine.call_if
        self.program = program
        self.trace_anew = partial(traced._trace_anew, program)

    def serve(self, args, kwargs):
        """(served, result)."""
        program = self.program
        served = self.call(self.witness, args, kwargs, self.trace_anew)
        if type(served) is not tuple:  # a single tensor, or nothing
            return served is not None, served
        outputs, trace = served
        return True, program.results[trace].rebuild(outputs)


class Traced:
    """What lathe.trace gives: call it like the function.

    explain() says how each step runs; graph and optimised are its text before and after rewriting;
    counts says how often it was called, traced and run. Both are of all its programs.
    """

    _walks_as = "_function"  # for a Snapshot
    _word = "trace"

    def __init__(self, function):
        if not callable(function):
            raise _lathe.TypeError(
                "only what can be called can be captured",
                op=self._word,
                got=type(function).__name__,
                expected="a function, a method or a module",
                next=f"write @lathe.{self._word} above a function, or hand it one",
            )
        self.__wrapped__ = function
        for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))
        self._function = function
        self._programs = {}
        self._by_value = {}  # by the key of a state: what captures have met, as ByValue
        self._known = []  # of the last calls, newest first
        self._unused = 0  # witnesses made since one served: some state is new at every call
        self._dropped = []  # counts of programs that others have replaced

    def _name(self):
        return getattr(self._function, "__name__", type(self._function).__name__)

    def __getattr__(self, name):
        """Of a captured module what the module has: parameters(), train(), state_dict(), weight."""
        function = self.__dict__.get("_function")
        if function is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(function, name)

    def __repr__(self):
        counts = self.counts
        traces, programs = counts.get("traces", 0), counts.get("programs", 0)
        return f"<lathe.{self._word} of {self._name()}: traces={traces}, programs={programs}>"

    def __get__(self, instance, owner=None):
        return self if instance is None else partial(self, instance)

    def __call__(self, *args, **kwargs):
        again = None
        try:
            for known in self._known:
                served, result = known.serve(args, kwargs)
                if served:
                    self._unused = 0
                    return result
        except _Again as found:
            again = found
        if again is not None:
            return self._call_again(again, args, kwargs)
        if _lathe._tracing() or _lathe._batching():  # part of an outer trace or vmap
            return self._function(*args, **kwargs)
        return self._call(args, kwargs)

    def _call(self, args, kwargs):
        """By a walk over Python's state."""
        taken = _Shape((args, kwargs))  # first: it knows how deep a walk may have to go
        state, counted = snapshot((args, kwargs), self._function, taken.places)
        by_value = self._by_value.get(state.key, NOTHING) | state.by_value()
        key = (state.key, by_value.key(state))
        before = self._programs.get(key)
        program = self._program_for(state, before, by_value)
        given = {id(t): i for i, t in enumerate(state.tensors[:counted])}

        def body(symbolic):
            return self._guarded(program, state, taken, given, symbolic, (args, kwargs))

        floats = [float(f.value) for f in program.varying.of(state.floats)]
        again = None
        try:
            outputs, trace = program.engine.call(state.tensors, counted, floats, body)
        except _Again as found:
            again = found  # and out of here: what the other call raises has nothing to do with it
        if again is not None:
            return self._call_again(again, args, kwargs)
        if program is not before:
            self._replace(key, before, program)
            # What the capture made (a gradient, an optimizer's state) is part of the next walk.
        elif (
            state.whole
            and not by_value.arrays
            and self._unused < _MOST_UNUSED
            and not gives_back(outputs, state)
        ):
            self._unused += 1
            self._known = [_Known(self, program, state.notes), *self._known[: _MOST_KNOWN - 1]]
        return program.results[trace].rebuild(outputs)

    def _call_again(self, again, args, kwargs):
        """With what `again` names taken by value."""
        before = self._by_value.get(again.key, NOTHING)
        self._by_value.pop(again.key, None)
        self._by_value[again.key] = before | again.by_value
        if len(self._by_value) > _MOST_STATES:
            self._by_value.pop(next(iter(self._by_value)))
        try:
            return self._call(args, kwargs)
        except Exception:
            if again.suspected:  # without reason: it happens to the values themselves
                self._by_value[again.key] = before
            raise

    def _program_for(self, state, before, by_value):
        """The one that is there, or a new one: of a new state, or with more floats as inputs."""
        if before is not None and not before.varying.changed(state.floats):
            return before
        varying = Varying(state.floats, by_value, before and before.varying)
        return _Program(self._name(), state.keep, varying, by_value)

    def _replace(self, key, before, program):
        self._programs.pop(key, None)
        self._programs[key] = program
        if before is None and len(self._programs) > _MOST_STATES:
            before = self._programs.pop(next(iter(self._programs)))
        if before is not None:
            self._known = [k for k in self._known if k.program is not before]
            self._dropped.append(before.engine.counts())
            self._dropped = [_totals(self._dropped)]

    def _trace_anew(self, program, args, kwargs, symbolic):
        """A call that a witness let through, of other sizes than those traced so far."""
        taken = _Shape((args, kwargs))
        state, counted = snapshot((args, kwargs), self._function, taken.places)
        given = {id(t): i for i, t in enumerate(state.tensors[:counted])}
        if state.arrays:
            raise _Again(state.key)
        return self._guarded(program, state, taken, given, symbolic, (args, kwargs))

    def _guarded(self, program, state, taken, given, symbolic, arguments):
        """A capture that leaves Python's state as it was, or is refused and undone."""
        before = Snapshot(grads=False, contents=True)
        before.reach((arguments, self._function))
        mode = _lathe.is_grad_enabled()

        handed = []

        def run():
            return self._capture(program, state, taken, given, symbolic, handed)

        def kept():
            """Has the traced code left the lists and dicts that it was given as they were?"""
            return _frozen(handed[0]) == handed[1]

        def changes():
            now = Snapshot(grads=False)
            now.reach((arguments, self._function))
            return now.differs(before)

        def undo():
            before.restore()
            _lathe._set_grad_enabled(mode)

        result, again = None, None
        try:
            result = run()
        except _Again as found:
            again = found
        except Exception as problem:
            inputs = self._inputs(program, state, str(problem).partition("\n")[0])
            if inputs and may_be_ours(problem):
                undo()
                if not changes():  # else the second capture would not begin as the first one did
                    raise _Again(state.key, inputs, suspected=True) from problem
            elif isinstance(problem, (_lathe.TraceError, _lathe.ScriptError)):
                undo()  # the user's own exceptions just pass
            raise
        if kept() and not changes() and _lathe.is_grad_enabled() == mode:
            if again is not None:
                raise again
            return result
        undo()
        line = changed_line(run, lambda: changes() or not kept(), undo)
        return refuse_changes(line or _where(self._function))

    @staticmethod
    def _inputs(program, state, why):
        """ByValue of all that have stand-ins in a capture."""
        arrays = {a.number for a in state.arrays} - program.by_value.arrays
        return ByValue(program.varying.inputs, arrays, why)

    def _capture(self, program, state, taken, given, symbolic, handed):
        read = set()
        placed = self._stand_ins(program, state, symbolic, read)
        places = [given[id(t)] for t in taken.tensors]
        passed = _only_passed(places, state) - {given.get(id(t)) for t in _inside(state.again)}
        stand_ins = [symbolic[i] if i in passed else t for i, t in zip(places, taken.tensors)]
        args, kwargs = taken.rebuild(stand_ins, placed=placed.by_place)
        handed[:] = (args, kwargs), _frozen((args, kwargs))
        leaves = [
            (i, t, t.grad) for i, t in enumerate(state.tensors) if t.is_leaf and t.requires_grad
        ]
        arguments = dict(zip(places, stand_ins))
        for n, (i, _, grad) in enumerate(leaves):
            if i in passed:  # a leaf of the trace as well, with the gradient it has
                stand_in = arguments[i].requires_grad_()
                _lathe._put_grad(stand_in, grad)
                leaves[n] = (i, stand_in, grad)
        try:
            with placed:
                result = self._run(args, kwargs, [t for _, t, _ in leaves])
            result = _Shape(result, self._number)
            inputs = ByValue(program.varying.inputs, why="a result has a float inside an object")
            hidden = _refuse_hidden(result.plain, self._function, not inputs)
            set_now = [(i, t.grad) for i, t, before in leaves if not same_grad(t.grad, before)]
        finally:
            for _, t, before in leaves:
                _lathe._put_grad(t, before)
        if hidden:
            raise _Again(state.key, inputs)
        if read:
            raise _Again(state.key, ByValue(arrays=read))
        if any(g is None for _, g in set_now):
            raise _lathe.TraceError(
                "trace: the traced code takes away a gradient\n"
                f"  at:       {_where(self._function)}\n"
                "  next:     zero the gradients outside of the traced function"
            )
        trace = next(program.traces)
        outputs, result.tensors = result.tensors + [g for _, g in set_now], []
        program.results[trace] = result
        for gone in program.engine.forget() if len(program.results) > _MOST_RESULTS else ():
            program.results.pop(gone, None)
        program.engine.keep(trace, [i for i, _ in set_now], result.plan == (Tensor, 0))
        return outputs, trace

    def _stand_ins(self, program, state, symbolic, read):
        """What the capture finds where the inputs are. read: gets the numbers of the arrays whose
        elements it reads."""
        inputs = StandIns()
        floats = program.varying.of(state.floats)
        count = len(symbolic) - len(floats)
        for place, symbol in zip(floats, symbolic[count:]):
            inputs.add(place, symbol, place.value)
        for array in state.arrays:
            if array.number in program.by_value.arrays:
                continue
            at = array.tensor
            tensor = symbolic[at] if at < count else state.tensors[at]
            reads = partial(read.add, array.number)
            other = stand_in(array.value, tensor, reads)
            for place in array.places:
                inputs.add(place, other, array.value)
        return inputs

    def __deepcopy__(self, memo):
        import copy

        return type(self)(copy.deepcopy(self._function, memo))

    def _run(self, args, kwargs, leaves):
        """The capture itself: the function on symbolic tensors."""
        return self._function(*args, **kwargs)

    @staticmethod
    def _number(value):
        return None

    # ── looking inside ──────────────────────────────────────────────────────────────────────────

    def explain(self):
        """Every step with its source line, the primitive chosen, its bits, and the reasons."""
        return "".join(p.explain() for p in self._programs.values())

    @property
    def graph(self):
        """The captured graphs, as text."""
        return "".join(p.engine.graph() for p in self._programs.values())

    @property
    def optimised(self):
        """The same after rewriting."""
        return "".join(p.engine.optimised() for p in self._programs.values())

    def graphs(self):
        """The signature of each graph that was captured, as text, in order of capture."""
        lines = self.graph.splitlines()
        return [line[6:-2] for line in lines if line.startswith("graph ") and line.endswith(" {")]

    @property
    def counts(self):
        """How many calls, traces and programs there were, kernels in those programs, runs of such
        kernels (generated_runs: as machine code; simd_runs: by the SIMD interpreter; moved_runs:
        copies) and of ops of the table (op_runs), and calls that ran node by node for their
        gradients."""
        dropped = [{**d, "programs": 0, "kernels": 0} for d in self._dropped]
        return _totals([p.engine.counts() for p in self._programs.values()] + dropped)


def _totals(counts):
    total = {}
    for one in counts:
        for k, v in one.items():
            total[k] = total.get(k, 0) + v
    return total


def _only_passed(places, state):
    """Of tensors among the arguments, those that the walk found nowhere else. What an object or a
    global has as well (an optimizer its parameter) stands for itself, or there would be two."""
    times = defaultdict(int)
    for i in places:
        times[i] += 1
    return {i for i, n in times.items() if state.met[i] == n}


def _inside(containers):
    """The tensors in these, at any depth."""
    waiting, seen = list(containers), {}
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            yield value
        elif id(value) not in seen:
            seen[id(value)] = value
            if isinstance(value, dict) or is_record(value):
                waiting.extend((value if isinstance(value, dict) else vars(value)).values())
            elif isinstance(value, (list, tuple)):
                waiting.extend(value)


def gives_back(outputs, state):
    """Is a result one of the caller's own objects? A witness does not know those."""
    own = {id(t) for t in state.tensors}
    return any(id(o) in own for o in outputs)


def _frozen(value, level=0):
    """What a list or dict holds, to compare later. TraceError as for a _Shape."""
    if level > _MOST_LEVELS:
        raise nested_too_deep(_MOST_LEVELS)
    inner = level + 1
    if isinstance(value, (tuple, list)):
        return (type(value), [_frozen(v, inner) for v in value])
    if type(value) is dict:
        return (dict, [(k, _frozen(v, inner)) for k, v in value.items()])
    if is_record(value):
        return (type(value), _frozen(vars(value), inner))
    return id(value)


def _refuse_hidden(results, function, floats):
    """Results that hold a tensor of the trace where no later call would replace it. floats: those
    too; else True if they hold one."""
    waiting, seen, found = list(results), {}, False
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if type(value) is _lathe.SymFloat and not floats:
            found = True
        elif isinstance(value, (Tensor, _lathe.SymFloat)):
            if isinstance(value, _lathe.SymFloat) or _lathe._symbolic(value):
                raise _lathe.TraceError(
                    "trace: a result holds a tensor inside an object that a later call cannot "
                    "make\n"
                    f"  at:       {_where(function)}\n"
                    "  next:     return tuples, lists, dicts, named tuples or dataclasses"
                )
        elif isinstance(value, (Iterator, Coroutine)):
            getattr(value, "close", int)()  # it is not going to run
            raise _lathe.TraceError(
                f"trace: a result is a {type(value).__name__}: what it does would be done later, "
                "and by Python\n"
                f"  at:       {_where(function)}\n"
                "  next:     return a list or a tuple of what it gives"
            )
        elif issubclass(type(value), StandIn):
            value.itself()
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif not isinstance(value, type) and isinstance(getattr(value, "__dict__", None), dict):
            waiting.append(value.__dict__)
    return found


def same_grad(a, b):
    """The same gradient: each look at .grad gives a new Python object."""
    return a is b if a is None or b is None else _lathe._same_tensor(a, b)


def _where(function):
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "an unknown line"


def misfit(function, args, kwargs):
    """(why, signature) if the function cannot be called so; None if it can, or does not say."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that says nothing of its parameters
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as problem:
        return problem, signature
    return None


def _call_with_examples(traced, examples):
    """Captures now, by a call with these."""
    args, kwargs = (), {}
    if isinstance(examples, dict):
        kwargs = examples
    else:
        args = tuple(examples) if isinstance(examples, (tuple, list)) else (examples,)
    if found := misfit(traced._function, args, kwargs):
        problem, signature = found
        name = getattr(traced._function, "__name__", type(traced._function).__name__)
        raise _lathe.TypeError(
            f"the examples do not fit the function: {problem}",
            op="trace",
            got=f"{len(args) + len(kwargs)} examples",
            expected=f"{name}{signature}",
            next="give one example for each argument; a dict gives them by name",
        )
    traced(*args, **kwargs)


def trace(function, examples=None):
    """Makes a function run as a compiled program.

    Its first call records what it does to symbolic tensors; later calls run that, as long as all
    it read is as it was: argument structure, plain values, globals, attributes, dtypes, ranks, and
    what it asked of sizes. Otherwise it is recorded again. Results, gradients and random numbers
    are the same bits as without trace. What depends on the elements of a tensor is refused with a
    TraceError: `if`, `float()`, `.item()`, printing; use lathe.where, or take it out of the
    function.

    examples: arguments to capture it with now, in a tuple or list, or by name in a dict; they say
    nothing about later calls. TypeError where they do not fit the function.

    Of a matrix, in place of a function: the sum of its diagonal, as Tensor.trace().
    """
    if isinstance(function, Tensor) and examples is None:
        return function.trace()
    traced = Traced(function)
    if examples is not None:
        _call_with_examples(traced, examples)
    return traced
