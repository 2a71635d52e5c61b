"""What is asked of an entry, mode by mode; each gives an Outcome.

forward    every sample in the entry's first dtype: structure, dtype, shape, values
layout     the same over strided tensors, and channels-last where a tensor has four axes
dtypes     the same in every other dtype that PyTorch's op has
method     the method gives the function's bytes
inplace    the in-place form gives PyTorch's result in the tensor itself
gradient   one random cotangent in f64 against PyTorch's gradients
second     the gradients of those gradients
traced     a trace of the first input gives eager's bytes on a second of the same shapes
errors     PyTorch's error samples: each ends in a typed error
"""

import re

import compare
import convert
import numpy as np
import torch
from entries import Absent
from runs import (
    BROKEN,
    NO_PROCESS,
    Outcome,
    Run,
    Skip,
    call_of,
    expected_of,
    got_of,
    told,
    widened,
)  # fmt: skip

import lathe as lt
from derivatives import gradient, jvp, second


def check_call(entry, call, values=True, process=None):
    """What is wrong with our result for this call of PyTorch's."""
    expected = expected_of(entry, call)
    got = got_of(entry.ours, call)
    found = compare.difference(expected, got, lambda i: exact(entry, call, i), values=values)
    if found and values and places_of_equals(entry, call, expected, got):
        return None
    if found and process and process.__qualname__ != NO_PROCESS:
        # Vectors of a decomposition are so up to signs: PyTorch says what of them is determined.
        again = compare.difference(process(expected), convert.over_lathe(process)(got))
        return found if again else None
    return found


def exact(entry, call, kind, operation=None):
    """What both sides are measured by: PyTorch's result in f64 (0), also of integers (1), or that
    of the function in NumPy or SciPy that PyTorch's own tests compare with (2)."""
    if kind < 2:
        return expected_of(entry, widened(call, integers=kind == 1), operation)
    args, kwargs = (convert.mapped(part, as_array) for part in widened(call, integers=True))
    found = np.asarray(entry.info.ref(*args, **kwargs))
    wide = np.complex128 if np.iscomplexobj(found) else np.float64
    return torch.from_numpy(found.astype(wide))


def as_array(value):
    return value.numpy() if isinstance(value, torch.Tensor) else value


# Which of several equal elements is named is the library's own choice.
TIES = re.compile(r"topk|(arg)?sort|kthvalue|(nan)?median|mode|(arg)?(max|min)")


def places_of_equals(entry, call, expected, got):
    """Do both name equal elements, at places that are free to differ?"""
    name = entry.info.name.rsplit(".", 1)[-1]
    if not TIES.fullmatch(name) or not isinstance(call[0][0], torch.Tensor):
        return False
    pairs = list(zip(*(convert.leaves(r) for r in (expected, got))))
    first = pairs[0] if len(pairs) == 2 else None
    if first and compare.difference(first[0], first[1]):
        return False
    theirs, ours = pairs[-1]
    if not isinstance(ours, lt.Tensor) or tuple(ours.shape) != tuple(theirs.shape):
        return False
    return any(same_elements(call[0][0], theirs, convert.theirs(ours), d) for d in axes_of(call))


def axes_of(call):
    """The axes that the indexes of a result may be along."""
    return range(max(call[0][0].dim(), 1))


def same_elements(value, first, second, axis):
    """Do both indexes along this axis find the same elements?"""
    if value.dim() == 0:
        return bool((first == second).all())
    if first.dim() < value.dim():
        first, second = first.unsqueeze(axis), second.unsqueeze(axis)
    if first.dim() != value.dim() or first.dtype != torch.int64 or second.dtype != torch.int64:
        return False
    try:
        found = [value.gather(axis, index) for index in (first, second)]
    except (RuntimeError, IndexError):
        return False
    return not compare.of_values(*found, 0, 0, None, "")


def forward(entry, progress, dtypes=None):
    run = Run(entry, progress)
    for dtype in dtypes or entry.dtypes()[:1]:
        samples = entry.samples(dtype)
        for sample, values in zip(samples, entry.settled(samples)):
            call, process = call_of(sample), sample[3].output_process_fn_grad
            run.sample(call, check_call, values, process)
    return run.outcome()


def dtypes(entry, progress):
    others = entry.dtypes()[1:]
    return forward(entry, progress, others) if others else Outcome("none", "", 0, 0)


def channels_last(tensor):
    if tensor.dim() != 4 or not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    return tensor.contiguous(memory_format=torch.channels_last)


def laid_out(sample):
    """The calls of this sample with its tensors laid out in other ways."""
    yield call_of_sample(sample[3].noncontiguous())
    found = []

    def leaf(value):
        other = channels_last(value) if isinstance(value, torch.Tensor) else None
        found.extend([other] if other is not None else [])
        return value if other is None else other

    args, kwargs = call_of(sample)
    call = convert.mapped(args, leaf), convert.mapped(kwargs, leaf)
    if found:
        yield call


def call_of_sample(sample):
    return (sample.input, *sample.args), sample.kwargs


def layout(entry, progress):
    run = Run(entry, progress)
    samples = entry.first_samples()
    for sample, values in zip(samples, entry.settled(samples)):
        if any(t.layout != torch.strided for t in convert.tensors(call_of(sample)[0])):
            continue
        for call in laid_out(sample):
            process = sample[3].output_process_fn_grad
            run.sample(call, check_call, values, process)
    return run.outcome()


def method(entry, progress):
    """Absent where our Tensor has none."""
    run = Run(entry, progress)
    try:
        ours = entry.our_method
    except Absent as e:
        return Outcome("unsupported", str(e), 1, 0)
    if ours is None:
        return run.outcome()
    for sample in entry.first_samples():
        call = call_of(sample)
        run.sample(call, check_method, ours)
    return run.outcome()


def check_method(entry, call, ours):
    expected_of(entry, call, entry.info.method_variant)
    return bytes_of_two(entry.ours, ours, call)


def bytes_of_two(first, second, call):
    results = []
    for function in (first, second):
        lt.manual_seed(7)
        results.append(got_of(function, call))
    return compare.same_bytes(*results)


def inplace(entry, progress):
    run = Run(entry, progress)
    try:
        ours = entry.our_inplace
    except Absent as e:
        return Outcome("unsupported", str(e), 1, 0)
    if ours is None:
        return run.outcome()
    samples = entry.first_samples()
    for sample, values in zip(samples, entry.settled(samples)):
        call = call_of(sample)
        run.sample(call, check_inplace, ours, values)
    return run.outcome()


def check_inplace(entry, call, ours, values):
    expected = expected_of(entry, call, entry.info.inplace_variant)
    args, kwargs = convert.mapped(call[0], convert.ours), convert.mapped(call[1], convert.ours)
    got = ours(*args, **kwargs)
    if isinstance(args[0], lt.Tensor) and got is not args[0]:
        return "it does not give the tensor itself"
    theirs = entry.info.inplace_variant
    return compare.difference(expected, got, lambda i: exact(entry, call, i, theirs), values=values)


def same_structure(first, second):
    """Do two calls differ in the values of their tensors only?"""
    a, b = (convert.leaves([c[0], list(c[1].items())]) for c in (first, second))
    return len(a) == len(b) and all(map(alike, a, b))


def alike(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return (a.shape, a.dtype, a.layout) == (b.shape, b.dtype, b.layout)
    return a is b or type(a) is type(b) and repr(a) == repr(b)


def traced(entry, progress):
    run = Run(entry, progress)
    pairs = list(zip(entry.first_samples(), entry.first_samples(seed=1)))
    for sample, other in pairs:
        call, again = call_of(sample), call_of(other)
        again = again if same_structure(call, again) else call
        run.sample(call, check_traced, again)
    return run.outcome()


def check_traced(entry, call, again):
    expected_of(entry, call)
    expected_of(entry, again)

    function = entry.ours

    def body(args, kwargs):
        return function(*args, **kwargs)

    program = lt.trace(body)
    lt.manual_seed(7)
    program(*in_ours(call))
    lt.manual_seed(9)
    got = program(*in_ours(again))
    lt.manual_seed(9)
    args, kwargs = in_ours(again)
    return compare.same_bytes(function(*args, **kwargs), got)


def in_ours(call):
    return convert.mapped(call[0], convert.ours), convert.mapped(call[1], convert.ours)


def errors(entry, progress):
    run = Run(entry, progress)
    for sample in entry.errors():
        call = call_of_sample(sample)
        run.sample(call, check_error)
    return run.outcome()


def accepted(entry, call):
    """Does PyTorch take this error sample after all, on this device?"""
    try:
        expected_of(entry, call)
    except Skip:
        return False
    return True


def check_error(entry, call):
    function = entry.ours  # Absent refuses nothing
    try:
        args, kwargs = in_ours(call)
    except convert.Unconvertible as e:
        raise Skip(str(e)) from None
    except lt.Error:  # such an argument cannot even be made
        return None
    if accepted(entry, call):
        raise Skip("PyTorch takes it")
    try:
        function(*args, **kwargs)
    except BROKEN:
        raise
    except lt.Error as e:
        if isinstance(e, AttributeError):
            raise
        return None
    except (TypeError, ValueError, IndexError):  # of a function written in Python
        return None
    return "it is not refused"


MODES = {
    f.__name__: f
    for f in (forward, layout, dtypes, method, inplace, gradient, second, jvp, traced, errors)
}


def run_mode(entry, mode, progress):
    """The Outcome of a mode; what the suite itself cannot do is an Outcome too."""
    try:
        return MODES[mode](entry, progress)
    except Absent as e:
        return Outcome("unsupported", str(e), 1, 0)
    except Exception as e:
        return Outcome("unsupported", f"the suite: {told(e)}", 1, 0)
