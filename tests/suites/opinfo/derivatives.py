"""The modes that differentiate: reverse once and twice, forward; against PyTorch in f64.

Where ours is another, differences of PyTorch's function decide, along one direction for gradients:
some of its formulas are off by 1e-6, some are of another function. Where PyTorch's derivative is
NaN there is nothing to compare with.
"""

import compare
import convert
import entries
import torch
import torch.autograd.forward_ad as forward_ad
from entries import Absent
from runs import Run, Skip, call_of, processed, shown  # noqa: F401

import lathe as lt


def their_call(entry, args, kwargs):
    """PyTorch's call as its own tests differentiate it: with a triangular, Hermitian or normalised
    input where it gives the gradient for such a one only."""
    return entry.info.gradcheck_wrapper(entry.info.op, *args, **kwargs)


def our_call(entry, args, kwargs):
    return convert.over_lathe(entry.info.gradcheck_wrapper)(entry.ours, *args, **kwargs)


def their_gradients(entry, sample, order, moved=None):
    """(inputs, gradients, [has this result a gradient?]) of PyTorch. With `moved`, a number to
    multiply a direction by: the sum of what was differentiated times its cotangents, at inputs
    moved so far."""
    args, kwargs = call_of(sample)
    leaves = []

    def leaf(value):
        made = entries.fresh(value)
        if moved is not None:  # narrower weights, too, so that differences are not theirs
            made = entries.widened(made)
        if moved and isinstance(value, torch.Tensor) and value.requires_grad:
            made = made + moved * drawn([made], 17)[0]
        if (
            isinstance(value, torch.Tensor)
            and value.requires_grad
            and value.layout == torch.strided
        ):
            leaves.append(made.requires_grad_())
        return made

    try:
        result = their_call(entry, convert.mapped(args, leaf), convert.mapped(kwargs, leaf))
        result = sample[3].output_process_fn_grad(result)
        asked = [t.requires_grad for t in convert.tensors(result)]
        outputs = [t for t in convert.tensors(result) if t.requires_grad]
        if not outputs or not leaves:
            raise Skip("nothing to differentiate")
        cotangents = drawn(outputs, 3)
        if moved is not None and order == 1:
            return together(outputs, cotangents)
        found = torch.autograd.grad(
            outputs, leaves, cotangents, create_graph=order == 2, allow_unused=True
        )
        if order == 2:
            once = [g for g in found if g is not None and g.requires_grad]
            if not once:
                raise Skip("its gradient is constant")
            seconds = drawn(once, 5)
            if moved is not None:
                return together(once, seconds)
            found = torch.autograd.grad(once, leaves, seconds, allow_unused=True)
    except Skip:
        raise
    except Exception as e:
        raise Skip(str(e)) from None
    found = [g if g is not None else torch.zeros_like(x) for g, x in zip(found, leaves)]
    return leaves, found, asked


def together(tensors, weights):
    return sum((t.detach() * w).sum() for t, w in zip(tensors, weights))


STEP = 1e-4
NEAR = 1e-6  # relative, of differences of fourth order


def slope(at):
    """The derivative of at(h) at 0, by differences."""
    near, far = (at(h) - at(-h) for h in (STEP, 2 * STEP))
    return (8 * near - far) / (12 * STEP)


def is_slope(got, expected, size):
    """Are both finite and near each other, for terms of this size?"""
    return bool(((got - expected).abs() <= NEAR * (1 + size)).all())


def gradients_are_slopes(entry, sample, order, leaves, found):
    """Do our gradients give the differences along a direction?"""
    parts = [convert.theirs(g) * drawn([x], 17)[0] for x, g in zip(leaves, found) if g is not None]
    ours = sum((p.sum() for p in parts), torch.zeros((), dtype=torch.float64))
    size = sum((p.abs().sum() for p in parts), ours.abs())
    try:
        expected = slope(lambda h: their_gradients(entry, sample, order, moved=h))
    except Skip:
        return False
    return is_slope(ours, expected, size)


def known(expected, got):
    """What PyTorch gives, and ours where that is NaN."""
    got = convert.theirs(got)
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return expected
    return torch.where(expected.isnan(), got, expected)


def drawn(like, seed):
    """A random tensor for each, the same on both sides."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(t.shape, dtype=t.dtype, generator=generator) for t in like]


def our_gradients(entry, sample, order, asked):
    args, kwargs = call_of(sample)
    leaves = []

    def leaf(value):
        made = convert.ours(value)
        if isinstance(value, torch.Tensor) and value.requires_grad:
            leaves.append(made.requires_grad_())
        return made

    result = our_call(entry, convert.mapped(args, leaf), convert.mapped(kwargs, leaf))
    results = convert.leaves(processed(sample, result))
    results = [t for t in results if isinstance(t, lt.Tensor)]
    outputs = [t for t, wanted in zip(results, asked) if wanted]
    if not any(t.requires_grad for t in outputs):
        return leaves, None
    found = grad(outputs, leaves, 3, create_graph=order == 2)
    if order == 2:
        once = [g for g in found if g is not None and g.requires_grad]
        found = grad(once, leaves, 5) if once else [None] * len(leaves)
    return leaves, found


def grad(outputs, inputs, seed, create_graph=False):
    theirs = [torch.empty(tuple(t.shape), dtype=their_dtype(t)) for t in outputs]
    pairs = [
        (y, convert.our_tensor(c)) for y, c in zip(outputs, drawn(theirs, seed)) if y.requires_grad
    ]
    return lt.autograd.grad(
        *([y for y, _ in pairs], inputs, [c for _, c in pairs]),
        create_graph=create_graph,
        allow_unused=True,
    )


def their_dtype(tensor):
    return getattr(torch, str(tensor.dtype).removeprefix("lathe."))


def check_gradient(entry, _, sample, order):
    leaves, expected, asked = their_gradients(entry, sample, order)
    _, found = our_gradients(entry, sample, order, asked)
    if found is None and not any(map(torch.count_nonzero, expected)):
        raise NotImplementedError("the result has no history, and PyTorch's has gradients of zero")
    if found is None:
        return "the result has no history"
    for i, (e, g) in enumerate(zip(expected, found)):
        if g is None:  # zeros
            if compare.difference(torch.zeros_like(e), convert.our_tensor(e)):
                return f"input {i}: no gradient"
            continue
        wrong = compare.difference(known(e, g), g, at=f"gradient of input {i}")
        if wrong and not gradients_are_slopes(entry, sample, order, leaves, found):
            return wrong
    return None


def gradient(entry, progress, order=1):
    run = Run(entry, progress)
    info = entry.info
    able = info.supports_autograd and (order == 1 or info.supports_gradgrad)
    kinds = info.supported_backward_dtypes("cpu") if able else ()
    if torch.float64 in kinds:
        samples = entry.samples(torch.float64, requires_grad=True)
        for sample, values in zip(samples, entry.settled(samples)):
            if values:
                run.sample(call_of(sample), check_gradient, sample, order)
    return run.outcome()


def second(entry, progress):
    return gradient(entry, progress, order=2)


def their_jvp(entry, sample):
    """(inputs, the tangents of the results) of PyTorch, for the tangents that both sides draw."""
    args, kwargs = call_of(sample)
    inputs = [t for t in convert.tensors([args, list(kwargs.values())]) if t.requires_grad]
    tangents = iter(drawn(inputs, 11))

    def leaf(value):
        made = entries.fresh(value)
        needs = isinstance(value, torch.Tensor) and value.requires_grad
        return forward_ad.make_dual(made, next(tangents)) if needs else made

    try:
        with forward_ad.dual_level():
            result = their_call(entry, convert.mapped(args, leaf), convert.mapped(kwargs, leaf))
            result = sample[3].output_process_fn_grad(result)
            found = [forward_ad.unpack_dual(t).tangent for t in convert.tensors(result)
                     if t.is_floating_point() or t.is_complex()]  # fmt: skip
    except Exception as e:
        raise Skip(str(e)) from None
    if not inputs or not any(t is not None for t in found):
        raise Skip("nothing to differentiate")
    return inputs, found


def tangent_is_slope(entry, sample, at, got):
    """Is ours the differences of PyTorch's result `at`?"""
    args, kwargs = call_of(sample)
    inputs = [t for t in convert.tensors([args, list(kwargs.values())]) if t.requires_grad]

    def result(h):
        tangents = iter(drawn(inputs, 11))

        def leaf(value):
            made = entries.widened(entries.fresh(value))
            needs = isinstance(value, torch.Tensor) and value.requires_grad
            return made + h * next(tangents) if needs else made

        with torch.no_grad():
            found = their_call(entry, convert.mapped(args, leaf), convert.mapped(kwargs, leaf))
            found = convert.tensors(sample[3].output_process_fn_grad(found))
        return [t for t in found if t.is_floating_point() or t.is_complex()][at]

    try:
        expected = slope(result)
    except Exception:  # of PyTorch's: it has no result there
        return False
    return is_slope(convert.theirs(got), expected, expected.abs())


def check_jvp(entry, _, sample):
    inputs, expected = their_jvp(entry, sample)
    if not hasattr(lt.func, "jvp"):
        raise Absent("forward mode is not there: no lathe.func.jvp")
    args, kwargs = call_of(sample)
    places = []

    def leaf(value):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            places.append(value)
            return Place(len(places) - 1)
        return convert.ours(value)

    args, kwargs = convert.mapped(args, leaf), convert.mapped(kwargs, leaf)

    def function(*primals):
        def fill(value):
            return primals[value.number] if isinstance(value, Place) else value

        result = our_call(entry, convert.mapped(args, fill), convert.mapped(kwargs, fill))
        every = [t for t in convert.leaves(processed(sample, result)) if isinstance(t, lt.Tensor)]
        return [t for t in every if t.is_floating_point() or t.is_complex()]

    primals = tuple(convert.our_tensor(t) for t in inputs)
    tangents = tuple(convert.our_tensor(t) for t in drawn(inputs, 11))
    _, found = lt.func.jvp(function, primals, tangents)
    for i, (e, g) in enumerate(zip(expected, found)):
        wrong = e is not None and compare.difference(known(e, g), g, at=f"tangent of result {i}")
        if wrong and not tangent_is_slope(entry, sample, i, g):
            return wrong
    return None


class Place:
    """Where a primal stands among the arguments."""

    def __init__(self, number):
        self.number = number


def jvp(entry, progress):
    run = Run(entry, progress)
    if entry.info.supports_forward_ad and entry.info.supports_dtype(torch.float64, "cpu"):
        samples = entry.samples(torch.float64, requires_grad=True)
        for sample, values in zip(samples, entry.settled(samples)):
            if values:
                run.sample(call_of(sample), check_jvp, sample)
    return run.outcome()
