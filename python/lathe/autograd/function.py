"""Function: a piece of a program with a derivative of its own.

forward() runs without history. What it gives gets one node in the history of its inputs, whose
derivative is backward(); that is ordinary code, so it can be differentiated again and traced.
"""

from .. import _lathe, ops
from .._errors import wrapping
from .._lathe import Tensor


class FunctionCtx:
    """What forward() hands on to backward(): tensors by save_for_backward(), all else as
    attributes.

    needs_input_grad: for each argument of apply(), whether its gradient is asked for.
    """

    def __init__(self, name="Function", needs_input_grad=()):
        self._name, self.needs_input_grad = name, needs_input_grad
        self._to_save, self._saved = (), ()
        self._dirty, self._plain = (), ()
        self._materialize = True
        self._node = None

    def save_for_backward(self, *tensors):
        """Keeps inputs, outputs or other tensors (or None) for backward(), with their history. A
        write to one of them before is then an AutogradError."""
        self._to_save = tensors

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self):
        """What save_for_backward() kept."""
        if self._saved is None:
            raise _lathe.AutogradError(
                "backward went through here before and released what it needs",
                op=self._name, got="a second backward",
                expected="one backward for each forward",
                next="pass retain_graph=True to the first backward()",
            )  # fmt: skip
        if self._to_save and not self._saved:
            return self._to_save  # no gradient is asked for
        return tuple(None if s is None else s.unpack(self._node) for s in self._saved)

    def mark_dirty(self, *tensors):
        """Names the inputs that forward() wrote to; it must give them back as results."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Names results that have no derivative."""
        self._plain = tensors

    def set_materialize_grads(self, value):
        """False: backward() gets None, not zeros, for a result that nothing depends on."""
        self._materialize = value


class _Derivative:
    """backward() of one call, as the tape runs it. It is given None for what is no tensor among
    the results; `places` are those of the tensors, of `count`."""

    def __init__(self, function, ctx, inputs, results, places, count):
        self._function, self._ctx = function, ctx
        self._places, self._count = places, count
        self._inputs = [(tuple(x.shape), x.dtype) if x is not None else None for x in inputs]
        self._results = [(y.shape, y.dtype, y.device) for y in results]

    def run(self, node, grads):
        ctx = self._ctx
        if ctx._materialize:
            grads = [
                ops.zeros(shape, dtype=dtype, device=device) if g is None else g
                for g, (shape, dtype, device) in zip(grads, self._results)
            ]
        given = [None] * self._count
        for i, g in zip(self._places, grads):
            given[i] = g
        ctx._node = node
        try:
            found = self._function.backward(ctx, *given)
        finally:
            ctx._node = None
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        while len(found) > len(self._inputs) and found[-1] is None:
            found.pop()
        if len(found) != len(self._inputs):
            raise self._wrong(f"{len(found)} gradients", f"{len(self._inputs)}, one an argument")
        return [self._fitted(g, i) for i, g in enumerate(found)]

    def _fitted(self, grad, i):
        if grad is None or self._inputs[i] is None:
            return None
        if not isinstance(grad, Tensor):
            raise self._wrong(f"a {type(grad).__name__} for argument {i}", "a tensor or None")
        shape, dtype = self._inputs[i]
        if tuple(grad.shape) != shape:
            grad = self._summed(grad, shape, i)
        return grad if grad.dtype == dtype else grad.to(dtype)

    def _summed(self, grad, shape, i):
        """A gradient of the broadcast argument, added up."""
        lead = grad.ndim - len(shape)
        fits = lead >= 0 and all(n in (1, m) for n, m in zip(shape, grad.shape[lead:]))
        if not fits:
            raise self._wrong(f"{list(grad.shape)} for argument {i}", f"shape {list(shape)}")
        axes = [k for k in range(lead, grad.ndim) if shape[k - lead] == 1 != grad.shape[k]]
        grad = ops.sum(grad, [*range(lead), *axes], True)
        return grad.reshape(shape)

    def _wrong(self, got, expected):
        return _lathe.AutogradError(
            "backward() gives something that is no gradient of the arguments",
            op=self._function.__name__, got=got, expected=expected,
            next="return a gradient, or None, for each argument of forward()",
        )  # fmt: skip

    def forget(self):
        self._ctx._saved = None if self._ctx._saved else self._ctx._saved


class Function:
    """A function with a derivative of its own:

        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, dy):
                (x,) = ctx.saved_tensors
                return 3 * x**2 * dy

        y = Cube.apply(x)

    With setup_context(ctx, inputs, output), forward() takes the arguments alone.
    """

    def __init__(self, *_, **__):
        raise _lathe.TypeError(
            "a Function is not made, it is called", op=type(self).__name__,
            got="a call of the class",
            expected=f"{type(self).__name__}.apply(...)", next="call apply() of the class",
        )  # fmt: skip

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """The result; subclasses define it."""
        raise NotImplementedError("a Function defines forward()")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """What backward() needs of the arguments and the result; beside a forward() without ctx."""
        raise NotImplementedError("setup_context() is not defined")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """From the gradients of the results those of the arguments; subclasses define it."""
        raise NotImplementedError("a Function defines backward()")

    vjp = backward
    generate_vmap_rule = False

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs forward(), and gives its result a place in the history."""
        tensors = [a if isinstance(a, Tensor) else None for a in args]
        wanted = tuple(t is not None and t.requires_grad for t in tensors)
        tracked = _lathe.is_grad_enabled() and (
            any(wanted) or any(t is not None and _lathe._may_have_history(t) for t in tensors)
        )
        ctx = FunctionCtx(cls.__name__, wanted if tracked else (False,) * len(args))
        before = _lathe._set_grad_enabled(False)
        try:
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        finally:
            _lathe._set_grad_enabled(before)
        if not tracked:
            return output
        return _recorded(cls, ctx, tensors, output)


def _recorded(function, ctx, tensors, output):
    several = isinstance(output, (tuple, list))
    items = list(output) if several else [output]
    places = [i for i, y in enumerate(items) if isinstance(y, Tensor)]
    originals = [items[i] for i in places]
    dirty = {id(t) for t in ctx._dirty}
    _check_dirty(function, ctx, originals)
    results = [y if id(y) in dirty else _lathe._apart(y) for y in originals]
    plain = {id(t) for t in ctx._plain}
    numbers = {id(y): k for k, y in enumerate(originals)}
    saved = []
    for t in ctx._to_save:
        kept = None if t is None else _lathe._save_tensor(t)
        if id(t) in numbers and kept is not None:
            kept.is_result(numbers[id(t)])
        saved.append(kept)
    ctx._saved, ctx._to_save, ctx._dirty, ctx._plain = tuple(saved), (), (), ()
    derivative = _Derivative(function, ctx, tensors, results, places, len(items))
    left_out = [id(y) in plain for y in originals]
    _lathe._record_function(f"{function.__name__}Backward", tensors, results, left_out, derivative)
    for i, y in zip(places, results):
        items[i] = y
    if not several:
        return items[0]
    return tuple(items) if type(output) is tuple else type(output)(items)


def _check_dirty(function, ctx, results):
    for t in ctx._dirty:
        if t.requires_grad and t.is_leaf:
            problem, advice = "a leaf that requires grad was written to", "write to a clone() of it"
        elif not any(t is y for y in results):
            problem, advice = "an input that was written to is no result", "return it, too"
        else:
            continue
        raise _lathe.AutogradError(
            problem, op=function.__name__, got=f"mark_dirty() of a tensor of shape {list(t.shape)}",
            expected="inputs with history, given back as results", next=advice,
        )  # fmt: skip


def once_differentiable(function):
    """Decorates a backward() that has no derivative: differentiating it is an AutogradError."""

    def wrapper(ctx, *grads):
        before = _lathe._set_grad_enabled(False)
        try:
            found = function(ctx, *grads)
        finally:
            _lathe._set_grad_enabled(before)
        tracked = [g for g in grads if isinstance(g, Tensor) and g.requires_grad]
        if not before or not tracked:
            return found
        several = isinstance(found, tuple)
        items = [_Once.apply(y, *tracked) for y in (found if several else (found,))]
        return tuple(items) if several else items[0]

    return wrapping(wrapper, function)


class _Once(Function):
    @staticmethod
    def forward(ctx, value, *grads):
        return value

    @staticmethod
    def backward(ctx, *grads):
        raise _lathe.AutogradError(
            "this backward() is marked as one that is not differentiated", op="once_differentiable",
            got="a second derivative", expected="a first one",
            next="leave the mark out, and write backward() with tensor operations",
        )  # fmt: skip
