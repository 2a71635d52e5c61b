"""Jacobians and products with them and with Hessians, of functions of tensors. All by reverse
mode."""

from .. import _lathe, ops
from .._errors import typed
from .._grad_mode import enable_grad
from .._lathe import Tensor, grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(values):
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _one_or_all(values, several):
    return tuple(values) if several else values[0]


def _refuse(name, problem, got, expected, advice):
    raise _lathe.ValueError(problem, op=name, got=got, expected=expected, next=advice)


def _inputs(name, inputs, create_graph):
    """The inputs with a history of their own, which goes on to theirs if it should."""
    found = []
    for x in _tuple(inputs):
        if not isinstance(x, Tensor):
            _refuse(name, "an input is no tensor", type(x).__name__, "tensors",
                    "close over other arguments: lambda x: f(x, k)")  # fmt: skip
        follows = create_graph and x.requires_grad
        found.append(x.view(x.shape) if follows else x.detach().requires_grad_())
    return found


def _outputs(name, outputs, strict):
    for y in _tuple(outputs):
        if not isinstance(y, Tensor):
            _refuse(name, "a result is no tensor", type(y).__name__, "tensors",
                    "return tensors alone")  # fmt: skip
        if strict and not y.requires_grad:
            _refuse(name, "a result does not depend on the inputs", list(y.shape),
                    "results of the inputs", "pass strict=False for zeros")  # fmt: skip
    return _tuple(outputs)


def _gradients(name, outputs, inputs, seeds, create_graph, strict, keep=True):
    """Those of outputs * seeds by inputs, zeros where there is no way."""
    pairs = [(y, s) for y, s in zip(outputs, seeds) if y.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        ys, ss = zip(*pairs)
        found = grad(ys, inputs, ss, keep, create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        _refuse(name, "a result does not depend on an input", f"input {list(found).index(None)}",
                "results of all inputs", "pass strict=False for zeros")  # fmt: skip
    return [ops.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def _given(name, values, like):
    """The vector of a product: as many tensors as it is multiplied by, of their shapes."""
    if values is None:
        if len(like) != 1 or like[0].numel() != 1:
            _refuse(name, "the vector is not given", "None", "a tensor for each",
                    "it may be left out for one element")  # fmt: skip
        return [ops.ones_like(like[0])]
    values = _tuple(values)
    shapes = [list(v.shape) for v in values], [list(y.shape) for y in like]
    if shapes[0] != shapes[1]:
        _refuse(name, "the vector has other shapes", shapes[0], shapes[1], "check what it is of")
    return list(values)


def _plain(values, create_graph):
    return values if create_graph else [v.detach() for v in values]


@typed
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), v times its Jacobian)."""
    with enable_grad():
        xs = _inputs("vjp", inputs, create_graph)
        output = func(*xs)
        ys = _outputs("vjp", output, strict)
        found = _gradients("vjp", ys, xs, _given("vjp", v, ys), create_graph, strict)
    ys = _plain(ys, create_graph)
    several = isinstance(inputs, (tuple, list))
    return _one_or_all(ys, isinstance(output, (tuple, list))), _one_or_all(found, several)


@typed
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), its Jacobian times v), by the gradient of the gradient."""
    with enable_grad():
        xs = _inputs("jvp", inputs, create_graph)
        output = func(*xs)
        ys = _outputs("jvp", output, strict)
        seeds = [ops.zeros_like(y).requires_grad_() for y in ys]
        back = _gradients("jvp", ys, xs, seeds, True, strict)
        found = _gradients("jvp", back, seeds, _given("jvp", v, xs), create_graph, strict)
    ys = _plain(ys, create_graph)
    several = isinstance(output, (tuple, list))
    return _one_or_all(ys, several), _one_or_all(found, several)


@typed
def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """The derivatives of each element of func(inputs) by each of inputs: [*output, *input], for one
    output and input; else in tuples, outputs outside. vectorize and strategy change nothing."""
    with enable_grad():
        xs = _inputs("jacobian", inputs, create_graph)
        output = func(*xs)
        ys = _outputs("jacobian", output, strict)
        rows = [_rows(y, xs, create_graph, strict) for y in ys]
    several = isinstance(inputs, (tuple, list)), isinstance(output, (tuple, list))
    return _one_or_all([_one_or_all(r, several[0]) for r in rows], several[1])


def _rows(y, xs, create_graph, strict):
    """For each input the derivatives of all elements of y."""
    flat, rows = y.reshape(-1), []
    for i in range(y.numel()):
        seed = [ops.ones((), dtype=y.dtype, device=y.device)]
        rows.append(_gradients("jacobian", [flat[i]], xs, seed, create_graph, strict))
    columns = zip(*rows) if rows else [[ops.zeros((0, *x.shape))] for x in xs]
    return [ops.stack(list(column)).reshape((*y.shape, *x.shape)) for column, x in zip(columns, xs)]


def _scalar(name, output):
    if isinstance(output, (tuple, list)) or output.numel() != 1:
        _refuse(name, "the result is not one element", type(output).__name__, "one element",
                "sum() it")  # fmt: skip
    return output


@typed
def hessian(
    func, inputs, create_graph=False, strict=False, vectorize=False,
    outer_jacobian_strategy="reverse-mode",
):  # fmt: skip
    """The second derivatives of func(inputs), one element, by each two of inputs."""
    several = isinstance(inputs, (tuple, list))

    def gradient(*xs):
        y = _scalar("hessian", func(*xs)).reshape([])
        seed = [ops.ones_like(y)]
        return tuple(_gradients("hessian", [y], list(xs), seed, True, strict))

    found = jacobian(gradient, _tuple(inputs), create_graph, strict)
    return found if several else found[0][0]


@typed
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), v times its Hessian)."""
    return _with_hessian("vhp", func, inputs, v, create_graph, strict)


@typed
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), its Hessian times v); the Hessian is symmetric, so as vhp."""
    return _with_hessian("hvp", func, inputs, v, create_graph, strict)


def _with_hessian(name, func, inputs, v, create_graph, strict):
    with enable_grad():
        xs = _inputs(name, inputs, create_graph)
        y = _scalar(name, func(*xs))
        first = _gradients(name, [y], xs, [ops.ones_like(y)], True, strict)
        found = _gradients(name, first, xs, _given(name, v, xs), create_graph, strict)
    several = isinstance(inputs, (tuple, list))
    return _plain([y], create_graph)[0], _one_or_all(_plain(found, create_graph), several)
