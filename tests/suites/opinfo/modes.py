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
from collections import namedtuple

import compare
import convert
import entries
import torch
from entries import Absent

import lathe as lt

# status: pass, wrong, crash, unsupported, timeout, or none (PyTorch has nothing to ask)
Outcome = namedtuple("Outcome", "status reason samples passed")
WORST = ["crash", "timeout", "wrong", "unsupported"]
# Faults that are ours, whatever the input: a definition that breaks is not a refusal.
BROKEN = (lt.InternalError, SystemError, RecursionError, AssertionError, ZeroDivisionError)
DTYPES_OF_GRADIENTS = (torch.float64,)


class Run:
    """The samples of one mode: counts, and keeps the first of each fault."""

    def __init__(self, entry, progress):
        self.samples = self.passed = 0
        self.entry, self.first, self.progress = entry, {}, progress

    def sample(self, call, check, *args):
        """check(entry, call, ...) gives what is wrong or None, and raises what lathe refuses."""
        self.samples += 1
        self.progress(at := shown(call))
        status, reason = verdict(check, self.entry, call, *args)
        if status == "none":
            self.samples -= 1
        elif status == "pass":
            self.passed += 1
        else:
            absent = reason.startswith("no lathe.")
            self.first.setdefault(status, reason if absent else f"{reason} <- {at}")

    def outcome(self):
        for status in WORST:
            if status in self.first:
                return Outcome(status, self.first[status], self.samples, self.passed)
        return Outcome("pass" if self.samples else "none", "", self.samples, self.passed)


class Skip(Exception):
    """PyTorch gives nothing to compare with here."""


def verdict(check, *args):
    """(status, reason) of one check."""
    try:
        found = check(*args)
    except Skip as e:
        return "none", str(e)
    except (Absent, convert.Unconvertible) as e:
        return "unsupported", str(e)
    except AttributeError as e:
        return "unsupported", absence(e)
    except BROKEN as e:
        return "crash", told(e)
    except Exception as e:
        return "unsupported", told(e)
    return ("wrong", found) if found else ("pass", "")


ABSENCES = [
    r"(?P<place>lathe[\w.]*): there is nothing of this name\n\s*got:\s*(?P<name>\w+)",
    r"(?:module|type object) '(?P<place>lathe[\w.]*)' has no attribute '(?P<name>\w+)'",
    r"'(?P<place>lathe\.Tensor)' object has no attribute '(?P<name>\w+)'",
]


def absence(error):
    """An AttributeError in words: 'no lathe.polygamma' for a name that a place of ours lacks."""
    for pattern in ABSENCES:
        if found := re.search(pattern, str(error)):
            return f"no {found['place']}.{found['name']}"
    return told(error)


def told(error):
    """The first two lines of an error's text behind its kind."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {'; '.join(lines[:2])}"[:240]


def shown(call, dtype=None):
    """A call in short: 'float32 (tensor[2, 3], 1, dim=0)'."""

    def leaf(value):
        if not isinstance(value, torch.Tensor):
            return value
        gaps = "" if value.layout != torch.strided or value.is_contiguous() else " strided"
        return Shown(f"{convert.dtype_name(value.dtype)}{list(value.shape)}{gaps}")

    args = [repr(convert.mapped(a, leaf)) for a in call[0]]
    args += [f"{k}={convert.mapped(v, leaf)!r}" for k, v in call[1].items()]
    return f"({', '.join(args)})"[:200]


class Shown(str):
    def __repr__(self):
        return str(self)


def call_of(sample):
    value, args, kwargs, _ = sample
    return (value, *args), kwargs


def expected_of(entry, call, operation=None):
    """PyTorch's result, on tensors of its own; Skip where PyTorch refuses."""
    try:
        args, kwargs = (
            convert.mapped(call[0], entries.fresh),
            convert.mapped(call[1], entries.fresh),
        )
        with torch.no_grad():
            return (operation or entry.info.op)(*args, **kwargs)
    except Exception as e:
        raise Skip(str(e)) from None


def got_of(function, call):
    args, kwargs = convert.mapped(call[0], convert.ours), convert.mapped(call[1], convert.ours)
    return function(*args, **kwargs)


def widened(call):
    """The call in f64, for a result to measure both sides by."""

    def leaf(value):
        if value in (torch.float16, torch.bfloat16, torch.float32) and not hasattr(value, "shape"):
            return torch.float64
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.to(torch.float64)
        if isinstance(value, torch.Tensor) and value.is_complex():
            return value.to(torch.complex128)
        return value

    def safe(value):
        return leaf(value) if isinstance(value, (torch.Tensor, torch.dtype)) else value

    return convert.mapped(call[0], safe), convert.mapped(call[1], safe)


def check_call(entry, call, values=True, process=None):
    """What is wrong with our result for this call of PyTorch's."""
    expected = expected_of(entry, call)
    got = got_of(entry.ours, call)
    found = compare.difference(
        expected, got, lambda: expected_of(entry, widened(call)), values=values
    )
    if found and process and process.__qualname__ != "SampleInput.__init__.<locals>.<lambda>":
        # Vectors of a decomposition are so up to signs: PyTorch says what of them is determined.
        again = compare.difference(process(expected), convert.over_lathe(process)(got))
        return found if again else None
    return found


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
    samples = entry.samples(entry.dtypes()[0])
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
    for sample in entry.samples(entry.dtypes()[0]):
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
    samples = entry.samples(entry.dtypes()[0])
    for sample, values in zip(samples, entry.settled(samples)):
        call = call_of(sample)
        run.sample(call, check_inplace, ours, values)
    return run.outcome()


def check_inplace(entry, call, ours, values):
    expected = expected_of(entry, call, entry.info.inplace_variant)
    exact = lambda: expected_of(entry, widened(call), entry.info.inplace_variant)  # noqa: E731
    args, kwargs = convert.mapped(call[0], convert.ours), convert.mapped(call[1], convert.ours)
    got = ours(*args, **kwargs)
    if isinstance(args[0], lt.Tensor) and got is not args[0]:
        return "it does not give the tensor itself"
    return compare.difference(expected, got, exact, values=values)


def differentiable(value):
    return value.is_floating_point() or value.is_complex()


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
        result = entry.info.op(*convert.mapped(args, leaf), **convert.mapped(kwargs, leaf))
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

    result = entry.ours(*convert.mapped(args, leaf), **convert.mapped(kwargs, leaf))
    process = sample[3].output_process_fn_grad
    if process.__qualname__ != "SampleInput.__init__.<locals>.<lambda>":
        result = convert.over_lathe(process)(result)
    outputs = with_history(result)
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
    for dtype in (d for d in DTYPES_OF_GRADIENTS if d in kinds):
        samples = entry.samples(dtype, requires_grad=True)
        for sample, values in zip(samples, entry.settled(samples)):
            if values:
                run.sample(call_of(sample), check_gradient, sample, order)
    return run.outcome()


def second(entry, progress):
    return gradient(entry, progress, order=2)


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
    dtype = entry.dtypes()[0]
    pairs = list(zip(entry.samples(dtype), entry.samples(dtype, seed=1)))
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
    if accepted(entry, call):
        raise Skip("PyTorch takes it")
    try:
        args, kwargs = in_ours(call)
    except convert.Unconvertible as e:
        raise Skip(str(e)) from None
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
    for f in (forward, layout, dtypes, method, inplace, gradient, second, traced, errors)
}


def run_mode(entry, mode, progress):
    """The Outcome of a mode; what the suite itself cannot do is an Outcome too."""
    try:
        return MODES[mode](entry, progress)
    except Absent as e:
        return Outcome("unsupported", str(e), 1, 0)
    except Exception as e:
        return Outcome("unsupported", f"the suite: {told(e)}", 1, 0)
