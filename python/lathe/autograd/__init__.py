"""Gradients: grad and backward of several tensors, and the test of a derivative by differences."""

from .._grad_mode import enable_grad, no_grad, set_grad_enabled
from .._lathe import backward, grad, is_grad_enabled
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .tape import GradientTape, Variable

__all__ = [
    "Function", "FunctionCtx", "GradcheckError", "GradientTape", "Variable", "backward", "enable_grad", "grad", "gradcheck",
    "gradgradcheck", "is_grad_enabled", "no_grad", "once_differentiable", "set_grad_enabled",
]  # fmt: skip
