"""trace: a function runs once on symbolic tensors and from then on as a compiled program."""

# Of functools, without the rest of it: the first trace of a process waits for its imports.
from _functools import partial
from types import FunctionType

from .. import _lathe
from .._capturing import PACKAGE, Captured
from .._lathe import Tensor
from .observe.recording import Built, Restart

_MOST_RESULTS = 96  # kept without a look at which programs are gone
_MOST_REASONS = 32
FLAG = "fallback_is_error"
_MOST_IN_VAIN = 16  # captures in a row whose programs served no other call
# Not errors of the traced code's own, or none that running it once more would tell more of.
_OURS = (
    _lathe.TraceError, _lathe.ScriptError, _lathe.InternalError, _lathe.MemoryError,
    _lathe.CancelledError,
)  # fmt: skip
_OTHER_AT_EACH_CALL = "what the code reads was another at each of its calls"


# Of what C++ compares alone.
_ELSE = "sizes, dtypes or layouts of tensors differ, or what the code asked of numbers"


class _Trace:
    """What belongs to one program: how results are put together, and what its guards are."""

    def __init__(self, captured):
        self.plan, self.effects = captured.plan, captured.effects
        self.waiting = getattr(captured.observer, "waiting", None)
        self.sizes = captured.sizes_outside()
        self.guards = captured.guards()
        self.rows = captured.close()

    def finish(self, outputs, objects):
        from .observe.plans import build, repeat

        memo = {}
        result = build(self.plan, outputs, objects, memo)
        if self.effects:
            repeat(self.effects, outputs, objects, memo)
        return result


class Traced(Captured):
    """What lathe.trace gives: call it like the function.

    explain() says how each step runs; graph and optimised are its text before and after rewriting;
    counts says how often it was called, traced and run; guards() what has to be as it was, and
    reasons() why it was captured again.
    """

    _captures = "_function"  # for an Observer: the attribute that another capture looks into
    _word = "trace"
    _interprets = False  # a script, which does not run the function itself

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
        self._engine = _lathe.Function(_name(function))
        self._number = 0  # of the trace that was made last
        self._traces = {}  # by number: _Trace
        self._recorded = set()  # syntax trees that scripts record (script_recursion, script_lists)
        self._varying = set()  # paths of numbers and functions that have been seen to change
        self._reasons = []  # why it was captured, in words
        self._eager = {}  # calls that ran as they are: why, and how many
        self._in_vain = self._reused = 0  # see _captures_in_vain
        self._function = function  # last: from then on other attributes may be a module's

    def __getattr__(self, name):
        """Of a captured module what the module has: parameters(), train(), state_dict(), weight."""
        function = self.__dict__.get("_function")
        if function is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(function, name)
        if getattr(found, "__self__", None) is not function:
            return found

        def method(*args, **kwargs):
            out = found(*args, **kwargs)
            return self if out is function else out  # train() and to() give what they change

        method.__name__, method.__doc__ = name, found.__doc__
        return method

    def __repr__(self):
        counts = self.counts
        traces, programs = counts.get("traces", 0), counts.get("programs", 0)
        return (
            f"<lathe.{self._word} of {_name(self._function)}: traces={traces}, programs={programs}>"
        )

    def __get__(self, instance, owner=None):
        return self if instance is None else partial(self, instance)

    def __call__(self, *args, **kwargs):
        served = self._engine.serve(args, kwargs)
        if served is not None:
            return served if type(served) is not tuple else self._finish(served, args, kwargs)
        if _lathe._tracing() or _lathe._batching():  # part of an outer trace or vmap
            return self._function(*args, **kwargs)
        try:
            return self._first(args, kwargs)
        except BaseException as problem:
            from .tracebacks import without_own_lines

            raise without_own_lines(problem)  # noqa: B904, the same one

    # ── capture ─────────────────────────────────────────────────────────────────────────────────

    def _first(self, args, kwargs):
        """A call that no program serves: one is made."""
        from .observe.core import Core

        problem = number = None
        with Core.lock:
            served = self._engine.serve(args, kwargs)  # another thread may have been first
            if served is None and self._captures_in_vain():
                problem = _OTHER_AT_EACH_CALL
            elif served is None:
                number, problem = self._make(args, kwargs)
        if problem is _OTHER_AT_EACH_CALL:
            return self._left(problem, args, kwargs, problem)
        if problem is not None:
            return self._as_it_is(problem, args, kwargs)
        if served is None:
            served = self._engine.serve(args, kwargs)
        if served is None:
            self._refuse_unsteady(number, args, kwargs)
        return served if type(served) is not tuple else self._finish(served, args, kwargs)

    def _finish(self, served, args, kwargs):
        if len(served) == 4:
            return self._again(*served, args, kwargs)
        outputs, number, objects = served
        return self._traces[number].finish(outputs, objects)

    def _make(self, args, kwargs):
        """(number of a new trace, None), or (None, an error of the traced code's own)."""
        self._note_misses(args, kwargs)
        number = self._make_unhooked(args, kwargs)
        if number is not None:
            return number, None
        from .observe.capture import Capture
        from .observe.observer import Observer

        concrete, inputs, puts_off, resized = set(), True, True, []
        while True:
            observer = Observer(frozenset(self._varying), concrete, inputs)
            observer.may_put_off, observer.resized = puts_off, resized
            captured = Capture(observer, self._function, self._run, args, kwargs)
            captured.observer.recorded = self._recorded
            try:
                return self._capture(captured), None
            except Restart:
                concrete = captured.observer.concrete
                puts_off, inputs = captured.observer.may_put_off, captured.observer.inputs
                resized = captured.observer.resized
                self._varying |= captured.observer.varying
            except Built as built:
                return None, built
            except BaseException as problem:
                from .observe.sent import is_sent

                refused = captured.observer.let_go()
                if is_sent(problem):
                    raise
                if inputs and captured.may_be_ours(problem):
                    inputs = False  # once more, with the numbers themselves
                    continue
                if isinstance(problem, (_lathe.TraceError, _lathe.ScriptError)):
                    raise
                if refused is not None:
                    raise refused from None
                return None, problem

    def _make_unhooked(self, args, kwargs):
        """The number of a new trace of a function that needs no hooks; None: it may need them."""
        if self._interprets or self._varying:
            return None
        from .observe.unhooked import Unhooked, reads

        found = reads(self._function, args, kwargs)
        if found is None:
            return None
        from .observe.capture import Capture

        try:
            captured = Capture(
                Unhooked(self._function, found), self._function, self._run, args, kwargs
            )
            return self._capture(captured)
        except (Exception, Restart, Built) as problem:
            from .observe.sent import is_sent

            if is_sent(problem):
                raise
            return None

    def _capture(self, captured):
        number = self._number = self._number + 1

        def body(symbolic):
            return captured.body(symbolic), number, captured.rows_given()

        self._engine.capture(captured.given, body, captured.find)
        self._varying |= captured.observer.varying
        grads, wanted = captured.grads, list(captured.planner.wanted)
        single = captured.single
        trace = self._traces[number] = _Trace(captured)
        self._engine.keep(number, trace.guards, grads, wanted, single)
        if len(self._traces) > _MOST_RESULTS:
            for gone in self._engine.forget():
                self._traces.pop(gone, None)
        return number

    def _as_it_is(self, problem, args, kwargs, strict=True):
        """The traced code raised an error of its own, or built what a program cannot: the call runs
        as it is, and raises it again with all that comes before. strict: if it does not, that is an
        error, unless it has built something."""
        built = isinstance(problem, Built)
        why = _in_words(problem)
        if built:
            why = "a parameter or buffer is made that stays, which later calls find there"
        self._count(why)
        result = self._function(*args, **kwargs)
        if strict and not built:
            raise _lathe.TraceError(
                f"trace: the capture raised an error that the function itself does not raise\n"
                f"  got:      {why}\n  expected: code that does the same with symbolic tensors\n"
                f"  at:       {_raised_at(problem, self._function)}\n"
                "  next:     take it out of the traced function"
            ) from problem
        return result

    def _again(self, problem, number, unseen, presumed, args, kwargs):
        """A call whose program has raised. unseen: before anybody saw something of it; then it runs
        as it is, and raises that at its own line, or catches it. presumed: its data are not as the
        program presumes."""
        again = unseen and isinstance(problem, Exception) and not isinstance(problem, _OURS)
        if isinstance(problem, _lathe.UnsupportedError) and _lathe.get_flag(FLAG) == "1":
            again = False  # what the flag asks for
        trace = self._traces.get(number)
        if trace is None or trace.waiting is not None:
            from .observe.printing import deliver, forget

            if trace is None:  # taken away meanwhile
                deliver()
            elif again:
                forget(trace.waiting)
            else:
                deliver(trace.waiting)
        if not again:
            raise problem
        if presumed:
            return self._left(str(problem), args, kwargs)
        return self._once_more(problem, args, kwargs)

    def _once_more(self, problem, args, kwargs):
        return self._as_it_is(self._why(problem), args, kwargs, _lathe.get_flag(FLAG) == "1")

    def _why(self, problem):
        """What explain() says of a call that runs as it is after this."""
        return problem

    def _left(
        self, why, args, kwargs, counted="a size that data decides is not as the program presumes"
    ):
        """A call that runs as it is: its data are not as its program presumes, or a program for it
        would serve no other."""
        if _lathe.get_flag(FLAG) == "1":
            raise _lathe.TraceError(f"{self._word}: this call would run as it is: {why}")
        self._count(counted)
        return self._function(*args, **kwargs)

    def _captures_in_vain(self):
        """Does a call that no program serves run as it is? A capture takes as long as a hundred
        calls. After a row of programs that have served none but their first one is made ever more
        rarely, until one serves again."""
        counts = self.counts
        reused = counts["calls"] - counts["traces"]
        if reused > self._reused:
            self._reused, self._in_vain = reused, 0
        self._in_vain += 1
        n = self._in_vain
        return n > _MOST_IN_VAIN and n & n - 1 != 0

    def _count(self, why):
        self._eager[why] = self._eager.get(why, 0) + 1
        if len(self._eager) > _MOST_REASONS:
            self._eager.pop(next(iter(self._eager)))

    def _run(self, observer, args, kwargs):
        """The capture itself: the function on symbolic tensors."""
        result = observer.call(self._function)(*args, **kwargs)
        self._let_wait(observer)
        return result

    def _let_wait(self, observer):
        """What is printed waits where data decide whether eager code runs instead."""
        if getattr(observer, "called", 0) and (observer.waiting.on or _lathe._presumes()):
            from .observe.printing import let_wait

            let_wait(observer)

    def _note_misses(self, args, kwargs):
        """Which read differs from what the nearest trace found: the reason of a capture."""
        best = None
        for number in self._engine.traces():
            trace = self._traces.get(number)
            if trace is None:
                continue
            misses = trace.guards.misses(args, kwargs)
            if best is None or len(misses) < len(best[2]):
                best = number, trace, misses
            if not misses:
                break
        if best is None:
            return
        number, trace, misses = best
        words, only_inputs = [], bool(misses)
        for n, now in misses:
            row = trace.rows[n]
            changed = row.changed(now)
            self._varying.update(changed or ())
            only_inputs = only_inputs and changed is not None
            words.append(f"{row.said()}: now {row.found(now)}")
        if not misses:
            words += self._note_sizes(trace, args, kwargs)
        if only_inputs:  # the next one serves its calls too
            self._engine.drop(number)
            self._traces.pop(number, None)
        self._reasons.append("; ".join(words[:3]) or _ELSE)
        del self._reasons[:-_MOST_REASONS]

    def _note_sizes(self, trace, args, kwargs):
        """Which tensors from outside have other sizes than a trace met, all else being the same: in
        words. Those that can have any are inputs of any size from now on."""
        words = []
        for n, t in trace.guards.tensors(args, kwargs):
            row, was = trace.rows[n], trace.sizes.get(n)
            if was is not None and was != tuple(t.shape):
                self._varying.add(row.path)
                words.append(f"{row}.shape == {was}: now {tuple(t.shape)}")
        return words

    def _refuse_unsteady(self, number, args, kwargs):
        trace = self._traces[number]
        misses = trace.guards.misses(args, kwargs)
        what = "; ".join(trace.rows[n].said() for n, _ in misses[:3]) or "the layout of a tensor"
        raise _lathe.TraceError(
            "trace: what the traced code reads is not there any more when it has run\n"
            f"  got:      a guard that does not hold: {what}\n"
            "  expected: reads that give the same twice\n"
            f"  at:       {_where(self._function)}\n"
            "  next:     keep the object, instead of making it anew at each read"
        )

    def __reduce__(self):
        """Where a module has it under its name it is found there again; else what it captures is
        kept, and captured anew."""
        import sys

        found = sys.modules.get(getattr(self, "__module__", None))
        for name in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (type(self), (self._function,))

    def __deepcopy__(self, memo):
        import copy

        return type(self)(copy.deepcopy(self._function, memo))

    # ── looking inside ──────────────────────────────────────────────────────────────────────────

    def explain(self, verbose=False):
        """What the rewriter changed; a line for each step: the ops that run as one, what they give,
        what runs them, your line; the lines that the graph holds several times, as the rounds of a
        loop that was written out. verbose: of each step also its parts, the class of its bits,
        loads and stores, why no other entry of the table runs it, and why groups end."""
        eager = [f"{n} calls ran as they are: {why}\n" for why, n in self._eager.items()]
        return "".join(eager) + self._engine.explain(verbose)

    def guards(self):
        """What has to be as it was for each program to serve a call: one list of texts each."""
        return [[row.said() for row in self._traces[n].rows if row.test != "anything"]
                for n in self._engine.traces() if n in self._traces]  # fmt: skip

    def reasons(self):
        """Why it was captured again, the last time last: the guards that did not hold."""
        return list(self._reasons)

    @property
    def graph(self):
        """The captured graphs, as text."""
        return self._engine.graph()

    @property
    def optimised(self):
        """The same after rewriting."""
        return self._engine.optimised()

    def graphs(self):
        """The signature of each graph that was captured, as text: that which served last first."""
        lines = self.graph.splitlines()
        return [line[6:-2] for line in lines if line.startswith("graph ") and line.endswith(" {")]

    @property
    def counts(self):
        """How many calls, traces and programs there were, kernels in those programs, runs of such
        kernels (generated_runs: as machine code; simd_runs: by the SIMD interpreter; moved_runs:
        copies) and of ops of the table (op_runs), rounds of loops that ran by addresses alone
        (alike_rounds), products that ran some rows at a time with what lies between them
        (in_panels), and calls that ran node by node for their gradients."""
        return self._engine.counts()


class OfObject:
    """What a captured module, or another object with a __call__, is beside what can be called: its
    attributes are those of the object, to be written too, and so are the parts of a Sequential."""

    _stands_for = "_function"  # for an Observer: what is written to and gone through in its place

    def _is_own(self, name):
        own = self.__dict__
        return "_function" not in own or name in own or hasattr(type(self), name)

    def __setattr__(self, name, value):
        if self._is_own(name):
            object.__setattr__(self, name, value)
        else:
            setattr(self._function, name, value)

    def __delattr__(self, name):
        if self._is_own(name):
            object.__delattr__(self, name)
        else:
            delattr(self._function, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *dir(self._function)})

    def __getitem__(self, key):
        return self._function[key]

    def __setitem__(self, key, value):
        self._function[key] = value

    def __delitem__(self, key):
        del self._function[key]

    def __iter__(self):
        return iter(self._function)

    def __contains__(self, key):
        return key in self._function

    def __len__(self):
        return len(self._function)

    def __bool__(self):
        return bool(self._function)


class TracedObject(OfObject, Traced):
    """What lathe.trace gives of a module or of another object."""


def is_object(function):
    """Is it of a class whose __call__ is Python code?"""
    if isinstance(function, Captured):
        return False
    how = next((vars(c)["__call__"] for c in type(function).__mro__ if "__call__" in vars(c)), None)
    return type(how) is FunctionType


def _name(function):
    return getattr(function, "__name__", type(function).__name__)


def _raised_at(problem, function):
    """The innermost line of the user's own files that an error came through."""
    found, where = _where(function), problem.__traceback__
    while where is not None:
        code = where.tb_frame.f_code
        if not code.co_filename.startswith((PACKAGE, "<frozen")):
            found = f"{code.co_filename}:{where.tb_lineno}"
        where = where.tb_next
    return found


def same_grad(a, b):
    """The same gradient: each look at .grad gives a new Python object."""
    return a is b if a is None or b is None else _lathe._same_tensor(a, b)


def _in_words(problem):
    """The class of an exception and the first line of its text."""
    try:
        text = str(problem).partition("\n")[0]
    except _lathe.TraceError:  # it is about a number that the trace had
        text = "about a number of the trace"
    return f"{type(problem).__name__}: {text}"


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
    TraceError: `if`, `float()`, computing with `.item()`; use lathe.where, or take it out of the
    function. print() and warnings.warn() happen at each call, of `.item()` too; lathe.callback
    calls any function of Python's.

    examples: arguments to capture it with now, in a tuple or list, or by name in a dict; they say
    nothing about later calls. TypeError where they do not fit the function.

    Of a matrix, in place of a function: the sum of its diagonal, as Tensor.trace().
    """
    if isinstance(function, Tensor) and examples is None:
        return function.trace()
    traced = (TracedObject if is_object(function) else Traced)(function)
    if examples is not None:
        _call_with_examples(traced, examples)
    return traced
