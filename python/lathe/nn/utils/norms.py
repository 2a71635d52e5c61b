"""PyTorch's older weight_norm and spectral_norm, which keep their parameters beside the weight: a
hook computes it before each call."""

from ... import _lathe, ops
from ..._errors import typed
from ..parameter import Parameter
from .parametrizations import norm_except, unit


def _hooked(module, name, kind):
    for key, hook in tuple(module._forward_pre_hooks.items()):
        if isinstance(hook.function, kind) and hook.function.name == name:
            return key, hook.function
    raise _lathe.ValueError(
        f"there is no {kind.title} on '{name}'", op=f"remove_{kind.title}",
        got=type(module).__name__, expected=f"a module that {kind.title}() was given",
        next="check the name of the parameter",
    )  # fmt: skip


class _Computed:
    """A hook that sets module.<name> to what it is computed from."""

    def __init__(self, name):
        self.name = name

    def __call__(self, module, inputs):
        module.__dict__[self.name] = self.compute(module)

    def start(self, module, parts, buffers=()):
        del module.__dict__[self.name]
        for part, value in parts.items():
            module.register_parameter(self.name + part, Parameter(value.detach()))
        for part, value in dict(buffers).items():
            module.register_buffer(self.name + part, value)
        module.__dict__[self.name] = self.compute(module)
        module.register_forward_pre_hook(self)

    def remove(self, module, key, parts):
        value = self.compute(module).detach()
        for part in parts:
            module.__dict__.pop(self.name + part, None)
            if self.name + part in module._buffer_names:
                del module._buffer_names[self.name + part]
        del module._forward_pre_hooks[key]
        module.__dict__[self.name] = Parameter(value)
        return module


class _WeightNorm(_Computed):
    title = "weight_norm"

    def __init__(self, name, dim):
        super().__init__(name)
        self.dim = dim

    def compute(self, module):
        g, v = vars(module)[self.name + "_g"], vars(module)[self.name + "_v"]
        return v * (g / norm_except(v, self.dim))


@typed
def weight_norm(module, name="weight", dim=0):
    """A weight as `<name>_g`, a length for each slice along dim, and `<name>_v`, a direction."""
    weight = vars(module)[name]
    _WeightNorm(name, dim).start(
        module, {"_g": norm_except(weight.detach(), dim), "_v": weight.detach()}
    )
    return module


@typed
def remove_weight_norm(module, name="weight"):
    """Makes the weight a parameter again."""
    key, hook = _hooked(module, name, _WeightNorm)
    return hook.remove(module, key, ("_g", "_v"))


class _SpectralNorm(_Computed):
    title = "spectral_norm"

    def __init__(self, name, rounds, dim, eps):
        super().__init__(name)
        self.rounds, self.dim, self.eps = rounds, dim, eps

    def matrix(self, weight):
        if self.dim != 0:
            order = [self.dim, *(k for k in range(weight.ndim) if k != self.dim)]
            weight = ops.permute(weight, order)
        return ops.reshape(weight, [weight.shape[0], -1])

    def compute(self, module):
        own = vars(module)
        weight, u, v = (own[self.name + part] for part in ("_orig", "_u", "_v"))
        matrix = self.matrix(weight)
        if module.training:
            before = _lathe._set_grad_enabled(False)
            try:
                for _ in range(self.rounds):
                    v.copy_(unit(ops.matmul(matrix.T, u), self.eps))
                    u.copy_(unit(ops.matmul(matrix, v), self.eps))
            finally:
                _lathe._set_grad_enabled(before)
            u, v = u.clone(), v.clone()
        return weight / ops.sum(u * ops.matmul(matrix, v))


@typed
def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A weight divided by its largest singular value: `<name>_orig`, with `<name>_u` and `<name>_v`
    that follow the singular vectors in training."""
    if dim is None:
        dim = 1 if "Transpose" in type(module).__name__ else 0
    weight = vars(module)[name]
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    rows, columns = hook.matrix(weight.detach()).shape
    kind = {"dtype": weight.dtype, "device": weight.device}
    u = unit(ops.randn(rows, **kind), eps)
    v = unit(ops.randn(columns, **kind), eps)
    hook.start(module, {"_orig": weight}, {"_u": u, "_v": v})
    return module


@typed
def remove_spectral_norm(module, name="weight"):
    """Makes the weight a parameter again."""
    key, hook = _hooked(module, name, _SpectralNorm)
    return hook.remove(module, key, ("_orig", "_u", "_v"))
