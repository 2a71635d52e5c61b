"""What parameters and values may be: check(value) is true, element by element, where they are."""

from .. import ops
from .._dtypes import finfo


class Constraint:
    """A set of values. event_dim: how many last axes make one value.

    The text may be a function that gives it: that of tensors is made where it is shown only.
    """

    is_discrete = False
    event_dim = 0

    kind = None  # its name in this module, or that of the function that made it

    def __init__(self, text, check, is_discrete=False, event_dim=0, **parts):
        self._text, self._check = text, check
        self.is_discrete, self.event_dim = is_discrete, event_dim
        vars(self).update(parts)

    def check(self, value):
        return self._check(value)

    def __repr__(self):
        return self._text if isinstance(self._text, str) else self._text()


def _whole(value):
    return ops.eq(value - ops.floor(value), 0)  # false of infinity


def _all(holds):
    return ops.all(holds, -1)


real = Constraint("no NaN", lambda v: ops.eq(v, v))
positive = Constraint("> 0", lambda v: v > 0)
nonnegative = Constraint(">= 0", lambda v: v >= 0)
boolean = Constraint("0 or 1", lambda v: ops.eq(v, 0) | ops.eq(v, 1), True)
nonnegative_integer = Constraint("0, 1, 2, ...", lambda v: (v >= 0) & _whole(v), True)
positive_integer = Constraint("1, 2, 3, ...", lambda v: (v >= 1) & _whole(v), True)
simplex = Constraint(
    "0 or more, and 1 in all",
    lambda v: _all(v >= 0) & (ops.abs(ops.sum(v, [-1]) - 1) < 1e-6), event_dim=1,
)  # fmt: skip
one_hot = Constraint(
    "one 1 among 0s",
    lambda v: _all(ops.eq(v, 0) | ops.eq(v, 1)) & ops.eq(ops.sum(v, [-1]), 1), True, 1,
)  # fmt: skip
lower_triangular = Constraint(
    "lower triangular", lambda v: _all(_all(ops.eq(ops.tril(v), v))), event_dim=2
)
lower_cholesky = Constraint(
    "lower triangular with a positive diagonal",
    lambda v: _all(_all(ops.eq(ops.tril(v), v))) & _all(_diagonal(v) > 0), event_dim=2,
)  # fmt: skip


def _diagonal(v):
    n = int(v.shape[-1])
    eye = ops.eye(n, dtype=v.dtype, device=v.device)
    return ops.sum(ops.where(ops.eq(eye, 1), v, ops.zeros_like(v)), [-1])


def _same(a, b, within):
    return _all(_all(ops.abs(a - b) <= within))


def _is_symmetric(v):
    return _same(v, ops.transpose(v, -1, -2), 1e-6)


def _is_definite(v):
    from .. import linalg

    return _is_symmetric(v) & ops.eq(linalg.cholesky_ex(v)[1], 0)


def _rows_have_length_one(v):
    tolerance = finfo(v.dtype).eps * int(v.shape[-1]) * 10
    return _all(ops.abs(ops.sqrt(ops.sum(ops.square(v), [-1])) - 1) <= tolerance)


symmetric = Constraint("a symmetric matrix", _is_symmetric, event_dim=2)
positive_definite = Constraint(
    "a symmetric matrix of positive eigenvalues", _is_definite, event_dim=2
)
corr_cholesky = Constraint(
    "lower triangular with a positive diagonal, and rows of length 1",
    lambda v: lower_cholesky.check(v) & _rows_have_length_one(v), event_dim=2,
)  # fmt: skip


def _is_semidefinite(v):
    from .. import linalg

    return _is_symmetric(v) & _all(linalg.eigvalsh(v) >= 0)


positive_semidefinite = Constraint(
    "a symmetric matrix without negative eigenvalues", _is_semidefinite, event_dim=2
)

for _name, _constraint in tuple(globals().items()):
    if isinstance(_constraint, Constraint):
        _constraint.kind = _name


def _bounds(kind, low, high):
    return {"kind": kind, "lower_bound": low, "upper_bound": high}


def interval(low, high):
    return Constraint(
        lambda: f"in [{low}, {high}]", lambda v: (v >= low) & (v <= high),
        **_bounds("interval", low, high),
    )  # fmt: skip


def half_open_interval(low, high):
    return Constraint(
        lambda: f"in [{low}, {high})", lambda v: (v >= low) & (v < high),
        **_bounds("half_open_interval", low, high),
    )  # fmt: skip


def integer_interval(low, high):
    def text():
        return f"a whole number in [{low}, {high}]"

    return Constraint(
        text, lambda v: (v >= low) & (v <= high) & _whole(v), True,
        **_bounds("integer_interval", low, high),
    )  # fmt: skip


def greater_than(low):
    return Constraint(lambda: f"> {low}", lambda v: v > low, kind="greater_than", lower_bound=low)


def greater_than_eq(low):
    return Constraint(
        lambda: f">= {low}", lambda v: v >= low, kind="greater_than_eq", lower_bound=low
    )


def less_than(high):
    return Constraint(lambda: f"< {high}", lambda v: v < high, kind="less_than", upper_bound=high)


def multinomial(upper_bound):
    """Counts that are so many in all, along the last axis."""

    def check(value):
        return _all(value >= 0) & ops.eq(ops.sum(value, [-1]), upper_bound)

    return Constraint(
        lambda: f"0, 1, 2, ..., and {upper_bound} in all", check, True, 1,
        kind=multinomial.__name__, upper_bound=upper_bound,
    )  # fmt: skip


def independent(base, count):
    """base for each of the last `count` axes together."""

    def check(value):
        holds = base.check(value)
        for _ in range(count):
            holds = _all(holds)
        return holds

    return Constraint(
        lambda: repr(base), check, base.is_discrete, base.event_dim + count, kind="independent",
        base_constraint=base, reinterpreted_batch_ndims=count,
    )  # fmt: skip


def _joined(kind, cseq, dim, lengths, check):
    cseq = list(cseq)
    return Constraint(
        lambda: f"{', '.join(map(repr, cseq))} along axis {dim}", check,
        any(c.is_discrete for c in cseq), max(c.event_dim for c in cseq), kind=kind, cseq=cseq,
        dim=dim, lengths=lengths,
    )  # fmt: skip


def cat(cseq, dim=0, lengths=None):
    """One for each of the slices of these lengths (1 each) along an axis."""
    lengths = [1] * len(cseq) if lengths is None else list(lengths)

    def check(value):
        parts = ops.split(value, lengths, dim)
        return ops.cat([c.check(part) for c, part in zip(cseq, parts)], dim)

    return _joined(cat.__name__, cseq, dim, lengths, check)


def stack(cseq, dim=0):
    """One for each of the values along an axis."""

    def check(value):
        parts = ops.unbind(value, dim)
        return ops.stack([c.check(part) for c, part in zip(cseq, parts)], dim)

    return _joined(stack.__name__, cseq, dim, None, check)


unit_interval = interval(0, 1)
real_vector = independent(real, 1)
