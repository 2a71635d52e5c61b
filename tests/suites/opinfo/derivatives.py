"""The modes that differentiate: reverse once and twice, forward; against PyTorch in f64."""

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


def their_gradients(entry, sample, order):
    """(inputs, outputs that have a gradient, cotangents, gradients) of PyTorch."""
    args, kwargs = call_of(sample)
    leaves = []

    def leaf(value):
        made = entries.fresh(value)
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
        outputs = [t for t in convert.tensors(result) if t.requires_grad]
        if not outputs or not leaves:
            raise Skip("nothing to differentiate")
        cotangents = drawn(outputs, 3)
        found = torch.autograd.grad(
            outputs, leaves, cotangents, create_graph=order == 2, allow_unused=True
        )
        if order == 2:
            once = [g for g in found if g is not None and g.requires_grad]
            if not once:
                raise Skip("its gradient is constant")
            seconds = drawn(once, 5)
            found = torch.autograd.grad(once, leaves, seconds, allow_unused=True)
    except Skip:
        raise
    except Exception as e:
        raise Skip(str(e)) from None
    return leaves, [g if g is not None else torch.zeros_like(x) for g, x in zip(found, leaves)]


def drawn(like, seed):
    """A random tensor for each, the same on both sides."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(t.shape, dtype=t.dtype, generator=generator) for t in like]


def our_gradients(entry, sample, order):
    args, kwargs = call_of(sample)
    leaves = []

    def leaf(value):
        made = convert.ours(value)
        if isinstance(value, torch.Tensor) and value.requires_grad:
            leaves.append(made.requires_grad_())
        return made

    result = our_call(entry, convert.mapped(args, leaf), convert.mapped(kwargs, leaf))
    outputs = with_history(processed(sample, result))
    if not outputs:
        return leaves, None
    found = grad(outputs, leaves, 3, create_graph=order == 2)
    if order == 2:
        once = [g for g in found if g is not None and g.requires_grad]
        found = grad(once, leaves, 5) if once else [None] * len(leaves)
    return leaves, found


def with_history(result):
    return [t for t in convert.leaves(result) if isinstance(t, lt.Tensor) and t.requires_grad]


def grad(outputs, inputs, seed, create_graph=False):
    theirs = [torch.empty(tuple(t.shape), dtype=their_dtype(t)) for t in outputs]
    cotangents = [convert.our_tensor(t) for t in drawn(theirs, seed)]
    return lt.autograd.grad(
        outputs, inputs, cotangents, create_graph=create_graph, allow_unused=True
    )


def their_dtype(tensor):
    return getattr(torch, str(tensor.dtype).removeprefix("lathe."))


def check_gradient(entry, _, sample, order):
    leaves, expected = their_gradients(entry, sample, order)
    _, found = our_gradients(entry, sample, order)
    if found is None and not any(map(torch.count_nonzero, expected)):
        raise NotImplementedError("the result has no history, and PyTorch's has gradients of zero")
    if found is None:
        return "the result has no history"
    for i, (e, g) in enumerate(zip(expected, found)):
        if g is None:
            if torch.count_nonzero(e):
                return f"input {i}: no gradient"
            continue
        wrong = compare.difference(e, g, at=f"gradient of input {i}")
        if wrong:
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
    """(results, their tangents) of PyTorch, for the tangents that both sides draw."""
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
        wrong = e is not None and compare.difference(e, g, at=f"tangent of result {i}")
        if wrong:
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
