"""Prints which forms of every definition its samples try, and fails where a cell is empty.

    ./dev python tests/samples/coverage.py [--list]

A form is tried here, on every sample of the definition: in each floating dtype, over strided
operands, with out=, in place, as a method, traced on one input and run on another, under vmap and
jvp; and there is a reference in NumPy, SciPy or mpmath. `ok`, what is wrong, or `-` where the
definition has no such form.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import samples  # noqa: E402
import transforms  # noqa: E402
from references import REFERENCES  # noqa: E402

import lathe as lt  # noqa: E402

NONE = "-"
READS = "the size of its result depends on data"
# What a definition has no form of, and why.
WITHOUT = {
    "strided": {
        "it speaks of places in memory": "as_strided as_strided_copy as_strided_scatter "
        "strided strided_put strided_over",
        "another element size needs neighbours": "view.dtype view_as_complex view_as_complex_put",
    },
    "dtypes": {
        "its operands' dtypes belong together": "reinterpreted_put view_as_real_put "
        "view_as_complex view_as_complex_put",
        "of f32 and f64 alone, as PyTorch's": "quantile nanquantile",
    },
    "out": {"PyTorch has none": "einsum"},
    "reference": {
        "it draws, and the stream is ours": "rand randn randint randint.high rand_like randn_like "
        "randint_like randint_like.low bernoulli bernoulli.p bernoulli.size bernoulli.fill "
        "bernoulli.fill_of uniform normal normal.fill normal.float_std normal.float_mean "
        "normal.size log_normal exponential cauchy geometric random random.to random.from randperm "
        "multinomial poisson binomial standard_gamma rrelu gumbel_softmax dropout dropout.train "
        "dropout1d dropout2d dropout3d alpha_dropout alpha_dropout.train feature_alpha_dropout "
        "feature_alpha_dropout.train feature_dropout svd_lowrank pca_lowrank",
    },
    "traced": {READS: "repeat_interleave.each repeat_interleave.places"},
    "vmap": {READS: "repeat_interleave.each repeat_interleave.places"},
}
FLOATING = ("float64", "float16", "bfloat16")


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, lt.Tensor) else []


def run(sample, dtype="float32", change=lambda t: t, function=None, **more):
    """The results of a sample whose tensors are changed first."""
    lt.manual_seed(3)
    args, kwargs = samples.arrays(sample, dtype if dtype == "float64" else "float32")

    def tensor(array):
        made = lt.tensor(array)
        fits = made.is_floating_point() and dtype not in ("float32", "float64")
        return change(made.to(getattr(lt, dtype)) if fits else made)

    args = [samples.convert(a, tensor) for a in args]
    kwargs = {k: samples.convert(v, tensor) for k, v in kwargs.items()}
    return (function or getattr(lt.ops, sample.op))(*args, **kwargs, **more)


def same(first, second):
    first, second = leaves(first), leaves(second)
    return len(first) == len(second) and all(
        a.dtype == b.dtype and np.array_equal(a.double().numpy(), b.double().numpy(), True)
        if not a.dtype.is_complex
        else np.array_equal(a.numpy(), b.numpy(), True)
        for a, b in zip(first, second)
    )


def dtypes(row, sample):
    have = [d for d in FLOATING if d in row["dtypes"]] or ["float64"]
    for dtype in have:
        run(sample, dtype)
    return True


def strided(row, sample):
    def every_second(t):
        return lt.stack([t, t], t.ndim).select(t.ndim, 1) if t.ndim else t

    return same(run(sample), run(sample, change=every_second))


def out(row, sample):
    expected = run(sample)
    given = [lt.empty_like(t) for t in leaves(expected)]
    function = getattr(lt, row["public_name"])
    run(sample, function=function, out=given[0] if isinstance(expected, lt.Tensor) else given)
    return same(expected, given)


def inplace(row, sample):
    expected = run(sample)
    first = []

    def written(t, *args, **kwargs):
        first.append(t)
        return getattr(t, row["public_name"] + "_")(*args, **kwargs)

    fits = []
    run(sample, function=lambda t, *args, **kwargs: fits.append((t.shape, t.dtype)))
    if fits[0] != (expected.shape, expected.dtype):
        return None
    got = run(sample, function=written)
    return got is first[0] and same(expected, got)


def method(row, sample):
    name = row["public_name"]
    found = lambda t, *args, **kwargs: getattr(t, name)(*args, **kwargs)  # noqa: E731
    if not callable(getattr(lt.Tensor, name)):
        return None
    return same(run(sample), run(sample, function=found))


def traced(row, sample):
    function = getattr(lt.ops, sample.op)
    program = lt.trace(lambda args, kwargs: function(*args, **kwargs))

    def call(*args, **kwargs):
        return program(args, kwargs)

    first_call(sample, call)
    return same(run(sample), run(sample, function=call))


def first_call(sample, function):
    """On other values: the elements the other way round, or doubled where the op wants an order."""
    try:
        run(sample, change=lambda t: t.flip(0) if t.ndim else t, function=function)
    except lt.LinAlgError:
        run(sample, change=lambda t: t + t, function=function)


def has_form(row, form):
    if any(row["name"] in names.split() for names in WITHOUT.get(form, {}).values()):
        return False
    if form == "out":
        return row["function"]
    if form in ("inplace", "method"):
        return row["method"] and (form == "method" or row["inplace"])
    if form == "traced":
        return not row["reads"]
    return form != "jvp" or not row["no_grad"]


FORMS = {"dtypes": dtypes, "strided": strided, "out": out, "inplace": inplace, "method": method,
         "traced": traced, "vmap": transforms.vmapped, "jvp": transforms.forward}  # fmt: skip


def cell(row, form, tried):
    """'ok', '-', or what is wrong."""
    if not has_form(row, form):
        return NONE
    words = []
    for sample in tried:
        try:
            words.append(FORMS[form](row, sample))
        except Exception as e:
            return f"{type(e).__name__}: {(str(e) + '.').splitlines()[0][:80]} <- {sample}"
        if words[-1] is False:
            return f"another result <- {sample}"
    return "ok" if True in words else NONE


def cells(row):
    tried = [s for s in samples.SAMPLES if s.op == row["name"]]
    if not tried:
        return {"sample": "no sample"}
    found = {form: cell(row, form, tried) for form in FORMS}
    if row["name"] in REFERENCES:
        return found | {"reference": "ok"}
    return found | {"reference": "no reference" if has_form(row, "reference") else NONE}


def main():
    table = {row["name"]: cells(row) for row in lt._lathe._definitions()}
    counts = {}
    for name, found in table.items():
        for form, word in found.items():
            counts.setdefault(form, Counter())[word if word in ("ok", NONE) else "empty"] += 1
            if word not in ("ok", NONE) and "--list" in sys.argv:
                print(f"{name} {form}: {word}")
    if "--list" in sys.argv:
        for form, reasons in WITHOUT.items():
            for reason, names in reasons.items():
                print(f"no {form}, because {reason}: {names}")
    for form, count in counts.items():
        print(
            f"  {form:<9} {count['ok']:>4} tried, {count['empty']:>3} empty, {count[NONE]:>3} none"
        )
    empty = sum(c["empty"] for c in counts.values())
    whole = sum(sum(w not in ("ok", NONE) for w in c.values()) == 0 for c in table.values())
    print(f"coverage: {whole} of {len(table)} definitions complete, {empty} empty cells")
    sys.exit(1 if empty else 0)


if __name__ == "__main__":
    main()
