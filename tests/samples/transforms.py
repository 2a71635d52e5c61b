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

    def __init__(self, sample, function):
        self.args, self.kwargs = samples.arrays(sample, "float64")
        self.function = function
        self.given = []
        self.put(lambda array: self.given.append(lt.tensor(array)))

    def put(self, function):
        args = [samples.convert(a, function) for a in self.args]
        return args, {k: samples.convert(v, function) for k, v in self.kwargs.items()}

    def __call__(self, *tensors):
        left = iter(tensors)
        args, kwargs = self.put(lambda _: next(left))
        found = self.function(*args, **kwargs)
        found = found if isinstance(found, (list, tuple)) else [found]
        return tuple(t for t in found if isinstance(t, lt.Tensor))


def close(a, b):
    a, b = (t.numpy() if isinstance(t, lt.Tensor) else t for t in (a, b))
    return a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, **CLOSE, equal_nan=True)


def reversed_example(flat):
    """The tensors the other way round, where the op takes them so; else as they are."""
    other = [t.flip(0) if t.ndim else t for t in flat.given]
    try:
        flat(*other)
    except Exception:
        return flat.given
    return other


def vmapped(row, sample):
    flat = Flat(sample, getattr(lt.ops, sample.op))
    if not flat.given:
        return None  # nothing to have examples of
    examples = [flat.given, reversed_example(flat)]
    stacked = [lt.stack(pair) for pair in zip(*examples)]
    if row["draws"]:
        drawn = lt.func.vmap(flat, randomness="different")(*stacked)
        return all(t.shape[1:] == e.shape for t, e in zip(drawn, flat(*flat.given)))
    found = lt.func.vmap(flat)(*stacked)
    alone = [flat(*example) for example in examples]
    return all(close(t[i], e) for i in range(2) for t, e in zip(found, alone[i]))


def forward(row, sample):
    flat = Flat(sample, getattr(lt.ops, sample.op))
    rng = np.random.default_rng(5)
    smooth = [i for i, t in enumerate(flat.given) if t.is_floating_point()]
    if not smooth:
        return None

    def of_smooth(*floats):
        lt.manual_seed(3)
        tensors = list(flat.given)
        for i, t in zip(smooth, floats):
            tensors[i] = t
        return tuple(t for t in flat(*tensors) if t.is_floating_point() and t.numel())

    primals = tuple(flat.given[i] for i in smooth)
    tangents = tuple(lt.tensor(rng.standard_normal(p.shape)) for p in primals)
    values, pullback = lt.func.vjp(of_smooth, *primals)
    if not values:
        return None
    again, pushed = lt.func.jvp(of_smooth, primals, tangents)
    u = tuple(lt.tensor(rng.standard_normal(v.shape)).to(v.dtype) for v in values)
    pulled = pullback(u)
    left = sum(float((a * b).sum()) for a, b in zip(u, pushed))
    right = sum(float((a * b).sum()) for a, b in zip(pulled, tangents))
    return all(map(close, values, again)) and bool(
        np.isclose(left, right, rtol=1e-7, atol=1e-8, equal_nan=True)
    )
