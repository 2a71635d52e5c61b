"""Lists and dicts of parameters that belong to the module that holds them."""

from collections import OrderedDict
from collections.abc import Mapping

from .. import _lathe
from .._errors import NoSuchKey, typed
from .._lathe import Tensor
from .module import Module
from .parameter import Parameter


def _kept(value):
    """A tensor becomes a parameter; anything else stays as it is."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _shown(name, value, kind_of_elements):
    if not isinstance(value, Tensor):
        return f"({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    return f"({name}): {kind} containing: [{kind_of_elements(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors that are put in become some."""

    @typed
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        self.extend(() if values is None else values)

    def _names(self):
        return [str(i) for i in range(self._size)]

    def _list(self):
        return [vars(self)[name] for name in self._names()]

    def _name(self, index):
        index = index.__index__()
        if not -self._size <= index < self._size:
            raise _lathe.IndexError(
                "there is no such parameter", op="ParameterList", got=index,
                expected=f"at least -{self._size} and below {self._size}", next="check the number",
            )  # fmt: skip
        return str(index % self._size)

    def append(self, value):
        """Adds one at the end; gives the list."""
        vars(self)[str(self._size)] = _kept(value)
        self._size += 1
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self._list()[index])
        return vars(self)[self._name(index)]

    def __setitem__(self, index, value):
        vars(self)[self._name(index)] = _kept(value)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self._list())

    def __iadd__(self, values):
        return self.extend(values)

    def __repr__(self):
        lines = [
            f"    {_shown(name, vars(self)[name], lambda v: v.dtype)}" for name in self._names()
        ]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"]) if lines else "ParameterList()"


class ParameterDict(Module):
    """A dict of parameters; tensors that are put in become some."""

    @typed
    def __init__(self, parameters=None):
        super().__init__()
        self._own_names = {}
        self.update({} if parameters is None else parameters)

    def __getitem__(self, key):
        if key not in self._own_names:
            raise NoSuchKey(
                "there is no parameter of this name", op="ParameterDict", got=repr(key),
                expected=f"one of: {', '.join(self._own_names)}", next="set it first",
            )  # fmt: skip
        return vars(self)[key]

    def __setitem__(self, key, value):
        if key not in self._own_names:
            self._checked_name(key)
        self._own_names[key] = None
        vars(self)[key] = _kept(value)

    def __delitem__(self, key):
        self[key]
        del self._own_names[key]
        del vars(self)[key]

    def __len__(self):
        return len(self._own_names)

    def __iter__(self):
        return iter(self._own_names)

    def __reversed__(self):
        return reversed(list(self._own_names))

    def __contains__(self, key):
        return key in self._own_names

    def keys(self):
        return self._own_names.keys()

    def values(self):
        return [vars(self)[key] for key in self._own_names]

    def items(self):
        return [(key, vars(self)[key]) for key in self._own_names]

    def get(self, key, default=None):
        return vars(self)[key] if key in self._own_names else default

    def setdefault(self, key, default=None):
        if key not in self._own_names:
            self[key] = default
        return self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = next(reversed(list(self._own_names)))
        return key, self.pop(key)

    def clear(self):
        for key in list(self._own_names):
            del self[key]

    def copy(self):
        return type(self)(self.items())

    def fromkeys(self, keys, default=None):
        return type(self)((key, default) for key in keys)

    def update(self, parameters):
        """A plain dict is taken in the order of its keys, as in PyTorch: state dicts and
        optimizers, which go by places, then fit both."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        plain = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(pairs) if plain else pairs:
            self[key] = value

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def __repr__(self):
        lines = [f"    {_shown(name, value, Tensor.type)}" for name, value in self.items()]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"]) if lines else "ParameterDict()"
