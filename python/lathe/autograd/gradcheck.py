"""gradcheck: the tape's derivative against central differences.

For every output element a row of the Jacobian is computed by backward, for every input element a
column by (f(x + eps) - f(x - eps)) / 2 eps; both must agree. Float64 inputs, or the differences are
noise.
"""

from .. import _lathe, ops
from .._lathe import Tensor, grad


class GradcheckError(_lathe.AutogradError, AssertionError):
    """A derivative differs from the differences."""


def _as_tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _checked_inputs(inputs):
    inputs = _as_tuple(inputs)
    tracked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not tracked:
        raise _lathe.ValueError("no input requires grad", op="gradcheck")
    for x in tracked:
        if x.dtype != _lathe.float64:
            raise _lathe.DTypeError(
                "differences of narrow floats are noise",
                op="gradcheck",
                got=x.dtype.name,
                expected=_lathe.float64.name,
                next="convert with .double() before requires_grad_()",
            )
    return inputs, tracked


def _outputs(function, inputs):
    outputs = _as_tuple(function(*inputs))
    return [y for y in outputs if isinstance(y, Tensor) and y.dtype.is_floating_point]


def _numeric(function, inputs, x, eps):
    """One list per output: Jacobian columns, by element of x."""
    columns = []
    flat = x.detach().reshape(-1)
    for i in range(x.numel()):
        values = []
        for sign in (1, -1):
            moved = flat.clone()
            moved[i] = moved[i] + sign * eps
            replaced = [moved.reshape(x.shape) if y is x else y for y in inputs]
            values.append([y.detach() for y in _outputs(function, replaced)])
        plus, minus = values
        columns.append([((p - m) / (2 * eps)).reshape(-1).tolist() for p, m in zip(plus, minus)])
    return columns


def _analytic(function, inputs, tracked):
    """rows[output][element][input]: gradients as flat lists."""
    outputs = _outputs(function, inputs)
    rows = []
    for y in outputs:
        rows.append([])
        for k in range(y.numel()):
            if not y.requires_grad:
                rows[-1].append([[0.0] * x.numel() for x in tracked])
                continue
            dy = ops.zeros(y.numel(), dtype=y.dtype)
            dy[k] = 1
            found = grad(y, tracked, dy.reshape(y.shape), retain_graph=True, allow_unused=True)
            rows[-1].append(
                [
                    [0.0] * x.numel() if g is None else g.reshape(-1).tolist()
                    for x, g in zip(tracked, found)
                ]
            )
    return rows


def gradcheck(function, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Whether the gradients of function(*inputs) agree with central differences.

    inputs: tensors and others; those float64 tensors that require grad are checked. Every output of
    a floating dtype counts. GradcheckError (or False, with raise_exception=False) names the first
    element that differs by more than atol + rtol * |difference quotient|.
    """
    inputs, tracked = _checked_inputs(inputs)
    rows = _analytic(function, inputs, tracked)
    for n, x in enumerate(tracked):
        columns = _numeric(function, inputs, x, eps)
        for j, per_output in enumerate(columns):
            for o, column in enumerate(per_output):
                for k, expected in enumerate(column):
                    got = rows[o][k][n][j]
                    if abs(got - expected) <= atol + rtol * abs(expected) or got == expected:
                        continue
                    if not raise_exception:
                        return False
                    raise GradcheckError(
                        f"gradcheck: d output{o}[{k}] / d input{n}[{j}] is {got}, by differences "
                        f"{expected}"
                    )
    return True


def gradgradcheck(function, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3):
    """gradcheck of the gradient itself: second derivatives."""
    inputs, tracked = _checked_inputs(inputs)
    if grad_outputs is None:
        outputs = _outputs(function, inputs)
        grad_outputs = [_seed(y) for y in outputs]
    seeds = [g.detach().requires_grad_() for g in _as_tuple(grad_outputs)]
    positions = [i for i, x in enumerate(inputs) if any(x is t for t in tracked)]

    def first_derivative(*values):
        # Where differences are taken, an input is plain; its gradient is asked for all the same.
        leaves = [v if v.requires_grad else v.detach().requires_grad_() for v in values]
        leaves, dys = leaves[: len(tracked)], leaves[len(tracked) :]
        arguments = list(inputs)
        for place, leaf in zip(positions, leaves):
            arguments[place] = leaf
        outputs = _outputs(function, arguments)
        pairs = [(y, dy) for y, dy in zip(outputs, dys) if y.requires_grad]
        ys, dys = [y for y, _ in pairs], [dy for _, dy in pairs]
        found = grad(ys, leaves, dys, create_graph=True, allow_unused=True)
        return tuple(ops.zeros_like(x) if g is None else g for x, g in zip(leaves, found))

    return gradcheck(first_derivative, (*tracked, *seeds), eps=eps, atol=atol, rtol=rtol)


def _seed(y):
    """Some gradient of y's shape that is neither constant nor zero."""
    return ops.cos(ops.arange(0, y.numel()).to(_lathe.float64)).reshape(y.shape)
