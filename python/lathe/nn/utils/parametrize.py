"""Parametrizations: a parameter that is computed from another one, each time it is read.

The module's class becomes a subclass of its own, in which the parameter's name is a property. What
it
is computed from are parameters `parametrizations.<name>.original` (or original0, original1, ...).
"""

from ... import _lathe
from ..._errors import typed
from ..._lathe import Tensor
from ..containers import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip

_cache = None  # of values in a cached() block: by (id of the module, name)
_cached_blocks = 0


class cached:
    """A block in which each parametrized tensor is computed once."""

    @typed
    def __init__(self):
        pass

    def __enter__(self):
        global _cache, _cached_blocks
        _cached_blocks += 1
        if _cache is None:
            _cache = {}

    def __exit__(self, *_):
        global _cache, _cached_blocks
        _cached_blocks -= 1
        if not _cached_blocks:
            _cache = None


def _keep(tensor, like):
    """A tensor as a parameter, or as it is, as the one it stands for was."""
    if isinstance(like, Parameter):
        return Parameter(tensor.detach(), like.requires_grad)
    return tensor.detach()


def _made_of(module, value):
    """What gives the value; the value itself where a parametrization knows of no way back."""
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what it is computed from."""

    @typed
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        before = _lathe._set_grad_enabled(False)
        try:
            for module in reversed(self._list()):
                if hasattr(module, "right_inverse"):
                    value = _made_of(module, value)
        finally:
            _lathe._set_grad_enabled(before)
        self.is_tensor = isinstance(value, Tensor)
        values = [value] if self.is_tensor else list(value)
        self.ntensors = len(values)
        for name, tensor in zip(self._names(), values):
            kept = original if tensor is original else _keep(tensor, original)
            if isinstance(original, Parameter):
                self.__dict__[name] = kept
            else:
                self.register_buffer(name, kept)

    def _names(self):
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def _originals(self):
        return [vars(self)[name] for name in self._names()]

    def right_inverse(self, value):
        """Writes what gives this value over what it is computed from."""
        before = _lathe._set_grad_enabled(False)
        try:
            for module in reversed(self._list()):
                if not hasattr(module, "right_inverse"):
                    raise _lathe.UnsupportedError(
                        "a parametrized tensor cannot be set: there is no way back",
                        op=type(module).__name__, got="no right_inverse()",
                        expected="a method right_inverse(value)", next="define it",
                    )  # fmt: skip
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else list(value)
            for own, given in zip(self._originals(), values):
                own.copy_(given)
        finally:
            _lathe._set_grad_enabled(before)

    def forward(self):
        modules = self._list()
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def _property(name):
    def get(self):
        if _cache is None:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


@typed
def is_parametrized(module, tensor_name=None):
    """Whether a module has parametrizations, or one for this tensor."""
    found = vars(module).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


@typed
def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on, module.<tensor_name> is parametrization(what was there).

    Where it has right_inverse(value), what is computed from starts as that of the value that was
    there, and the tensor may be assigned to. A second one is applied to what the first gives.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        there = module.parametrizations[tensor_name]
        value = getattr(module, tensor_name)
        there.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            there.right_inverse(value.detach())
        return module
    original = vars(module).get(tensor_name)
    if not isinstance(original, Tensor):
        raise _lathe.ValueError(
            "there is no such parameter or buffer", op="register_parametrization",
            got=repr(tensor_name), expected=f"a tensor of {type(module).__name__}",
            next="named_parameters() lists them",
        )  # fmt: skip
    found = ParametrizationList([parametrization], original, unsafe).train(module.training)
    _check(module, tensor_name, found, original, unsafe)
    if not isinstance(vars(module).get("parametrizations"), ModuleDict):
        cls = type(module)
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), {"_parametrized": cls})
        module.__dict__["parametrizations"] = ModuleDict().train(module.training)
    del module.__dict__[tensor_name]
    module._buffer_names = {n: k for n, k in module._buffer_names.items() if n != tensor_name}
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations.__dict__[tensor_name] = found
    return module


def _check(module, name, found, original, unsafe):
    if unsafe:
        return
    before = _lathe._set_grad_enabled(False)
    try:
        value = found()
    finally:
        _lathe._set_grad_enabled(before)
    if tuple(value.shape) != tuple(original.shape) or value.dtype != original.dtype:
        raise _lathe.ValueError(
            "the parametrization gives another shape or dtype", op="register_parametrization",
            got=f"{value.dtype} {list(value.shape)}", next="pass unsafe=True if that is meant",
            expected=f"{original.dtype} {list(original.shape)} of {type(module).__name__}.{name}",
        )  # fmt: skip


@typed
def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes module.<tensor_name> a tensor again: the value it has now, or
    (leave_parametrized=False) the one that it is computed from."""
    if not is_parametrized(module, tensor_name):
        raise _lathe.ValueError(
            "this tensor has no parametrization", op="remove_parametrizations",
            got=repr(tensor_name), expected="a name that register_parametrization() was given",
            next="is_parametrized() says which are",
        )  # fmt: skip
    found = module.parametrizations[tensor_name]
    originals = found._originals()
    if leave_parametrized:
        value = getattr(module, tensor_name).detach()
    elif found.is_tensor:
        value = originals[0]
    else:
        raise _lathe.ValueError(
            "the tensor is computed from several", op="remove_parametrizations",
            got="leave_parametrized=False", expected="leave_parametrized=True",
            next="keep the value that it has",
        )  # fmt: skip
    is_parameter = isinstance(originals[0], Parameter)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if is_parameter:
        module.__dict__[tensor_name] = (
            value if isinstance(value, Parameter) else Parameter(value, originals[0].requires_grad)
        )
    else:
        module.register_buffer(tensor_name, value)
    if not len(module.parametrizations):
        del module.__dict__["parametrizations"]
        module.__class__ = type(module)._parametrized
    return module


@typed
def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives one module the parametrizations of another, or those of one tensor, with their
    values."""
    names = [tensor_name] if tensor_name is not None else list(from_module.parametrizations.keys())
    for name in names:
        found = from_module.parametrizations[name]
        if not is_parametrized(to_module, name):
            register_parametrization(to_module, name, found[0], unsafe=True)
            for more in found._list()[1:]:
                register_parametrization(to_module, name, more, unsafe=True)
        before = _lathe._set_grad_enabled(False)
        try:
            for own, other in zip(
                to_module.parametrizations[name]._originals(), found._originals()
            ):
                own.copy_(other)
        finally:
            _lathe._set_grad_enabled(before)
    return to_module


@typed
def type_before_parametrizations(module):
    """The class of a module, whether it is parametrized or not."""
    return getattr(type(module), "_parametrized", type(module))
