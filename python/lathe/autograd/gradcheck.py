"""gradcheck: the tape's derivative against central differences.

For every output element a row of the Jacobian is computed by backward, for every input element a
column by (f(x + eps) - f(x - eps)) / 2 eps; both must agree. A complex element counts as two, its
real and its imaginary part. Float64 inputs, or the differences are noise.
"""

from itertools import product

from .. import _lathe, ops
from .._arguments import default_only
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
        if x.dtype not in (_lathe.float64, _lathe.complex128):
            raise _lathe.DTypeError(
                "differences of narrow floats are noise",
                op="gradcheck",
                got=x.dtype.name,
                expected=f"{_lathe.float64.name} or {_lathe.complex128.name}",
                next="convert with .double() before requires_grad_()",
            )
    return inputs, tracked


def _outputs(function, inputs):
    outputs = _as_tuple(function(*inputs))
    tensors = [y for y in outputs if isinstance(y, Tensor)]
    return [y for y in tensors if y.is_floating_point() or y.is_complex()]


def _parts(x):
    """The tensor over the same memory with an axis more for the parts of complex numbers."""
    return ops.view_as_real(x) if x.is_complex() else x


def _flat(x):
    return _parts(x.detach()).reshape(-1).tolist()


def _numeric(function, inputs, x, eps):
    """One list per output: Jacobian columns, by element of x. x is moved where it is, since the
    function may read it by another name, as a module its parameters."""
    columns = []
    memory = _parts(x.detach())
    try:
        memory.copy_(memory.clone())
    except _lathe.AliasError:  # an expanded tensor, or a conjugate: a copy stands for it
        own = x.detach().clone().requires_grad_()
        inputs = [own if y is x else y for y in inputs]
        memory = _parts(own.detach())
    for place in product(*map(range, memory.shape)):
        before = memory[place].item()
        values = []
        try:
            for moved in (before + eps, before - eps):
                memory[place] = moved
                values.append([_flat(y) for y in _outputs(function, inputs)])
        finally:
            memory[place] = before
        columns.append(
            [[(p - m) / (2 * eps) for p, m in zip(plus, minus)] for plus, minus in zip(*values)]
        )
    return columns


def _seeds(y):
    """For each part of each element of y the gradient that asks for it."""
    for k in range(y.numel()):
        for one in (1, 1j) if y.is_complex() else (1,):
            dy = ops.zeros(y.numel(), dtype=y.dtype)
            dy[k] = one
            yield dy.reshape(y.shape)


def _analytic(function, inputs, tracked):
    """rows[output][element][input]: gradients as flat lists."""
    zeros = [[0.0] * _parts(x.detach()).numel() for x in tracked]
    rows = []
    for y in _outputs(function, inputs):
        rows.append([])
        for dy in _seeds(y):
            if not y.requires_grad:
                rows[-1].append(zeros)
                continue
            found = grad(y, tracked, dy, retain_graph=True, allow_unused=True)
            rows[-1].append([z if g is None else _flat(g) for z, g in zip(zeros, found)])
    return rows


_FORWARD = "compare func.jvp() with the gradient"
_BATCHED = "compare func.vmap() of the gradient with single gradients"


@default_only(
    check_forward_ad=_FORWARD, check_batched_forward_grad=_FORWARD, check_batched_grad=_BATCHED
)
def gradcheck(
    func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
    check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
    check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True,
    fast_mode=False, masked=None,
):  # fmt: skip
    """Whether the gradients of func(*inputs) agree with central differences.

    inputs: tensors and others; those of float64 and complex128 that require grad are checked, and
    moved where they are meanwhile. Every output of a floating or complex dtype counts.
    GradcheckError (or False, with raise_exception=False) names the first element that differs by
    more than atol + rtol * |difference quotient|. The others of PyTorch's arguments change nothing.
    """
    inputs, tracked = _checked_inputs(inputs)
    rows = _analytic(func, inputs, tracked)
    for n, x in enumerate(tracked):
        columns = _numeric(func, inputs, x, eps)
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


@default_only(check_batched_grad=_BATCHED, check_fwd_over_rev=_FORWARD)
def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3,
    gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
    check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
    check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False,
):  # fmt: skip
    """gradcheck of the gradient itself: second derivatives."""
    inputs, tracked = _checked_inputs(inputs)
    if grad_outputs is None:
        outputs = _outputs(func, inputs)
        grad_outputs = [_seed(y) for y in outputs]
    seeds = [g.detach().requires_grad_() for g in _as_tuple(grad_outputs)]

    def first_derivative(*values):
        leaves, dys = values[: len(tracked)], values[len(tracked) :]
        outputs = _outputs(func, inputs)
        pairs = [(y, dy) for y, dy in zip(outputs, dys) if y.requires_grad]
        ys, dys = [y for y, _ in pairs], [dy for _, dy in pairs]
        found = grad(ys, leaves, dys, create_graph=True, allow_unused=True)
        return tuple(ops.zeros_like(x) if g is None else g for x, g in zip(leaves, found))

    return gradcheck(
        first_derivative, (*tracked, *seeds), eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception,
    )  # fmt: skip


def _seed(y):
    """Some gradient of y's shape that is neither constant nor zero."""
    at = ops.arange(0, y.numel()).to(_lathe.float64)
    seed = ops.complex(ops.cos(at), ops.sin(at)) if y.is_complex() else ops.cos(at)
    return seed.reshape(y.shape)
