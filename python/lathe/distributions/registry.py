"""biject_to and transform_to: from all numbers to those that a constraint allows.

biject_to(constraint) gives a transform that has an inverse and a Jacobian; transform_to(constraint)
one that may have neither, and is the better behaved for optimization.
"""

from .. import _lathe
from . import constraints, transforms
from .constraints import Constraint


def _kind(constraint):
    """What a constraint is called in `constraints`; of a function there the kind that it makes."""
    kind = constraint.kind if isinstance(constraint, Constraint) else constraint.__name__
    return id(constraint) if kind is None else kind


class ConstraintRegistry:
    """Transforms by kinds of constraints."""

    def __init__(self):
        self._factories = {}

    def register(self, constraint, factory=None):
        """factory(constraint) gives the transform for constraints of this kind: one of
        `constraints`, a function there that makes such, or a Constraint of your own. Decorates the
        factory if none is given."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        self._factories[_kind(constraint)] = factory
        return factory

    def __call__(self, constraint):
        """The transform for this constraint."""
        factory = self._factories.get(_kind(constraint))
        if factory is None:
            raise _lathe.UnsupportedError(
                "there is no transform for this constraint", op="ConstraintRegistry",
                got=repr(constraint), expected="one that a transform was registered for",
                next="register() one",
            )  # fmt: skip
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _both(*kinds):
    def decorate(factory):
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return decorate


@_both(constraints.real)
def _real(constraint):
    return transforms.identity_transform


@_both(constraints.positive, constraints.nonnegative)
def _positive(constraint):
    return transforms.ExpTransform()


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint):
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.less_than)
def _under(constraint):
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.interval, constraints.half_open_interval)
def _interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if not any(isinstance(b, _lathe.Tensor) for b in (low, high)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    parts = [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    return transforms.ComposeTransform(parts)


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint):
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
for _matrix in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_matrix, lambda _: transforms.PositiveDefiniteTransform())


def _of_parts(registry):
    """For constraints that are made of others."""

    @registry.register(constraints.independent)
    def _independent(constraint):
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def _cat(constraint):
        parts = [registry(c) for c in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def _stack(constraint):
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


for _registry in (biject_to, transform_to):
    _of_parts(_registry)
