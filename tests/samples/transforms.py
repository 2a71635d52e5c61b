"""A sample under vmap and under jvp, for coverage.py.

vmap: two examples, the sample and its reverse along the first axis, against each alone. jvp: the
directional derivative against the reverse one, <u, J v> = <J^T u, v> for drawn u and v. Both in
f64, where a sum in another order is 1e-10 away at most.
"""

import numpy as np
import samples

import lathe as lt

CLOSE = {"rtol": 1e-9, "atol": 1e-10}


class Flat:
    """A sample as a function of its tensors alone."""

    def __init__(self, row, sample, dtype):
        self.args, self.kwargs = samples.arrays(sample, dtype)
        self.function = getattr(lt.ops, sample.op)
        self.given = []
        narrow = None if "float64" in row["dtypes"] or not row["dtypes"] else row["dtypes"][0]

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


def flat_of(row, sample):
    """In f64, or in f32 if the sample names the size of an element."""
    flat = Flat(row, sample, "float64")
    try:
        flat(*(t.clone() for t in flat.given))
    except lt.ShapeError:
        return Flat(row, sample, "float32")
    return flat


def close(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = ((t.double() if t.is_floating_point() else t).numpy() for t in (a, b))
    return np.allclose(a, b, **CLOSE, equal_nan=True)


def reversed_example(flat):
    """The tensors the other way round, where the op takes them so; else as they are."""
    other = [t.flip(0) if t.ndim else t for t in flat.given]
    try:
        flat(*other)
    except Exception:
        return flat.given
    return other


def vmapped(row, sample):
    flat = flat_of(row, sample)
    if not flat.given:
        return None  # nothing to have examples of
    examples = [flat.given, reversed_example(flat)]
    stacked = [lt.stack(pair) for pair in zip(*examples)]
    before = lt.get_rng_state()
    alone = [flat(*example) for example in examples]
    if not lt.equal(before, lt.get_rng_state()):
        drawn = lt.func.vmap(flat, randomness="different")(*stacked)
        return all(t.shape[1:] == e.shape and t.dtype == e.dtype for t, e in zip(drawn, alone[0]))
    try:
        found = lt.func.vmap(flat)(*stacked)
    except lt.UnsupportedError as e:
        if "a tensor stands for all examples, whose data differ" in str(e):
            return None  # the data decide the shape of the result
        raise
    return all(close(t[i], e) for i in range(2) for t, e in zip(found, alone[i]))


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
    flat = flat_of(row, sample)
    rng = np.random.default_rng(5)
    floats = [i for i, t in enumerate(flat.given) if t.is_floating_point()]
    smooth = [i for i in floats if has_derivative(flat, i)]
    if not smooth:
        return None
    of_smooth = of_some(flat, smooth)
    primals = tuple(flat.given[i] for i in smooth)
    tangents = tuple(lt.tensor(rng.standard_normal(p.shape)).to(p.dtype) for p in primals)
    values, pullback = lt.func.vjp(of_smooth, *primals)
    if not values:
        return None
    again, pushed = lt.func.jvp(of_smooth, primals, tangents)
    u = tuple(lt.tensor(rng.standard_normal(v.shape)).to(v.dtype) for v in values)
    pulled = pullback(u)
    pulled = pulled if isinstance(pulled, tuple) else (pulled,)
    left = sum(float((a * b).sum()) for a, b in zip(u, pushed))
    right = sum(float((a * b).sum()) for a, b in zip(pulled, tangents))
    return all(map(close, values, again)) and bool(
        np.isclose(left, right, rtol=1e-7, atol=1e-8, equal_nan=True)
    )
