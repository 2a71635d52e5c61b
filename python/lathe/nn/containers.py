"""Modules that hold modules."""

from .. import _lathe
from .._errors import NoSuchKey, typed
from .module import Module, module_of


def _parts(container):
    """The modules of a container by name, in order; captured ones as what calls them."""
    return {
        n: v
        for n, v in vars(container).items()
        if isinstance(v, Module) or module_of(v) is not None
    }


def _no_part(name, parts):
    raise NoSuchKey(
        "there is no module of this name",
        op="ModuleDict",
        got=repr(name),
        expected=f"one of: {', '.join(parts)}" if parts else "nothing: it is empty",
        next="set it first: modules[name] = module",
    )


class _Numbered(Module):
    """Modules under the names "0", "1", ..."""

    def _list(self):
        return list(_parts(self).values())

    def _replace(self, modules):
        for name in _parts(self):
            del self.__dict__[name]
        for i, module in enumerate(modules):
            self._put(str(i), module)

    def _put(self, name, module):
        if module_of(module) is None:
            raise _lathe.TypeError(
                "only modules can be parts of it",
                op=type(self).__name__,
                got=type(module),
                expected="nn.Module",
                next="wrap functions in a Module of your own",
            )
        self.__dict__[name] = module

    def append(self, module):
        """Adds a module at the end; gives the container."""
        self._put(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        modules = self._list()
        modules.insert(index, module)
        self._replace(modules)
        return self

    def __len__(self):
        return len(_parts(self))

    def __iter__(self):
        return iter(self._list())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)._from_list(self._list()[index])
        return self._list()[index]

    def __setitem__(self, index, module):
        if isinstance(index, slice):
            modules = self._list()
            modules[index] = module
            self._replace(modules)
        else:  # under the name that is there
            self._put(list(_parts(self))[index], module)

    def __delitem__(self, index):
        modules = self._list()
        del modules[index]
        self._replace(modules)

    def pop(self, index):
        """Takes a module out; gives it."""
        module = self[index]
        del self[index]
        return module

    def __add__(self, other):
        return type(self)._from_list([*self._list(), *other])

    def __iadd__(self, other):
        return self.extend(other)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules called one after the other: Sequential(a, b) or Sequential({"name": a, ...})."""

    @typed
    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self._put(name, module)
        else:
            self.extend(modules)

    @classmethod
    def _from_list(cls, modules):
        return cls(*modules)

    def __getitem__(self, index):
        if isinstance(index, slice):  # each under the name that it has here
            return type(self)(dict(list(_parts(self).items())[index]))
        return super().__getitem__(index)

    def __mul__(self, times):
        """The same modules so many times over."""
        return self._from_list(self._repeated(times)) if isinstance(times, int) else NotImplemented

    __rmul__ = __mul__

    def __imul__(self, times):
        return self.extend(self._repeated(times)[len(self) :])

    def _repeated(self, times):
        if times < 1:
            raise _lathe.ValueError(
                "a sequence is repeated once at least", op=type(self).__name__, got=times,
                expected="1 or more", next="make an empty Sequential() for none",
            )  # fmt: skip
        return self._list() * times

    def forward(self, input):
        for module in self._list():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that belong to the one that holds it."""

    @typed
    def __init__(self, modules=None):
        super().__init__()
        self.extend(() if modules is None else modules)

    @classmethod
    def _from_list(cls, modules):
        return cls(modules)

    def _lines_of_parts(self):
        """Equal ones side by side are one line: a model has many of some."""
        groups = []
        for name, part in self._direct_modules():
            text = repr(part)
            if groups and groups[-1][1] == text:
                groups[-1][0].append(name)
            else:
                groups.append(([name], text))
        return [
            f"({n[0]}): {text}" if len(n) == 1 else f"({n[0]}-{n[-1]}): {len(n)} x {text}"
            for n, text in groups
        ]


class ModuleDict(Module):
    """A dictionary of modules that belong to the one that holds it."""

    @typed
    def __init__(self, modules=None):
        super().__init__()
        self.update(() if modules is None else modules)

    def update(self, modules):
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module

    def __setitem__(self, name, module):
        if module_of(module) is None:
            raise _lathe.TypeError(
                "only modules can be parts of it",
                op="ModuleDict",
                got=type(module),
                expected="nn.Module",
                next="wrap functions in a Module of your own",
            )
        if name not in _parts(self):
            self._checked_name(name)
        self.__dict__[name] = module

    def __getitem__(self, name):
        parts = _parts(self)
        return parts[name] if name in parts else _no_part(name, parts)

    def __delitem__(self, name):
        if name not in _parts(self):
            _no_part(name, _parts(self))
        del self.__dict__[name]

    def __len__(self):
        return len(_parts(self))

    def __iter__(self):
        return iter(_parts(self))

    def __contains__(self, name):
        return name in _parts(self)

    def clear(self):
        for name in _parts(self):
            del self.__dict__[name]

    def pop(self, name):
        """Takes a module out; gives it."""
        module = self[name]
        del self[name]
        return module

    def keys(self):
        return _parts(self).keys()

    def values(self):
        return _parts(self).values()

    def items(self):
        return _parts(self).items()


class DataParallel(Module):
    """The module as it is, under the name `module`: a batch is spread over the threads of the one
    device there is. DeviceError for ids of other devices."""

    @typed
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids or output_device is not None:
            raise _lathe.DeviceError(
                "there are no devices with numbers", op="DataParallel",
                got=f"device_ids={device_ids}, output_device={output_device}", expected="None",
                next="leave both out",
            )  # fmt: skip
        self.module, self.dim = module, dim

    def forward(self, *inputs, **named):
        return self.module(*inputs, **named)
