"""From PyTorch's values to ours: tensors with their strides, dtypes, containers, functions."""

import types

import numpy as np
import torch

import lathe as lt


class Unconvertible(Exception):
    """We have nothing of this kind; says what."""


def mapped(value, leaf):
    """value with leaf(x) in place of what is no container."""
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(v, leaf) for v in value))
    if isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        return kind(mapped(v, leaf) for v in value)
    if isinstance(value, dict):
        return {k: mapped(v, leaf) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(*(mapped(v, leaf) for v in (value.start, value.stop, value.step)))
    return leaf(value)


def leaves(value):
    """What mapped would hand to its leaf, in that order."""
    found = []
    mapped(value, found.append)
    return found


def tensors(value):
    return [v for v in leaves(value) if isinstance(v, torch.Tensor)]


def copied(tensor):
    """A tensor of the same values and strides over memory of its own, without history."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        raise Unconvertible(f"{tensor.layout}")
    if tensor.device.type != "cpu":
        raise Unconvertible(f"a tensor of device {tensor.device}")
    tensor = tensor.resolve_conj().resolve_neg()
    shape, strides = tensor.shape, tensor.stride()
    if tensor.numel() == 0:
        return torch.empty_strided(shape, strides, dtype=tensor.dtype)
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return tensor.as_strided((extent,), (1,)).clone().as_strided(shape, strides)


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def our_dtype(dtype):
    found = getattr(lt, dtype_name(dtype), None)
    if found is None:
        raise Unconvertible(f"no dtype {dtype_name(dtype)}")
    return found


def our_tensor(tensor):
    """Our tensor of the same values and strides, in memory of its own."""
    our_dtype(tensor.dtype)
    return lt.from_dlpack(copied(tensor))


def ours(value):
    """A leaf of PyTorch's arguments as ours."""
    if isinstance(value, torch.Tensor):
        return our_tensor(value)
    if isinstance(value, torch.dtype):
        return our_dtype(value)
    if isinstance(value, torch.device):
        return lt.device(str(value))
    if isinstance(value, (torch.memory_format, torch.layout)):
        name = dtype_name(value)
        if not hasattr(lt, name):
            raise Unconvertible(f"no lathe.{name}")
        return getattr(lt, name)
    if isinstance(value, torch.nn.PairwiseDistance):
        return lt.nn.PairwiseDistance(value.norm, value.eps, value.keepdim)
    if isinstance(value, (torch.Generator, torch.nn.Module)):
        raise Unconvertible(f"a {type(value).__name__} as an argument")
    if isinstance(value, types.FunctionType):
        return over_lathe(value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def theirs(tensor):
    """Our tensor as one of PyTorch's, over the same memory."""
    return torch.from_dlpack(tensor.detach())


def unseeded(operation, *args, **kwargs):
    """In place of the tests' own `wrapper_set_seed`, which makes every call draw the same."""
    return operation(*args, **kwargs)


def drawing(function):
    """PyTorch's function without its seed, so that what is random shows."""
    if not isinstance(function, types.FunctionType) or not is_of_tests(function):
        return function
    known = function.__globals__ | {"wrapper_set_seed": unseeded}
    made = types.FunctionType(
        function.__code__, known, None, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class MaskedOfTests:
    """lathe.masked, with PyTorch's own functions that tell which elements a mask leaves."""

    def __getattr__(self, name):
        if name not in ("_input_mask", "_output_mask"):
            return getattr(lt.masked, name)

        def leaf(value):
            if isinstance(value, lt.Tensor):  # of the others they read the shape
                return theirs(value) if value.dtype == lt.bool else torch.empty(tuple(value.shape))
            return getattr(torch.masked, value.__name__) if callable(value) else value

        def mask(*args, **kwargs):
            found = getattr(torch.masked, name)(*mapped(args, leaf), **mapped(kwargs, leaf))
            return our_tensor(found)

        return mask


class LatheOfMasked:
    """lathe as those of PyTorch's tests see it that ask for masks."""

    masked = MaskedOfTests()

    def __getattr__(self, name):
        return getattr(lt, name)


_STANDS_FOR = {
    torch: lt,
    torch.Tensor: lt.Tensor,
    torch.nn.functional: lt.nn.functional,
}


def over_lathe(function, seen=None):
    """A function of PyTorch's tests, run on our module: what its text calls torch is lathe.

    Many entries are a wrapper such as `lambda x, n: torch.polygamma(n, x)`; its text is PyTorch's
    word for how the op is called. What it calls of the tests itself is taken along.
    """
    seen = {} if seen is None else seen
    if is_seeding(function):
        return unseeded
    if id(function) in seen:
        return seen[id(function)]

    def stand_in(value):
        if value in (torch, torch.Tensor, torch.nn.functional):
            return _STANDS_FOR[value]
        if isinstance(value, torch.dtype):
            return our_dtype(value)
        if isinstance(value, types.FunctionType) and is_of_tests(value):
            return over_lathe(value, seen)
        return resolved(value) if isinstance(value, types.BuiltinFunctionType) else value

    def hashable(value):
        try:
            return stand_in(value)
        except (TypeError, AttributeError):
            return value

    known = dict(function.__globals__)
    made = types.FunctionType(
        function.__code__,
        known,
        function.__name__,
        function.__defaults__,
        tuple(types.CellType(hashable(c.cell_contents)) for c in function.__closure__ or ()),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    seen[id(function)] = made
    used = names_used(function.__code__)
    for name in used:
        if name in known:
            known[name] = hashable(known[name])
    if used & {"_input_mask", "_output_mask"}:
        known["torch"] = LatheOfMasked()
    return made


def is_seeding(function):
    """Is it what PyTorch's tests draw the same by, at every call?"""
    return function.__name__ == "wrapper_set_seed"


def names_used(code):
    """The globals that this code and the functions inside of it may read."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*(names_used(c) for c in inner))


def is_of_tests(function):
    return (function.__module__ or "").startswith("torch.testing")


_PLACES = {
    "torch": lambda: lt,
    "torch.nn.functional": lambda: lt.nn.functional,
    "torch.functional": lambda: lt,
    "torch._C._nn": lambda: lt.nn.functional,
    "torch._C._linalg": lambda: lt.linalg,
    "torch._C._special": lambda: lt.special,
    "torch._C._fft": lambda: lt.fft,
}


def resolved(builtin):
    """Our function for one that PyTorch binds from C++."""
    place = _PLACES.get(getattr(builtin, "__module__", None))
    if place is None:
        return builtin
    name = builtin.__name__
    for prefix in ("linalg_", "special_", "fft_"):
        name = name.removeprefix(prefix) if place() is not lt else name
    return getattr(place(), name)
