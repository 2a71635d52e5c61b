"""Ops of your own, with kernels of your own.

    @lt.library.custom_op("zero_out(Tensor x) -> Tensor", shape=lambda x: x)
    def zero_out(x):
        "x's first element; 0 elsewhere."
        y = lt.zeros_like(x)
        y.view(-1)[:1] = x.view(-1)[:1]
        return y

`zero_out` is then an op like any other: lt.zero_out(x), x.zero_out(), in a traced function one node
of the graph, in a file its name. Ops in shared objects, with kernels in C++, come by `load`; see
docs/custom-ops.md.
"""

import os

from . import _lathe
from ._capturing import observed
from ._functions import as_tensor
from ._lathe import Tensor

__all__ = ["TensorSpec", "custom_op", "load"]

_GRADIENT = "gradient"  # not an op: a part of a custom one


class TensorSpec:
    """What a shape rule knows of a tensor: shape (symbols in a trace), dtype, device."""

    __slots__ = ("device", "dtype", "shape")

    def __init__(self, shape, dtype, device="cpu"):
        if isinstance(shape, str) or not hasattr(shape, "__iter__"):
            raise _lathe.TypeError(
                "the shape of a TensorSpec is a tuple of sizes",
                op="TensorSpec",
                got=repr(shape),
                expected="a tuple or list of integers",
                next="write (n,) for a single axis",
            )
        self.shape, self.dtype, self.device = tuple(shape), dtype, device

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    def like(self, shape=None, dtype=None):
        """The same, with another shape or dtype."""
        shape = self.shape if shape is None else shape
        return TensorSpec(shape, dtype or self.dtype, self.device)

    def __repr__(self):
        return f"TensorSpec({list(self.shape)}, {self.dtype}, {self.device})"


class Saved:
    """What a gradient can read: arguments and results by name, as far as they are saved."""

    def __init__(self, op, values, specs, wanted):
        self._op, self._values, self._specs, self._wanted = op, values, specs, wanted

    def __getattr__(self, name):
        if name not in self._values:
            raise _lathe.NameError(
                "the gradient asks for what the op does not have",
                op=self._op,
                got=name,
                expected=", ".join(self._values),
                next="name an argument, or a result ('result' where there is no name)",
            )
        value = self._values[name]
        if value is None and self._specs.get(name) is not None:
            raise _lathe.ValueError(
                "the gradient reads a tensor that is not saved",
                op=self._op,
                got=name,
                expected="a name that `saves` has",
                next=f"add {name!r} to `saves`, or use spec({name!r}) for its shape",
            )
        return value

    def spec(self, name):
        """Shape, dtype and device of a tensor argument, saved or not."""
        return TensorSpec(*self._specs[name])

    def wants(self, name):
        """Whether this argument's gradient is asked for."""
        return self._wanted[name]


def _many(answer):
    return list(answer) if isinstance(answer, (tuple, list)) else [answer]


def _tensor(op, part, answer):
    """What the author's `part` of an op gave, as a tensor: it may be NumPy's."""
    if isinstance(answer, Tensor):
        return answer
    from .jit.observe.rows import is_array  # not above: all of lathe.jit comes with it

    cause = None
    if hasattr(answer, "__array_interface__") or is_array(answer.__class__):
        try:
            # .grad and a trace keep a gradient, and the array is its author's: a copy.
            return _lathe.tensor(answer) if part == _GRADIENT else as_tensor(answer)
        except _lathe.Error as error:
            cause = error
    raise _lathe.TypeError(
        f"the {part} gives something that is no tensor",
        op=op,
        got=f"{type(answer).__name__} {answer!r:.60}",
        expected="a tensor or a NumPy array of numbers for each result",
        next="return the values as a tensor" + (", or None" if part == _GRADIENT else ""),
    ) from cause


def as_tensors(op, part, answer):
    """What the author's `part` of something gave, a tensor or several, as a list of them."""
    return [_tensor(op, part, one) for one in _many(answer)]


def _as_spec(value):
    return TensorSpec(*value) if isinstance(value, tuple) and _is_type(value) else value


def _is_type(value):
    return len(value) == 3 and isinstance(value[1], _lathe.dtype)


def _shape_rule(name, shape):
    def rule(arguments):
        described = []
        for answer in _many(observed(shape)(*map(_as_spec, arguments))):
            if not isinstance(answer, TensorSpec):
                raise _lathe.TypeError(
                    "the shape rule gives something that is no TensorSpec",
                    op=name,
                    got=type(answer).__name__,
                    expected="a TensorSpec for each result",
                    next="return x.like(shape=..., dtype=...) of a tensor argument",
                )
            described.append((answer.shape, answer.dtype, answer.device))
        return described

    return rule


def _kernel(name, kernel):
    def run(arguments):
        return as_tensors(name, "kernel", kernel(*arguments))

    return run


def _gradient(name, gradient, parameters, results):
    def run(values, specs, outputs, wanted, dys):
        tensors = [p["name"] for p in parameters if p["type"] == 0]
        names = [p["name"] for p in parameters]
        known = dict(zip(names, values))
        known.update(zip(results, outputs))
        types = dict(zip(names, specs))
        types.update((r, ()) for r in results)
        saved = Saved(name, known, types, dict(zip(names, wanted)))
        answers = _many(observed(gradient)(saved, *dys))
        if len(answers) != len(tensors):
            raise _lathe.ValueError(
                "the gradient gives another number of results than there are tensor arguments",
                op=name,
                got=len(answers),
                expected=f"{len(tensors)}: for {', '.join(tensors)}",
                next="return one for each, None where there is none",
            )
        by_name = {
            n: None if answer is None else _tensor(name, _GRADIENT, answer)
            for n, answer in zip(tensors, answers)
        }
        return [by_name.get(n) for n in names]

    return run


def custom_op(schema, *, shape, gradient=None, saves=None, version=1, doc=None):
    """Decorates a kernel: gives the op that the schema describes, and adds it to lathe.

    schema: "name(Tensor x, int n=1) -> Tensor"; no lists of tensors, nothing written.
    shape: the shape rule. It gets the arguments with a TensorSpec in place of each tensor and
        returns a TensorSpec for each result. In a trace sizes are symbols: compute with them.
    the decorated kernel: gets tensors on the cpu, which it must not write to, and returns
        tensors or NumPy arrays of just the types that `shape` gave.
    gradient(saved, *dys): made of lathe's ops; returns one for each tensor argument, of its shape
        and dtype, or None.
        `saved` has the arguments and results named in `saves` (default: every tensor argument).
    version: of the meaning; a file that was saved with another one is refused.

    NameError if lathe has such a name; ValueError for a schema that cannot be.
    """
    if not callable(shape):
        raise _lathe.TypeError(
            "an op needs a shape rule",
            op="custom_op",
            got=repr(shape),
            expected="a function from the arguments' TensorSpecs to those of the results",
            next="for a result like the argument: shape=lambda x: x",
        )
    name = _lathe._op_name(schema)
    lathe = __import__(__package__)
    if hasattr(lathe, name) or hasattr(Tensor, name):
        raise _lathe.NameError(
            "lathe has something of this name already",
            op=name,
            got=schema,
            expected="a name that is free",
            next="put the name of your library in front",
        )

    def define(kernel):
        # The row's parameters are known once it is added; the gradient runs only after that.
        parameters, results = [], []
        text = doc or (kernel.__doc__ or "").strip() or "A custom op."
        rule = _gradient(name, gradient, parameters, results) if gradient else None
        reads = saves
        if reads is None:
            reads = _tensor_names(schema)
        op = _lathe._define_op(
            schema, text, version, " ".join(reads), _shape_rule(name, shape),
            _kernel(name, kernel), rule,
        )  # fmt: skip
        row = next(r for r in reversed(_lathe._definitions()) if r["name"] == name)
        parameters += row["params"]
        results += [r or "result" for r, _ in row["results"]]
        return op

    return define


def _tensor_names(schema):
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    parts = [p.split("=")[0].split() for p in inside.split(",")]
    return [p[1] for p in parts if len(p) == 2 and p[0].rstrip("?") == "Tensor"]


def load(path):
    """Opens a shared object made with include/lathe/custom_op.h and adds its ops; gives them.

    FileError if it cannot be opened or brings no ops, NameError if a name is taken.
    """
    return _lathe._load_ops(os.fspath(path))
