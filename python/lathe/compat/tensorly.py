"""TensorLy over our tensors: `lathe.compat.tensorly.select()` makes them its own."""

import functools

import numpy as np
import tensorly
from tensorly.backend import BackendManager
from tensorly.backend.core import Backend, backend_array, backend_basic_math, backend_types

import lathe as lt

# TensorLy takes NumPy's names of arguments.
RENAMED = {"axis": "dim", "keepdims": "keepdim"}


def missing(name):
    """In place of a function that lathe has not: TensorLy asks for all of them at once."""

    def function(*args, **kwargs):
        raise NotImplementedError(f"lathe has no {name}")

    return function


def named(path):
    """lathe's function of this dotted name."""
    found = lt
    for part in path.split("."):
        found = getattr(found, part, None)
    return missing(path) if found is None else found


def by_numpy(path):
    """That function under NumPy's names of arguments; axis=None is no argument."""
    function = named(path)

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        given = {RENAMED.get(k, k): v for k, v in kwargs.items()}
        if given.get("dim", 0) is None:
            del given["dim"]
        return function(*args, **given)

    return wrapped


class LatheBackend(Backend, backend_name="lathe"):
    nan = float("nan")

    @staticmethod
    def context(tensor):
        return {"dtype": tensor.dtype, "device": tensor.device,
                "requires_grad": tensor.requires_grad}  # fmt: skip

    @staticmethod
    def tensor(data, dtype=None, device=None, requires_grad=None):
        if isinstance(data, lt.Tensor):
            made = data.detach().clone()
        else:
            made = lt.tensor(data)
        made = made.to(dtype=dtype or made.dtype, device=device)
        return made if requires_grad is None else made.requires_grad_(requires_grad)

    @staticmethod
    def is_tensor(value):
        return isinstance(value, lt.Tensor)

    @staticmethod
    def to_numpy(tensor):
        return tensor.detach().numpy() if isinstance(tensor, lt.Tensor) else np.asarray(tensor)

    @staticmethod
    def shape(tensor):
        return tuple(tensor.shape)

    @staticmethod
    def ndim(tensor):
        return tensor.ndim

    @staticmethod
    def copy(tensor):
        return tensor.clone()

    @staticmethod
    def transpose(tensor, axes=None):
        return tensor.permute(tuple(axes or range(tensor.ndim)[::-1]))

    @staticmethod
    def arange(start, stop=None, step=1, **context):
        bounds = (0, start) if stop is None else (start, stop)
        return lt.arange(*bounds, step, **context)

    @staticmethod
    def clip(tensor, a_min=None, a_max=None, inplace=False):
        return (tensor.clamp_ if inplace else tensor.clamp)(a_min, a_max)

    @staticmethod
    def norm(tensor, order=None, axis=None):
        if order == "inf":
            found = tensor.abs()
            return found.max() if axis is None else found.amax(dim=axis)
        order = 2 if order is None else order
        return tensor.norm(order) if axis is None else tensor.norm(order, dim=axis)

    @staticmethod
    def dot(a, b):
        if a.ndim == 0 or b.ndim == 0:
            return a * b
        if a.ndim > 2 and b.ndim > 2:  # NumPy's: the last axis by the last but one
            return lt.tensordot(a, b, dims=([-1], [-2]))
        return a @ b

    @staticmethod
    def tensordot(a, b, axes=2, **kwargs):
        return lt.tensordot(a, b, dims=axes, **kwargs)

    @staticmethod
    def max(tensor, axis=None):
        return tensor.max() if axis is None else tensor.amax(dim=axis)

    @staticmethod
    def flip(tensor, axis=None):
        axes = range(tensor.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return lt.flip(tensor, tuple(axes))

    @staticmethod
    def sort(tensor, axis):
        return tensor.flatten().sort().values if axis is None else tensor.sort(dim=axis).values

    @staticmethod
    def diag(tensor, k=0):
        return lt.diag(tensor, k)

    @staticmethod
    def sign(tensor):
        return lt.sgn(tensor) if tensor.is_complex() else tensor.sign()

    @staticmethod
    def logsumexp(tensor, axis=0):
        return tensor.logsumexp(dim=axis)

    @staticmethod
    def lstsq(a, b, rcond=None):
        found = lt.linalg.lstsq(a, b, rcond=rcond, driver="gelsd")
        return found[0], found[1]


AS_THEY_ARE = ["trace", "conj", "finfo", "log2", "digamma", "kron", "moveaxis"]
AS_THEY_ARE += [*backend_types, *backend_basic_math, *backend_array]
SAME_BY_NUMPY = "sum mean argmin argmax any all prod cumsum count_nonzero argsort stack"
BY_NUMPY = {n: n for n in SAME_BY_NUMPY.split()} | {"concatenate": "cat", "min": "amin"}

for name in AS_THEY_ARE:
    if not isinstance(vars(Backend).get(name), property) or hasattr(lt, name):
        value = named("Tensor.trace" if name == "trace" else name)
        setattr(LatheBackend, name, staticmethod(value) if callable(value) else value)
for name, path in BY_NUMPY.items():
    LatheBackend.register_method(name, by_numpy(path))
for name in ("solve", "qr", "svd", "eigh"):
    LatheBackend.register_method(name, named(f"linalg.{name}"))

if "lathe" not in BackendManager.available_backend_names:
    BackendManager.available_backend_names.append("lathe")


def select():
    """Sets TensorLy's backend, and the dtypes and numbers that its import had taken over."""
    tensorly.set_backend("lathe")
    for name in backend_types:
        if name in vars(tensorly) and hasattr(lt, name):
            setattr(tensorly, name, getattr(lt, name))
