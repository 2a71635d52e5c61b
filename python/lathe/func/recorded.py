"""One run of a function on arguments with a history of their own: what every derivative of a
function here is made of."""

from .. import _lathe, ops
from .._functions import as_tensor
from .._grad_mode import enable_grad
from .._lathe import Tensor
from . import trees


def refuse(name, problem, got, expected, advice, kind=_lathe.ValueError):
    raise kind(problem, op=name, got=got, expected=expected, next=advice)


class Record:
    """What was recorded between tensors `xs` and tensors `ys`.

    `goes_on`: ys depend on more than xs, so that who runs us may differentiate them (a function in
    a function, a tensor that the function closes over, what a recorded loop hands on), and `wanted`
    says that it does; else nothing that is handed out has a history. `create`: the computation of
    derivatives is recorded, here or below a vmap.
    """

    def __init__(self, xs, ys, wanted, handed_on=False):
        self.xs, self.ys = xs, ys
        self.goes_on = wanted and (handed_on or _lathe._history_beyond(ys, xs))
        self.create = self.goes_on or (wanted and _lathe._tracked_below(ys))

    def handed_out(self, value):
        return value if self.goes_on or not isinstance(value, Tensor) else _lathe._unrecorded(value)

    def pulled(self, ys, seeds, keep=True):
        """The gradients of the sum of ys * seeds by each of xs."""
        recorded = _lathe.is_grad_enabled()
        goes_on = recorded and (self.goes_on or any(s.requires_grad for s in seeds))
        create = recorded and (self.create or goes_on)
        found = gradients(ys, self.xs, seeds, keep, create)
        return found if goes_on else [_lathe._unrecorded(g) for g in found]


class Recorded(Record):
    """function(*args), run and recorded: from the tensors of the arguments to those of the
    result."""

    def __init__(self, name, function, args, has_aux=False):
        self.name, self.aux = name, None
        wanted = _lathe.is_grad_enabled()
        leaves, self.inside = trees.flatten(args)
        handed_on = any(_lathe._may_have_history(x) for x in leaves if isinstance(x, Tensor))
        with enable_grad():
            xs = [of_its_own(name, x) for x in leaves]
            result = function(*trees.unflatten(self.inside, xs))
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                refuse(name, "has_aux=True, and the function gives no pair", type(result).__name__,
                       "(result, auxiliary values)", "return both as a tuple")  # fmt: skip
            result, self.aux = result
        ys, self.outside = trees.flatten(result)
        for y in ys:
            if not isinstance(y, Tensor):
                refuse(name, "the function gives what is no tensor", type(y).__name__,
                       "tensors, in tuples, lists and dicts",
                       "return other values with has_aux=True", _lathe.TypeError)  # fmt: skip
        super().__init__(xs, ys, wanted, handed_on)
        if has_aux:
            self.aux = trees.mapped(self.handed_out, self.aux)

    def result(self):
        return trees.unflatten(self.outside, [self.handed_out(y) for y in self.ys])


def of_its_own(name, x):
    x = as_tensor(x)
    if not (x.is_floating_point() or x.is_complex()):
        refuse(name, "an argument that is differentiated has no derivative", str(x.dtype),
               "floating or complex tensors", "leave it out of argnums, or close over it",
               _lathe.DTypeError)  # fmt: skip
    # Of its own in the history: what else the function may know of x does not count.
    if x.requires_grad:
        return x.clone()
    if _lathe._may_have_history(x):
        return x.clone().requires_grad_()
    return _lathe._unrecorded(x).requires_grad_()


def gradients(ys, xs, seeds, keep, create):
    """Those of the sum of ys * seeds by xs; zeros where there is no way."""
    pairs = [(y, s) for y, s in zip(ys, seeds) if y.requires_grad]
    found = [None] * len(xs)
    if pairs and xs:
        ys, seeds = zip(*pairs)
        found = _lathe.grad(list(ys), list(xs), list(seeds), keep, create, allow_unused=True)
    return [ops.zeros_like(x) if g is None else g for g, x in zip(found, xs)]


class Linear:
    """The derivative of what was recorded, as a function of tangents; `depends`: ys do on xs.

    The gradient is linear in its seed, and the gradient by that seed of (gradient times tangent) is
    the derivative in the direction of the tangent: forward mode by two reverse passes.
    """

    def __init__(self, run):
        self._run = run
        with enable_grad():
            self._seeds = [
                ops.zeros_like(y).requires_grad_() if y.requires_grad else None for y in run.ys
            ]
            seeds = [s for s in self._seeds if s is not None]
            tracked = [y for y in run.ys if y.requires_grad]
            self._back = [None] * len(run.xs)
            if tracked:
                self._back = _lathe.grad(tracked, run.xs, seeds, True, True, allow_unused=True)
        self.depends = any(b is not None for b in self._back)

    def pushed(self, tangents):
        """The tangent of each result."""
        run = self._run
        goes_on = run.goes_on or any(t.requires_grad for t in tangents)
        seeds = [s for s in self._seeds if s is not None]
        pairs = [
            (b, t) for b, t in zip(self._back, tangents) if b is not None and b.requires_grad
        ]  # fmt: skip
        found = [None] * len(seeds)
        if pairs:
            back, by = zip(*pairs)
            found = _lathe.grad(
                list(back), seeds, list(by), True, run.create or goes_on, allow_unused=True
            )
        found = iter(found)
        values = [None if s is None else next(found) for s in self._seeds]
        values = [ops.zeros_like(y) if v is None else v for v, y in zip(values, run.ys)]
        return values if goes_on else [_lathe._unrecorded(v) for v in values]
