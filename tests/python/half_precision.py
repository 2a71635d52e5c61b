"""How far composites are from the real numbers in f16 and bf16: every sample of every composite,
forward and gradient, against the same in f64 on the same (rounded) operands, with all of them in
the half type, and with the first or the others left in f32, at three magnitudes: as they are, so
large that their squares overflow f16, and so small that they vanish in it. In units in the last
place of the dtype: a result rounded once is at 0.5 or just above.

    ./dev python tests/python/half_precision.py      prints the table

`measure(sample)` gives the worst by dtype, as {"float16": (forward, gradient), ...}.
"""

import itertools
import sys

import numpy as np
from samples import SAMPLES, arrays, convert

import lathe as lt

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
BOUND = 2  # ulp
MAGNITUDES = (1, 300, 1e-3)
# Bits of the significand, least exponent of a normal number, what rounds to infinity.
FORMATS = {"float16": (11, -14, 65520), "bfloat16": (8, -126, 3.3961775e38)}
LARGEST = {getattr(lt, name): overflow for name, (_, _, overflow) in FORMATS.items()}
LARGEST |= {lt.float32: 3.4028235677973366e38, lt.float64: np.inf}
# There is nothing to compare.
LEFT_OUT = {
    **dict.fromkeys(("empty", "empty_like"), "elements are arbitrary"),
    **dict.fromkeys(("quantile", "nanquantile"), "not defined for halves, as in PyTorch"),
    **{op: "draws where it pools" for op in ROWS if op.startswith("fractional_max_pool")},
    **dict.fromkeys(
        ("fft_rfft", "fft_rfft2", "fft_rfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "fft_fft"),
        "results are complex",
    ),
    **dict.fromkeys(("stft", "polar"), "results are complex"),
    "fill_diagonal_": "writes its operand",
}
OF_PROBABILITIES = {"bernoulli", "binary_cross_entropy"}  # operands above 1 are an error


def composites():
    """All but samplers, which draw what they draw for the dtype's own numbers."""
    rows = ((name, row) for name, row in ROWS.items() if not row["draws"])
    return sorted(name for name, row in rows if row["kind"] == "composite")


def flat(value):
    return [v for x in value for v in flat(x)] if isinstance(value, list | tuple) else [value]


def floating(tensors):
    return [t for t in tensors if isinstance(t, lt.Tensor) and t.dtype.is_floating_point]


def run(sample, dtype, magnitude, stored, mixed=lambda nth: False):
    """(results, gradients), each as (float64 array, dtype it came in) pairs, computed in dtype, or
    in float32 where `mixed` says so of the nth floating operand, on operands that `stored` holds.
    """
    nth = itertools.count()
    if sample.op in OF_PROBABILITIES:
        magnitude = min(magnitude, 1.0)

    def operand(array):
        if array.dtype != np.float64:
            return lt.tensor(array)
        own = lt.float32 if mixed(next(nth)) else dtype
        return (lt.tensor(array) * magnitude).to(stored).to(own).requires_grad_()

    lt.manual_seed(3)  # random ops draw the same for every dtype
    args, kwargs = arrays(sample, "float64")
    args = [convert(a, operand) for a in args]
    kwargs = {name: convert(a, operand) for name, a in kwargs.items()}
    results = floating(flat(getattr(lt.ops, sample.op)(*args, **kwargs)))
    inputs = [t for t in floating(flat([args, list(kwargs.values())])) if t.requires_grad]
    tracked = [t for t in results if t.requires_grad]
    given = np.random.default_rng(1)
    cotangents = [
        lt.tensor(given.standard_normal(tuple(t.shape))).to(stored).to(t.dtype) for t in tracked
    ]
    gradients = ()
    if tracked:
        gradients = lt.autograd.grad(tracked, inputs, grad_outputs=cotangents, allow_unused=True)

    def wide(t):
        return None if t is None else (t.detach().to(lt.float64).numpy(), t.dtype)

    return [wide(t) for t in results], [wide(t) for t in gradients]


def ulps(got, exact, name, stored=None):
    """The largest distance of an element, in units of the dtype of this name; stored: the dtype
    whose range it had, if another. What cancels is compared with the largest element: the sums of
    f32 that stand behind it are no better."""
    bits, least, _ = FORMATS[name]
    if exact.size == 0:
        return 0.0
    overflow = FORMATS[name][2] if stored is None else LARGEST[stored]
    exact = np.where(np.abs(exact) >= overflow, np.copysign(np.inf, exact), exact)
    finite = np.abs(exact[np.isfinite(exact)])
    size = np.maximum(np.abs(exact), finite.max(initial=0) * 2.0**-11)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.floor(np.log2(size)), least)
        distance = np.abs(got - exact) / 2.0 ** (exponent + 1 - bits)
    equal = (got == exact) | (np.isnan(got) & np.isnan(exact))
    return float(np.where(equal, 0, np.where(np.isnan(distance), np.inf, distance)).max())


# Which operands are left in float32: parameters and targets often are.
MIXTURES = (lambda nth: False, lambda nth: nth > 0, lambda nth: nth == 0)


def run_mixed(sample, dtype, magnitude, mixed):
    """As `run`, or None: there is only one floating operand, or they have to be of one dtype."""
    mixes = mixed is not MIXTURES[0]
    args, kwargs = arrays(sample, "float64")
    operands = flat([args, list(kwargs.values())])
    if mixes and sum(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in operands) < 2:
        return None
    try:
        return run(sample, dtype, magnitude, dtype, mixed)
    except lt.DTypeError:
        if not mixes:
            raise
        return None


def measure(sample):
    worst = {}
    for name in FORMATS:
        dtype, most = getattr(lt, name), [0.0, 0.0]
        for magnitude in MAGNITUDES:
            exact = run(sample, lt.float64, magnitude, dtype)
            for mixed in MIXTURES:
                narrow = run_mixed(sample, dtype, magnitude, mixed)
                for k, (some, others) in enumerate(zip(narrow or (), exact)):
                    for a, b in zip(some, others, strict=True):
                        if b is not None:
                            most[k] = max(most[k], ulps(a[0], b[0], name, a[1]))
        worst[name] = tuple(most)
    return worst


def worst_of(op):
    """By dtype and direction, over all samples: f16, its gradient, bf16, its gradient."""
    found = [measure(sample) for sample in SAMPLES if sample.op == op]
    return [max(w[name][k] for w in found) for name in FORMATS for k in (0, 1)]


def main():
    """Prints the table and its largest figure; 1 if that is above the bound."""
    print("| composite | f16 | its gradient | bf16 | its gradient |\n|---|---|---|---|---|")
    most = 0.0
    for op in composites():
        if op in LEFT_OUT:
            cells = [LEFT_OUT[op], "", "", ""]
        else:
            worst = worst_of(op)
            most = max(most, *worst)
            cells = [f"{ulp:.2f}" for ulp in worst]
        print(f"| `{op}` | " + " | ".join(cells) + " |")
    print(f"\n{len(composites()) - len(LEFT_OUT)} composites, at most {most:.2f} ulp")
    return most > BOUND


if __name__ == "__main__":
    sys.exit(main())
