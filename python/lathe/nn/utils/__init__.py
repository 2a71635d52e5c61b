"""Helpers around modules: limits on gradients, packed sequences, parametrizations."""

from .clip import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "get_total_norm", "parameters_to_vector", "parametrizations", "parametrize", "prune",
    "remove_spectral_norm",
    "remove_weight_norm", "rnn", "skip_init", "spectral_norm", "stateless", "vector_to_parameters",
    "weight_norm",
]  # fmt: skip

_PARTS = ("fusion", "memory_format", "parametrizations", "parametrize", "prune", "rnn", "stateless")
_FROM = dict.fromkeys(
    ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"), "norms"
)
_CONVERT = ("convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format")
_FROM |= dict.fromkeys(_CONVERT, "memory_format")
_FUSE = (
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
)  # fmt: skip
_FROM |= dict.fromkeys(_FUSE, "fusion")


def __getattr__(name):
    import importlib

    if name in _PARTS:
        return importlib.import_module(f".{name}", __name__)
    if name in _FROM:
        return getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
    raise AttributeError(f"module 'lathe.nn.utils' has no attribute '{name}'")


def skip_init(module_cls, *args, **kwargs):
    """A module whose starting values do not count."""
    return module_cls(*args, **kwargs)
