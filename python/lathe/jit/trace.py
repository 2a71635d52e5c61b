"""trace: a function runs once on symbolic tensors and from then on as a compiled program."""

import functools

from .. import _lathe
from .._lathe import Tensor
from .state import snapshot


class _Shape:
    """Takes nested tuples, lists and dicts apart into tensors, and puts them together again."""

    def __init__(self, value):
        self.tensors = []
        self.plan = self._plan(value)

    def _plan(self, value):
        if isinstance(value, Tensor):
            self.tensors.append(value)
            return (Tensor, len(self.tensors) - 1)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ("named", type(value), [self._plan(v) for v in value])
        if type(value) in (tuple, list):
            return (type(value), [self._plan(v) for v in value])
        if type(value) is dict:
            return (dict, [(k, self._plan(v)) for k, v in value.items()])
        return ("plain", value)

    def rebuild(self, tensors, plan=None):
        plan = self.plan if plan is None else plan
        kind = plan[0]
        if kind is Tensor:
            return tensors[plan[1]]
        if kind == "named":
            return plan[1](*(self.rebuild(tensors, p) for p in plan[2]))
        if kind in (tuple, list):
            return kind(self.rebuild(tensors, p) for p in plan[1])
        if kind is dict:
            return {k: self.rebuild(tensors, p) for k, p in plan[1]}
        return plan[1]


class _Program:
    """All programs for one state of Python: sizes and layouts are told apart by the engine."""

    def __init__(self, name, keep):
        self.engine = _lathe.Function(name)
        self.keep = keep
        self.result = None
        self.grads = ()  # places of leaves whose .grad the function sets


class Traced:
    """What lathe.trace gives: call it like the function.

    explain() says how each step runs; graph and optimised are its text before and after rewriting;
    counts says how often it was called, traced and run.
    """

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function
        self._programs = {}
        self._bound = None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        if _lathe._tracing():  # part of an outer trace
            return self._function(*args, **kwargs)
        state, counted = snapshot((args, kwargs), self._function)
        program = self._programs.get(state.key)
        fresh = program is None
        if fresh:
            program = _Program(getattr(self._function, "__name__", "function"), state.keep)
        taken = _Shape((args, kwargs))
        given = {id(t): i for i, t in enumerate(state.tensors[:counted])}

        def body(symbolic):
            return self._capture(program, state, taken, given, symbolic)

        outputs = program.engine.call(state.tensors, counted, body)
        if fresh:
            after, _ = snapshot((args, kwargs), self._function)
            if after.key != state.key:
                raise _lathe.TraceError(
                    "trace: the traced code changed Python state, which only happens at capture\n"
                    f"  at:       {_where(self._function)}\n"
                    "  next:     keep the value in a tensor, or return it"
                )
            self._programs[state.key] = program
        results = len(outputs) - len(program.grads)
        for place, grad in zip(program.grads, outputs[results:]):
            state.tensors[place].grad = grad
        return program.result.rebuild(outputs[:results])

    def _capture(self, program, state, taken, given, symbolic):
        stand_ins = [symbolic[given[id(t)]] for t in taken.tensors]
        args, kwargs = taken.rebuild(stand_ins)
        leaves = [
            (i, t, t.grad) for i, t in enumerate(state.tensors) if t.is_leaf and t.requires_grad
        ]
        try:
            program.result = _Shape(self._function(*args, **kwargs))
            set_now = [(i, t.grad) for i, t, before in leaves if t.grad is not before]
        finally:
            for _, t, before in leaves:
                if t.grad is not before:
                    t.grad = before
        program.grads = tuple(i for i, _ in set_now)
        if any(g is None for _, g in set_now):
            raise _lathe.TraceError(
                "trace: the traced code takes away a gradient\n"
                f"  at:       {_where(self._function)}\n"
                "  next:     zero the gradients outside of the traced function"
            )
        return program.result.tensors + [g for _, g in set_now]

    # ── looking inside ──────────────────────────────────────────────────────────────────────────

    def explain(self):
        """Every step with its source line, the primitive chosen, its bits, and why not the others."""
        return "".join(p.engine.explain() for p in self._programs.values())

    @property
    def graph(self):
        """The captured graphs, as text."""
        return "".join(p.engine.graph() for p in self._programs.values())

    @property
    def optimised(self):
        """The same after rewriting."""
        return "".join(p.engine.optimised() for p in self._programs.values())

    @property
    def counts(self):
        """calls, traces, kernels run, and calls that ran node by node for their gradients."""
        total = {}
        for p in self._programs.values():
            for k, v in p.engine.counts().items():
                total[k] = total.get(k, 0) + v
        return total


def _where(function):
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "an unknown line"


def trace(function):
    """Makes a function run as a compiled program.

    Its first call records what it does to symbolic tensors; later calls run that, as long as all it read
    is as it was: argument structure, plain values, globals, attributes, dtypes, ranks, and what it asked
    of sizes. Otherwise it is recorded again. Results, gradients and random numbers are the same bits as
    without trace. What depends on the elements of a tensor is refused with a TraceError: `if`, `float()`,
    `.item()`, printing; use lathe.where, or take it out of the function.
    """
    return Traced(function)
