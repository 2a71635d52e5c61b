"""vmap of every definition: a pair of examples at once is each of them alone.

Every sample is drawn twice; the tensors of both draws are stacked. Moves and elementwise functions
give equal bytes; of others, whose sums may be made by another kernel, the difference is within
TOLERANCE, in f64.
"""

from dataclasses import replace

import numpy as np
import pytest
from samples import SAMPLES, arrays

import lathe as lt
from lathe.func import vmap

ROWS = {r["name"]: r for r in lt._lathe._definitions()}
EXACT = ("elementwise", "view", "index", "sort", "reduce", "scan")
TOLERANCE = 1e-10

# The sample has values of f16, or of complex64.
NARROW = {"nextafter_f16", "nextafter_bf16", "view_as_real_put", "view_as_complex_put"}

# What a vmap refuses, or a pair of draws cannot show: name: why.
EXCEPTIONS = dict.fromkeys(
    [
        "rrelu",
        "gumbel_softmax",
        "dropout",
        "dropout.train",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "alpha_dropout",
        "alpha_dropout.train",
        "feature_alpha_dropout",
        "feature_alpha_dropout.train",
        "feature_dropout",
        "rand_like",
        "randint_like",
        "randint_like.low",
        "randn_like",
    ],
    "draws random numbers: test_vmap.py",
)
EXCEPTIONS |= dict.fromkeys(
    ["repeat_interleave.each", "repeat_interleave.places"],
    "the size of its result depends on data",
)


def _known(sample):
    row = ROWS[sample.op]
    if row["draws"]:
        return "draws random numbers: test_vmap.py"
    if row["reads"]:
        return "the size of its result depends on data"
    args, kwargs = arrays(sample, "float64")
    if not any(_is_array(v) or _is_arrays(v) for v in (*args, *kwargs.values())):
        return "makes tensors of numbers alone: nothing to map over"
    return EXCEPTIONS.get(sample.op)


def _is_array(value):
    return isinstance(value, np.ndarray)


def _is_arrays(value):
    return isinstance(value, list) and bool(value) and _is_array(value[0])


MAPPED = [s for s in SAMPLES if _known(s) is None]


def _draws(sample):
    """Two draws of the arguments, in f64 unless the definition has no such."""
    wide = set(ROWS[sample.op]["dtypes"]) & {"float64"} and sample.op not in NARROW
    dtype = "float64" if wide else "float32"
    other = replace(sample, number=-sample.number)
    return arrays(sample, dtype), arrays(other, dtype)


def _flat(value):
    items = value if isinstance(value, (tuple, list)) else [value]
    return [i for v in items for i in (_flat(v) if isinstance(v, (tuple, list)) else [v])]


def _run(sample, args, kwargs):
    return getattr(lt.ops, sample.op)(*args, **kwargs)


def _pairs(first, second):
    """The mapped tensors of both draws, stacked, and where each argument takes them from."""
    mapped, places = [], []
    for a, b in zip(first, second):
        if _is_array(a):
            places.append(len(mapped))
            mapped.append((a, b))
        elif _is_arrays(a):
            places.append(list(range(len(mapped), len(mapped) + len(a))))
            mapped += zip(a, b)
        else:
            places.append(None)
    return mapped, places


def _filled(values, places, tensors):
    return [
        v if p is None else [tensors[i] for i in p] if isinstance(p, list) else tensors[p]
        for v, p in zip(values, places)
    ]


@pytest.mark.parametrize("sample", MAPPED, ids=str)
def test_a_pair_is_each_alone(sample):
    (args, kwargs), (others, other_kwargs) = _draws(sample)
    names = list(kwargs)
    values = [*args, *kwargs.values()]
    mapped, places = _pairs(values, [*others, *(other_kwargs[n] for n in names)])

    def of(*tensors):
        given = _filled(values, places, tensors)
        found = _run(sample, given[: len(args)], dict(zip(names, given[len(args) :])))
        return tuple(t for t in _flat(found) if isinstance(t, lt.Tensor))

    alone = [of(*(lt.tensor(pair[i]) for pair in mapped)) for i in range(2)]
    together = vmap(of)(*(lt.tensor(np.stack(pair)) for pair in mapped))
    for k, result in enumerate(together):
        for i in range(2):
            want = alone[i][k]
            assert (result.dtype, result.shape[1:]) == (want.dtype, want.shape)
            got, want = result[i].numpy(), want.numpy()
            if ROWS[sample.op]["kind"] in EXACT:
                np.testing.assert_array_equal(got, want)
            else:
                np.testing.assert_allclose(got, want, TOLERANCE, TOLERANCE)


def test_exceptions_are_needed():
    names = {s.op for s in SAMPLES}
    assert not set(EXCEPTIONS) - names
