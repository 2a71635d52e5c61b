"""opt_einsum over our tensors: what `contract(..., backend="lathe.compat.opt_einsum")` calls.

opt_einsum takes its three functions from the module that the backend's name names, by NumPy's
arguments. Importing this module makes it the one that is taken for tensors of ours.
"""

from opt_einsum.backends import dispatch

import lathe as lt


def tensordot(a, b, axes=2):
    return lt.tensordot(a, b, dims=axes)


def transpose(a, axes):
    return a.permute(tuple(axes))


def einsum(equation, *operands):
    return lt.einsum(equation, *operands)


for function in (tensordot, transpose, einsum):
    dispatch._cached_funcs[function.__name__, "lathe"] = function
