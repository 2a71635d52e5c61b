"""The entries of PyTorch's operator database, and how each is called in torch and in lathe."""

import functools
import operator
import random
import re
import types
import zlib
from functools import cached_property
from pathlib import Path

import convert
import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import lathe as lt

MANIFEST = Path(__file__).with_name("manifest.txt")
# Results that nobody may read, or that hold what was in the memory.
UNDEFINED = re.compile(r"(new_)?empty(_like|_strided|_permuted)?|resize_(as_)?")
# Dtypes that PyTorch keeps numbers in and computes almost nothing with.
STORAGE = re.compile(r"torch\.(complex32|float[48]_.*|bits.*|q.*|u?int[1-7])")
PRIVATE = [
    (re.compile(r"(torch\.)?(ops\..*|_[a-z].*)"), "a private name"),
    (re.compile(r"jiterator_.*"), "compiles CUDA sources"),
    (re.compile(r"native_dropout_backward"), "no public name"),
]
# The dtype an entry is tried in first: what it has, in this order.
FIRST = [torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64]


class Absent(Exception):
    """There is no such name in lathe."""


class Entry:
    def __init__(self, info):
        self.info, self.name = info, info.full_name

    @property
    def public_half(self):
        return zlib.crc32(self.name.encode()) % 2 == 0

    @property
    def private(self):
        """Why it is nobody's to have, or None."""
        return next((why for pattern, why in PRIVATE if pattern.fullmatch(self.info.name)), None)

    def dtypes(self):
        """Those of the op on CPU, the one that is tried first in front."""
        have = {d for d in self.info.supported_dtypes("cpu") if not STORAGE.fullmatch(str(d))}
        first = [d for d in FIRST if d in have][:1]
        return first + sorted((d for d in have if d not in first), key=str)

    def samples(self, dtype, seed=0, requires_grad=False):
        seed_all(seed)
        found = list(
            self.info.sample_inputs("cpu", dtype, requires_grad=requires_grad, set_seed=False)
        )
        return [(s.input, s.args, s.kwargs, s) for s in found]

    def first_samples(self, seed=0):
        """Those of the dtype that is tried first; none where PyTorch has none for this device."""
        return [s for dtype in self.dtypes()[:1] for s in self.samples(dtype, seed)]

    def errors(self):
        if self.info.error_inputs_func is None:
            return []
        seed_all(0)
        return [e.sample_input for e in self.info.error_inputs("cpu", set_seed=False)]

    @cached_property
    def undefined(self):
        return bool(UNDEFINED.fullmatch(self.info.name))

    def settled(self, samples):
        """[is the result of this sample the same whatever the seed?]; no result counts as yes."""
        if self.undefined:
            return [False] * len(samples)
        differs = [self.is_drawn(s, seeds=2) for s in samples]
        if any(differs):  # small results of an op that draws may agree by chance
            differs = [self.is_drawn(s, seeds=16) for s in samples]
        return [not d for d in differs]

    def is_drawn(self, sample, seeds):
        value, args, kwargs, _ = sample
        operation, first = convert.drawing(self.info.op), None
        for seed in range(seeds):
            seed_all(seed)
            try:
                made = operation(*convert.mapped((value, *args), fresh), **kwargs)
            except Exception:
                return False
            made = [t for t in convert.tensors(made) if t.layout == torch.strided]
            first = first or made
            if any(map(differ, first, made)):
                return True
        return False

    @cached_property
    def ours(self):
        """Our function. Absent where there is none."""
        theirs, name = self.info.op, self.info.name
        if isinstance(theirs, types.FunctionType) and convert.is_of_tests(theirs):
            return convert.over_lathe(theirs)
        if isinstance(theirs, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return method(name)
        if (theirs.__module__ or "") == "torch._tensor":
            return method(name)
        return function(name)

    @cached_property
    def our_method(self):
        """Our method, or None where PyTorch has none."""
        theirs = self.info.method_variant
        if theirs is None or isinstance(theirs, types.FunctionType) and convert.is_of_tests(theirs):
            return None
        return method(theirs.__name__)

    @cached_property
    def our_inplace(self):
        theirs = self.info.inplace_variant
        if theirs is None:
            return None
        if isinstance(theirs, types.FunctionType) and convert.is_of_tests(theirs):
            return convert.over_lathe(theirs)
        if theirs in vars(operator).values():
            return theirs
        if isinstance(theirs, functools.partial):  # a function that takes inplace=True
            return functools.partial(function(self.info.name), *theirs.args, **theirs.keywords)
        return method(theirs.__name__)


def function(name):
    """lathe's function of this dotted name."""
    found = lt
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Absent(f"no lathe.{name}") from None
    if not callable(found):
        raise Absent(f"lathe.{name} is no function")
    return found


def method(name):
    found = getattr(lt.Tensor, name, None)
    if found is None:
        raise Absent(f"no Tensor.{name}")
    if not callable(found):
        return lambda tensor: getattr(tensor, name)
    return found


def differ(first, second):
    """Do two of PyTorch's tensors of one shape differ in a byte?"""
    if first.shape != second.shape or not first.numel():
        return False
    pair = (convert.copied(t).clone(memory_format=torch.contiguous_format) for t in (first, second))
    return not torch.equal(*(t.flatten().view(torch.uint8) for t in pair))


def fresh(value):
    """A leaf of PyTorch's arguments for one call: a tensor of its own, with the same strides."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    return convert.copied(value)


def widened(value):
    """A leaf of PyTorch's arguments, a tensor of f32 in f64."""
    narrow = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.to(torch.float64) if narrow else value


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def every_entry():
    return [Entry(info) for info in op_db]


def manifest_text(entries):
    """The public half, and what of it is private to PyTorch."""
    version = torch.__version__.split("+")[0]
    lines = [
        f"# The entries of PyTorch {version}'s operator database that count, made by",
        "# run.py --write-manifest. `! name: why` is of that half but no public name.",
    ]
    for e in sorted((e for e in entries if e.public_half), key=lambda e: e.name):
        lines.append(f"! {e.name}: {e.private}" if e.private else e.name)
    return "\n".join([*lines, ""])


def manifest():
    """The names that count."""
    lines = MANIFEST.read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "!"))]
