"""Module: a callable object made of parameters, buffers and other modules.

There is no registry beside the object: vars(module) is the registry. A Parameter or Module that is
set as an attribute is part of the module because it is one of its attributes, so reading one costs
what reading any attribute costs, and a trace that reads `self.weight` sees just that path. Only
buffers, which are plain tensors, are named apart, in `_buffer_names`.
"""

from collections import namedtuple

from .. import _lathe
from .._errors import typed
from .._lathe import Tensor
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that load_state_dict did not find, and those that it did not use."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class StateDictError(_lathe.Error, RuntimeError, ValueError):
    """A state_dict does not fit the module; the text lists every name that does not."""


class HookHandle:
    """remove() takes the hook away."""

    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        self._hooks.pop(self._key, None)


class Module:
    """The base of all networks. A subclass sets its parts in __init__ and defines forward()."""

    training = True
    _buffer_names = {}  # name: kept in the state_dict; replaced by an own one with the first buffer
    _forward_hooks = {}
    _forward_pre_hooks = {}

    @typed
    def __init__(self):
        pass

    def forward(self, *inputs):
        """What the module computes; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs, **named):
        if self._forward_pre_hooks:
            for hook in tuple(self._forward_pre_hooks.values()):
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        output = self.forward(*inputs, **named)
        if self._forward_hooks:
            for hook in tuple(self._forward_hooks.values()):
                changed = hook(self, inputs, output)
                if changed is not None:
                    output = changed
        return output

    def hybridize(self, on=True):
        """Makes forward() run as a compiled program, in place; hybridize(False) undoes that."""
        from ..jit import trace

        if on:
            self.__dict__["forward"] = trace(type(self).forward.__get__(self))
        else:
            self.__dict__.pop("forward", None)
        return self

    # ── parts ───────────────────────────────────────────────────────────────────────────────────

    def register_parameter(self, name, parameter):
        """The same as setting the attribute; None says that there could be one."""
        setattr(self, self._checked_name(name), parameter)

    def add_module(self, name, module):
        """The same as setting the attribute, for names that are no identifiers."""
        setattr(self, self._checked_name(name), module)

    register_module = add_module

    def register_buffer(self, name, tensor, persistent=True):
        """A tensor that belongs to the state but is not trained; None: not yet there.

        persistent=False keeps it out of the state_dict.
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise _lathe.TypeError(
                "a buffer is a tensor",
                op="register_buffer",
                got=type(tensor),
                expected="a tensor or None",
                next="set other values as plain attributes",
            )
        self._own("_buffer_names")[self._checked_name(name)] = persistent
        setattr(self, name, tensor)

    def _checked_name(self, name):
        if not isinstance(name, str) or not name or "." in name:
            raise _lathe.ValueError(
                "a part's name is a text without dots", op=type(self).__name__, got=repr(name)
            )
        if hasattr(type(self), name):
            raise _lathe.ValueError(
                "there is a method of that name", op=type(self).__name__, got=name
            )
        return name

    def _own(self, name):
        """The instance's own dictionary in place of the class's empty one."""
        if name not in self.__dict__:
            self.__dict__[name] = {}
        return self.__dict__[name]

    def named_children(self):
        """(name, module) of each direct part; a module that appears twice is given once."""
        seen = set()
        for name, value in tuple(vars(self).items()):
            if isinstance(value, Module) and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix=""):
        """This module and all inside it, each once, with its path."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, value in tuple(vars(self).items()):
            if isinstance(value, Module):
                yield from value.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def _named_parts(self, pick, prefix, recurse):
        seen = set()
        modules = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in pick(module):
                if id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def _direct_parameters(self):
        return [(n, v) for n, v in vars(self).items() if isinstance(v, Parameter)]

    def _direct_buffers(self):
        mine = vars(self)
        return [(n, mine[n]) for n in self._buffer_names if mine.get(n) is not None]

    def named_parameters(self, prefix="", recurse=True):
        """(path, parameter) of each parameter, each once, in the order in which they were set."""
        return self._named_parts(Module._direct_parameters, prefix, recurse)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True):
        """(path, tensor) of each buffer, each once."""
        return self._named_parts(Module._direct_buffers, prefix, recurse)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, path):
        """The module at a dotted path; AttributeError names the step that fails."""
        module = self
        for name in path.split(".") if path else ():
            module = vars(module).get(name)
            if not isinstance(module, Module):
                raise AttributeError(f"'{path}': there is no module '{name}'")
        return module

    def get_parameter(self, path):
        """The parameter at a dotted path."""
        owner, _, name = path.rpartition(".")
        value = vars(self.get_submodule(owner)).get(name)
        if not isinstance(value, Parameter):
            raise AttributeError(f"'{path}': there is no parameter '{name}'")
        return value

    # ── state ───────────────────────────────────────────────────────────────────────────────────

    def _state_parts(self, module):
        """(name, tensor) of what a module itself keeps."""
        yield from module._direct_parameters()
        for name, buffer in module._direct_buffers():
            if module._buffer_names[name]:
                yield name, buffer

    def state_dict(self, prefix=""):
        """All parameters and persistent buffers by path. The tensors share the module's memory."""
        state = {}
        for path, module in self._all_paths(prefix):
            for name, tensor in self._state_parts(module):
                state[path + name] = tensor.detach()
        return state

    def _all_paths(self, prefix):
        """Every path to every module: a shared one appears under each of its names."""
        yield prefix, self
        for name, value in tuple(vars(self).items()):
            if isinstance(value, Module):
                yield from value._all_paths(f"{prefix}{name}.")

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies a state_dict's values into this module.

        strict=True: names must be just those of state_dict(). Gives the names in a named tuple
        (missing_keys, unexpected_keys).
        assign=True: takes the tensors themselves instead, with their dtypes and devices.
        StateDictError lists all names that do not fit; nothing is changed then.
        """
        own = {}
        for path, module in self._all_paths(""):
            for name, tensor in self._state_parts(module):
                own[path + name] = tensor
        missing = [k for k in own if k not in state_dict]
        unexpected = [k for k in state_dict if k not in own]
        problems = []
        if strict and missing:
            problems.append("Missing key(s) in state_dict: " + _quoted(missing))
        if strict and unexpected:
            problems.append("Unexpected key(s) in state_dict: " + _quoted(unexpected))
        for key, tensor in own.items():
            given = state_dict.get(key)
            if given is not None and tuple(given.shape) != tuple(tensor.shape):
                problems.append(
                    f"size mismatch for {key}: the state_dict has {tuple(given.shape)}, "
                    f"the module has {tuple(tensor.shape)}"
                )
        if problems:
            name = type(self).__name__
            raise StateDictError(
                f"Error(s) in loading state_dict for {name}:\n\t" + "\n\t".join(problems)
            )
        if assign:
            self._assign_state(state_dict)
            return _IncompatibleKeys(missing, unexpected)
        before = _lathe._set_grad_enabled(False)
        try:
            for key, tensor in own.items():
                if key in state_dict:
                    tensor.copy_(state_dict[key])
        finally:
            _lathe._set_grad_enabled(before)
        return _IncompatibleKeys(missing, unexpected)

    def _assign_state(self, state_dict):
        for path, module in self._all_paths(""):
            for name, mine in tuple(self._state_parts(module)):
                given = state_dict.get(path + name)
                if given is None:
                    continue
                if isinstance(mine, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given.detach(), mine.requires_grad)
                module.__dict__[name] = given

    # ── modes and moves ─────────────────────────────────────────────────────────────────────────

    def train(self, mode=True):
        """Training mode for this module and all inside: dropout drops, batch norm measures."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self):
        """The mode to use the module in, rather than train it."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether the parameters are to be trained."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets all gradients."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else parameter.grad.detach() * 0

    def apply(self, function):
        """Calls function with every module inside, then this one; gives this one."""
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def to(self, *args, **kwargs):
        """Converts parameters and floating buffers to a dtype, or moves all to a device, in place.

        As Tensor.to: to(dtype), to(device), to(device, dtype), by position or name.
        """

        def convert(tensor):
            moved = tensor.to(*args, **kwargs)
            if moved.dtype == tensor.dtype or tensor.is_floating_point():
                return moved
            return tensor.to(device=moved.device)

        return self._convert(convert)

    def _convert(self, function):
        before = _lathe._set_grad_enabled(False)
        try:
            for tensor in (*self.parameters(), *self.buffers()):
                grad = tensor.grad
                tensor.data = function(tensor)
                if grad is not None:
                    tensor.grad = function(grad)
        finally:
            _lathe._set_grad_enabled(before)
        return self

    def float(self):
        return self.to(_lathe.float32)

    def double(self):
        return self.to(_lathe.float64)

    def half(self):
        return self.to(_lathe.float16)

    def bfloat16(self):
        return self.to(_lathe.bfloat16)

    def cpu(self):
        return self.to(device="cpu")

    # ── hooks ───────────────────────────────────────────────────────────────────────────────────

    def register_forward_pre_hook(self, hook):
        """hook(module, inputs) before each call; what it gives replaces the inputs."""
        return self._add_hook("_forward_pre_hooks", hook)

    def register_forward_hook(self, hook):
        """hook(module, inputs, output) after each call; what it gives replaces the output."""
        return self._add_hook("_forward_hooks", hook)

    def _add_hook(self, kind, hook):
        hooks = self._own(kind)
        key = max(hooks, default=-1) + 1
        hooks[key] = hook
        return HookHandle(hooks, key)

    # ── text ────────────────────────────────────────────────────────────────────────────────────

    def extra_repr(self):
        """What stands between the brackets of repr(); subclasses say their sizes."""
        return ""

    def __repr__(self):
        parts = [(n, v) for n, v in vars(self).items() if isinstance(v, Module)]
        inside = self.extra_repr()
        if not parts:
            return f"{type(self).__name__}({inside})"
        lines = [inside] if inside else []
        lines += [f"({name}): {part!r}" for name, part in parts]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {body}\n)"

    def __dir__(self):
        return sorted({*super().__dir__(), *vars(self)})


def _quoted(names):
    return ", ".join(f'"{n}"' for n in names) + "."
