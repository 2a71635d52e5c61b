"""Module: a callable object made of parameters, buffers and other modules.

There is no registry beside the object: vars(module) is the registry. A Parameter or Module that is
set as an attribute is part of the module because it is one of its attributes, so reading one costs
what reading any attribute costs, and a trace that reads `self.weight` sees just that path. So is a
module that was captured (`self.body = lathe.trace(module)`), under the same names as without. Only
buffers, which may be plain tensors, are named apart, in `_buffer_names`.
"""

from .. import _lathe, ops
from .._capturing import Captured
from .._errors import typed
from .._lathe import Tensor
from .module_hooks import Hooks
from .module_parts import (
    NEW_BUFFER,
    NO_BUFFER,
    Parts,
    part_changed,
    refuse_part,
    require_name,
    require_parameter,
)
from .module_state import State, StateDictError, module_of  # noqa: F401
from .parameter import Parameter, is_lazy


class Module(Hooks, State):
    """The base of all networks. A subclass sets its parts in __init__ and defines forward()."""

    training = True
    _buffer_names = {}  # name: kept in the state_dict; replaced by an own one with the first buffer

    @typed
    def __init__(self):
        self.training = True  # its own: an attribute that train() adds would be new to a trace

    def forward(self, *inputs):
        """What the module computes; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs, **named):
        if self._hooked:
            return self._call_hooked(inputs, named)
        return self.forward(*inputs, **named)

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
        self._checked_name(name, Parameter)
        if parameter is not None:
            require_parameter(self, name, parameter)
        setattr(self, name, parameter)

    def add_module(self, name, module):
        """The same as setting the attribute, for names that are no identifiers."""
        if module is not None and module_of(module) is None:
            raise _lathe.TypeError(
                "only modules can be parts of it", op="add_module", got=type(module).__name__,
                expected="nn.Module or None", next="set other values as plain attributes",
            )  # fmt: skip
        setattr(self, self._checked_name(name, (State, Captured)), module)

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
        object.__setattr__(self, self._checked_name(name, None), tensor)
        self._own("_buffer_names")[name] = persistent

    def __setattr__(self, name, value):
        part = part_changed(self, name, value)
        if part is not None:
            self._change_part(part, name, value)
        object.__setattr__(self, name, value)

    def _change_part(self, part, name, value):
        """Before an attribute is set: the names of buffers, or the error that says what it is."""
        if part == NEW_BUFFER:
            self._own("_buffer_names")[name] = value.persistent
        elif part == NO_BUFFER:
            del self._own("_buffer_names")[name]
        else:
            refuse_part(self, part, name, value)

    def _new_parameter(self, shape, kind):
        """A parameter that reset_parameters() gives its values; lazy modules have it later."""
        return Parameter(ops.zeros(shape, **kind))

    def _new_buffer(self, shape, kind):
        return ops.zeros(shape, **kind)

    def _checked_name(self, name, kinds=()):
        return require_name(self, name, kinds)

    def named_children(self):
        """(name, module) of each direct part; a module that appears twice is given once."""
        seen = set()
        for name, module in self._direct_modules():
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all inside it with their paths, each once unless
        remove_duplicate=False."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._direct_modules():
            inside = f"{prefix}.{name}" if prefix else name
            yield from module.named_modules(memo, inside, remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def _named_parts(self, pick, prefix, recurse, remove_duplicate):
        seen = set()
        modules = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, value in pick(module):
                if id(value) not in seen:
                    if remove_duplicate:
                        seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def _direct_parameters(self):
        return [(n, v) for n, v in vars(self).items() if isinstance(v, Parameter)]

    def _direct_buffers(self):
        mine = vars(self)
        return [(n, mine[n]) for n in self._buffer_names if mine.get(n) is not None]

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, parameter) of each parameter, each once, in the order in which they were set."""
        return self._named_parts(Module._direct_parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, tensor) of each buffer, each once."""
        return self._named_parts(Module._direct_buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    @property
    def _modules(self):
        """The direct parts by name. What is written to it is written to the module."""
        return Parts(self, self._direct_modules(), Module.add_module)

    @property
    def _parameters(self):
        return Parts(self, self._direct_parameters(), Module.register_parameter)

    @property
    def _buffers(self):
        return Parts(self, self._direct_buffers(), Module._put_buffer)

    def _put_buffer(self, name, tensor):
        self.register_buffer(name, tensor, self._buffer_names.get(name, True))

    def get_submodule(self, path):
        """The module at a dotted path; AttributeError names the step that fails."""
        module = self
        for name in path.split(".") if path else ():
            module = module_of(vars(module).get(name))
            if module is None:
                raise AttributeError(f"'{path}': there is no module '{name}'")
        return module

    def get_parameter(self, path):
        """The parameter at a dotted path."""
        owner, _, name = path.rpartition(".")
        value = vars(self.get_submodule(owner)).get(name)
        if not isinstance(value, Parameter):
            raise AttributeError(f"'{path}': there is no parameter '{name}'")
        return value

    def get_buffer(self, path):
        """The buffer at a dotted path."""
        owner, _, name = path.rpartition(".")
        module = self.get_submodule(owner)
        if name not in module._buffer_names or vars(module).get(name) is None:
            raise AttributeError(f"'{path}': there is no buffer '{name}'")
        return vars(module)[name]

    def set_submodule(self, path, module, strict=False):
        """Puts a module at a dotted path; strict: only where there is one."""
        owner, _, name = path.rpartition(".")
        parent = self.get_submodule(owner)
        if strict and module_of(vars(parent).get(name)) is None:
            raise AttributeError(f"'{path}': there is no module '{name}'")
        if module_of(module) is None:
            raise _lathe.ValueError(
                "only modules can be parts of it", op="set_submodule",
                got=type(module).__name__, expected="nn.Module",
                next="wrap functions in a Module of your own",
            )  # fmt: skip
        parent.__dict__[name] = module

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

        As Tensor.to: to(dtype), to(device), to(device, dtype), by position or name. memory_format:
        that of what has four axes or five, the weights of convolutions.
        """

        order = kwargs.pop("memory_format", None)  # of images and volumes only

        def convert(tensor):
            turned = order is not None and tensor.ndim in (4, 5)
            more = {"memory_format": order} if turned else {}
            moved = tensor.to(*args, **kwargs, **more)
            numbers = tensor.is_floating_point() or tensor.is_complex()
            if moved.dtype == tensor.dtype or numbers:
                return moved
            return tensor.to(device=moved.device)

        return self._apply(convert)

    def _apply(self, fn, recurse=True):
        """Puts fn(tensor) in the place of each parameter, its gradient and each buffer; of the
        modules inside first. What to() and its kin call, for subclasses to override."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        before = _lathe._set_grad_enabled(False)
        try:
            for _, tensor in self._direct_parameters():
                grad = tensor.grad
                tensor.data = fn(tensor)
                if grad is not None:
                    tensor.grad = fn(grad)
            # Others may hold a buffer: a constant that several modules share.
            for name, tensor in self._direct_buffers():
                changed = fn(tensor)
                if is_lazy(tensor):
                    tensor.data = changed
                elif changed is not tensor:
                    setattr(self, name, changed)
        finally:
            _lathe._set_grad_enabled(before)
        return self

    def type(self, dst_type):
        """All parameters and buffers in a dtype, integers too."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def to_empty(self, *, device, recurse=True):
        """Moves it to a device; the values do not count."""
        return self.to(device=device)

    def share_memory(self):
        """The module itself: memory is not shared between processes here."""
        return self

    def compile(self, *args, **kwargs):
        """hybridize(): forward() runs as a compiled program from now on."""
        return self.hybridize()

    def float(self):
        return self._floats_to(_lathe.float32)

    def double(self):
        return self._floats_to(_lathe.float64)

    def half(self):
        return self._floats_to(_lathe.float16)

    def bfloat16(self):
        return self._floats_to(_lathe.bfloat16)

    def _floats_to(self, dtype):
        """Complex tensors stay as they are, unlike in to(dtype)."""
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def cpu(self):
        return self.to(device="cpu")

    def cuda(self, device=None):
        """Moves all to a CUDA device; DeviceError, as Tensor.cuda, where there is none."""
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to(device="cuda" if device is None else device)

    # ── text ────────────────────────────────────────────────────────────────────────────────────

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What stands between the brackets of repr(); subclasses say their sizes."""
        return ""

    def __repr__(self):
        lines = self._lines_of_parts()
        inside = self.extra_repr()
        if not lines:
            return f"{self._get_name()}({inside})"
        lines = [inside, *lines] if inside else lines
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {body}\n)"

    def _lines_of_parts(self):
        return [f"({name}): {part!r}" for name, part in self._direct_modules()]

    def __dir__(self):
        return sorted({*super().__dir__(), *vars(self)})
