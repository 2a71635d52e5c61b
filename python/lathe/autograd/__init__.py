"""Gradients: grad and backward of several tensors, Functions with a derivative of their own, and
the test of a derivative by differences."""

from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._lathe import grad, is_grad_enabled
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .gradients import backward, detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from .tape import GradientTape, Variable

__all__ = [
    "Function", "FunctionCtx", "GradcheckError", "GradientTape", "Variable", "backward",
    "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad", "gradcheck",
    "gradgradcheck", "graph", "inference_mode", "is_anomaly_enabled", "is_grad_enabled", "no_grad",
    "once_differentiable",
    "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


def __getattr__(name):
    if name not in ("forward_ad", "functional", "graph"):
        raise AttributeError(f"module 'lathe.autograd' has no attribute '{name}'")
    import importlib

    return importlib.import_module(f".{name}", __name__)
