"""What may be set where a module has a part: the rules of parameters, buffers and modules.

A parameter is replaced by a parameter, a module by a module, a buffer by a tensor. None clears each
of them. The one question that every store asks is part_changed().
"""

from .. import _lathe
from .._capturing import unobserved
from .._errors import NameTaken
from .._lathe import Tensor
from .module_state import module_of
from .parameter import Buffer, Parameter

NEW_BUFFER, NO_BUFFER = "a new buffer", "no buffer any more"
_ORDINARY = frozenset({bool, int, float, str, tuple, list, dict, Tensor})
_EXPECTED = {
    "parameter": "nn.Parameter or None", "module": "nn.Module or None",
    "buffer": "a tensor or None",
}  # fmt: skip
_NEXT = {
    "parameter": "wrap the values: nn.Parameter(value); or write into it under no_grad(): "
    "{name}.copy_(value); or del the attribute first",
    "module": "wrap functions in a Module of your own, or del the attribute first",
    "buffer": "wrap the value: lathe.tensor(value), or del the attribute first",
}


_module_of = unobserved(module_of)  # for what runs unobserved itself


@unobserved  # a trace that stores an attribute is not to depend on what was there before
def part_changed(module, name, value):
    """None: setting the attribute does nothing to parts, or puts one in the place of its like.
    Else what it does to buffers, or the kind of the part that value cannot replace."""
    now = module.__dict__.get(name)
    ordinary = type(now) in _ORDINARY and type(value) in _ORDINARY
    if ordinary and (type(now) is not Tensor or type(value) is Tensor):
        return None  # most stores end here; a tensor may be a buffer
    if isinstance(value, Buffer):
        if isinstance(now, Parameter):
            return "parameter"
        return NEW_BUFFER if _module_of(now) is None else "module"
    if name in module._buffer_names:
        if isinstance(value, Parameter) or _module_of(value) is not None:
            return NO_BUFFER
        return None if value is None or isinstance(value, Tensor) else "buffer"
    if value is None or isinstance(value, Parameter):
        return None
    if isinstance(now, Parameter):
        return "parameter"
    replaced = _module_of(now) is not None and _module_of(value) is None
    return "module" if replaced else None


def refuse_part(module, part, name, value):
    """The TypeError for an attribute that is such a part, and is set to what cannot be one."""
    raise _lathe.TypeError(
        f"'{name}' is a {part} of the module, and the value is none", op=type(module).__name__,
        got=type(value).__name__, expected=_EXPECTED[part], next=_NEXT[part].format(name=name),
    )  # fmt: skip


def require_parameter(module, name, parameter):
    """register_parameter() takes a leaf that is a Parameter."""
    if not isinstance(parameter, Parameter):
        refuse_part(module, "parameter", name, parameter)
    if not parameter.is_leaf:
        raise _lathe.ValueError(
            f"the parameter '{name}' is the result of a computation", op=type(module).__name__,
            got="a tensor with a history", expected="a leaf",
            next="compute it in forward() from the parameters that it depends on",
        )  # fmt: skip


def require_name(module, name, kinds):
    """Gives the name if a part of these kinds (None: a buffer) can be registered under it: nothing
    else has it."""
    kind = type(module).__name__
    if not isinstance(name, str):
        raise _lathe.TypeError(
            "a part's name is a text", op=kind, got=repr(name), expected="a str",
            next="name the part by a text",
        )  # fmt: skip
    if not name or "." in name:
        raise NameTaken(
            "a part's name is a text without dots", op=kind, got=repr(name),
            expected="a text that is not empty", next="put _ in the place of the dots",
        )  # fmt: skip
    now, buffer = vars(module).get(name), name in module._buffer_names
    if buffer if kinds is None else now is not None and not buffer and isinstance(now, kinds):
        return name  # it is replaced by its like
    if now is None and not buffer and not hasattr(type(module), name):
        return name
    what = "a method" if callable(getattr(type(module), name, None)) else "an attribute"
    raise NameTaken(
        f"there is {what} of that name already", op=kind, got=repr(name),
        expected="a name that is free", next="choose another name, or del the attribute first",
    )  # fmt: skip


class Parts(dict):
    """Parts of a module by name: module._modules and its kin. What is written here is written to
    the module by put(module, name, value), as PyTorch's users replace a layer by
    model._modules["fc"] = nn.Identity(). A copy is a dict that belongs to nobody."""

    def __init__(self, module, parts, put):
        super().__init__(parts)
        self._module, self._put = module, put

    def __copy__(self):
        return dict(self)

    copy = __copy__

    def __deepcopy__(self, memo):
        from copy import deepcopy

        return deepcopy(dict(self), memo)

    def __reduce__(self):
        return dict, (dict(self),)

    def __setitem__(self, name, value):
        self._put(self._module, name, value)
        super().__setitem__(name, value)

    def __delitem__(self, name):
        super().__delitem__(name)
        delattr(self._module, name)

    def pop(self, name, *default):
        if name not in self:
            return super().pop(name, *default)
        value = self[name]
        del self[name]
        return value

    def popitem(self):
        name = next(reversed(self), None)
        return super().popitem() if name is None else (name, self.pop(name))

    def update(self, *parts, **named):
        for name, value in dict(*parts, **named).items():
            self[name] = value

    def setdefault(self, name, value=None):
        if name not in self:
            self[name] = value
        return self[name]

    def clear(self):
        for name in list(self):
            del self[name]

    def __ior__(self, parts):
        self.update(parts)
        return self
