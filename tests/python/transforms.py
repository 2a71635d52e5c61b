"""A sample under vmap and under jvp: what the tests and the coverage table of samples try.

Each returns None where the definition has no such form, False or an AssertionError where it is
wrong.
"""

from dataclasses import replace

import numpy as np
import samples

import lathe as lt

EXACT = ("elementwise", "view", "index", "sort", "reduce", "scan")
TOLERANCE = 1e-10  # of others, whose sums may be made by another kernel, in f64


class Flat:
    """A sample as a function of its tensors alone, which stand in `given`."""

    def __init__(self, row, sample):
        self.args, self.kwargs = samples.arrays(sample, "float64")
        self.function = getattr(lt.ops, sample.op)
        self.given = []
        # A definition of other dtypes takes its first.
        narrow = row["dtypes"][0] if row["dtypes"] and "float64" not in row["dtypes"] else None

        def give(array):
            made = lt.tensor(array)
            cast = narrow is not None and made.is_floating_point()
            self.given.append(made.to(getattr(lt, narrow)) if cast else made)

        self.put(give)

    def put(self, function):
        args = [samples.convert(a, function) for a in self.args]
        return args, {k: samples.convert(v, function) for k, v in self.kwargs.items()}

    def __call__(self, *tensors):
        left = iter(tensors)
        args, kwargs = self.put(lambda _: next(left))
        found = self.function(*args, **kwargs)
        found = found if isinstance(found, (list, tuple)) else [found]
        return tuple(t for t in found if isinstance(t, lt.Tensor))


# What has as many elements as its operands' elements say: of each example another number.
SIZED_BY_DATA = {
    "argwhere", "bincount", "masked_select", "nonzero", "sized_by", "unique",
    "unique_consecutive", "where.positions",
}  # fmt: skip


def wide(t):
    return (t.double() if t.is_floating_point() else t).numpy()


def vmapped(row, sample):
    """A pair of examples at once is each of them alone: the sample, drawn twice.

    Moves and elementwise functions give equal bytes. Of what draws, only the types.
    """
    flat = Flat(row, sample)
    if not flat.given or row["reads"] or sample.op in SIZED_BY_DATA:
        return None  # nothing to have examples of; or the data decide the size of the result
    other = Flat(row, replace(sample, number=-sample.number))
    pairs = [flat.given, other.given]
    stacked = [lt.stack(pair) for pair in zip(*pairs)]
    before = lt.get_rng_state()
    alone = [flat(*given) for given in pairs]
    draws = not lt.equal(before, lt.get_rng_state())
    found = lt.func.vmap(flat, randomness="different" if draws else "error")(*stacked)
    for k, result in enumerate(found):
        for i in range(2):
            want = alone[i][k]
            assert (result.dtype, result.shape[1:]) == (want.dtype, want.shape)
            if row["kind"] in EXACT:
                np.testing.assert_array_equal(wide(result[i]), wide(want))
            elif not draws:
                np.testing.assert_allclose(wide(result[i]), wide(want), TOLERANCE, TOLERANCE)
    return True


def of_some(flat, places):
    """The floats that it gives, as a function of the tensors at those places."""

    def function(*floats):
        lt.manual_seed(3)
        tensors = list(flat.given)
        for i, t in zip(places, floats):
            tensors[i] = t.clone()  # ops in place are not for leaves
        return tuple(t for t in flat(*tensors) if t.is_floating_point() and t.numel())

    return function


def has_derivative(flat, i):
    values, pullback = lt.func.vjp(of_some(flat, [i]), flat.given[i])
    try:
        pullback(tuple(map(lt.ones_like, values)))
    except lt.UnsupportedError as e:
        if "there is no derivative with respect to" in str(e):
            return False  # nor has PyTorch's
        raise
    return True


def forward(row, sample):
    """jvp against the reverse derivative, <u, J v> = <J^T u, v> for drawn u and v."""
    flat = Flat(row, sample)
    rng = np.random.default_rng(5)
    floats = [i for i, t in enumerate(flat.given) if t.is_floating_point()]
    smooth = [i for i in floats if has_derivative(flat, i)]
    if not smooth or row["no_grad"]:
        return None
    of_smooth = of_some(flat, smooth)
    primals = tuple(flat.given[i] for i in smooth)
    tangents = tuple(lt.tensor(rng.standard_normal(p.shape)).to(p.dtype) for p in primals)
    values, pullback = lt.func.vjp(of_smooth, *primals)
    if not values:
        return None
    again, pushed = lt.func.jvp(of_smooth, primals, tangents)
    for a, b in zip(values, again):
        a, b = (t.float() if t.dtype == lt.bfloat16 else t for t in (a, b))
        np.testing.assert_allclose(a.numpy(), b.numpy(), TOLERANCE, TOLERANCE)
    u = tuple(lt.tensor(rng.standard_normal(v.shape)).to(v.dtype) for v in values)
    pulled = pullback(u)
    pulled = pulled if isinstance(pulled, tuple) else (pulled,)
    left = sum(float((a * b).sum()) for a, b in zip(u, pushed))
    right = sum(float((a * b).sum()) for a, b in zip(pulled, tangents))
    np.testing.assert_allclose(left, right, 1e-7, 1e-8)
    return True
