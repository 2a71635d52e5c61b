"""state_dict and load_state_dict: a module's parameters and persistent buffers by path.

Each module writes and reads its own part (`_save_to_state_dict`, `_load_from_state_dict`), which a
subclass may replace, as it may keep more than tensors (`get_extra_state`). What is loaded is looked
at as a whole before anything is written.
"""

from collections import OrderedDict, namedtuple

from .. import _lathe
from .._capturing import Captured
from .module_hooks import Hook
from .parameter import Parameter, is_lazy

_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that load_state_dict did not find, and those that it did not use."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


def module_of(value):
    """The module that an attribute's value is, or was captured of (lathe.trace, lathe.script);
    None: it is neither."""
    while isinstance(value, Captured):
        value = value._function
    return value if isinstance(value, State) else None


class StateDictError(_lathe.Error, RuntimeError, ValueError):
    """A state_dict does not fit the module; the text lists every name that does not."""


class State:
    """The part of Module that is about its state."""

    _version = 1
    _state_pre_hooks = {}
    _state_hooks = {}
    _state_load_pre_hooks = {}
    _state_load_hooks = {}

    def register_state_dict_pre_hook(self, hook):
        """hook(module, prefix, keep_vars) before the module's own part is written."""
        return self._add_hook("_state_pre_hooks", Hook(hook))

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata) after it and its children were."""
        return self._add_hook("_state_hooks", Hook(hook))

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs) before the module's own part is read; it may change state_dict."""
        return self._add_hook("_state_load_pre_hooks", Hook(hook))

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        if not with_module:
            return self._add_hook("_state_load_pre_hooks", Hook(lambda _, *args: hook(*args)))
        return self.register_load_state_dict_pre_hook(hook)

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys) after all have read; it may change the lists of keys, and
        strict=True looks at them afterwards."""
        return self._add_hook("_state_load_hooks", Hook(hook))

    def get_extra_state(self):
        """What the module keeps beside tensors; a subclass that defines it has it in
        state_dict()."""
        raise NotImplementedError

    def set_extra_state(self, state):
        """Takes over what get_extra_state() gave."""
        raise NotImplementedError

    def _keeps_more(self):
        return type(self).get_extra_state is not State.get_extra_state

    def _direct_modules(self):
        """(name, module) of each direct part. What was captured of the module itself is none."""
        found = [(n, v, module_of(v)) for n, v in vars(self).items()]
        return [(n, m) for n, v, m in found if m is not None and (m is not self or v is m)]

    def _state_parts(self):
        """(name, tensor) of what the module itself keeps."""
        yield from self._direct_parameters()
        for name, buffer in self._direct_buffers():
            if self._buffer_names[name]:
                yield name, buffer

    # ── writing ─────────────────────────────────────────────────────────────────────────────────

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Writes the module's own part, without its children's."""
        for name, tensor in self._state_parts():
            whole = keep_vars or is_lazy(tensor)
            destination[prefix + name] = tensor if whole else tensor.detach()
        if self._keeps_more():
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by path. The tensors share the module's memory.

        keep_vars: the parameters themselves, with their history. `_metadata` of the result holds a
        version for each module, as PyTorch's does.
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args))
        destination = given.get("destination", destination)
        prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in tuple(self._state_pre_hooks.values()):
            hook.function(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._direct_modules():
            module.state_dict(
                destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
        for hook in tuple(self._state_hooks.values()):
            changed = hook.function(self, destination, prefix, metadata)
            destination = destination if changed is None else changed
        return destination

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies a state_dict's values into this module.

        strict=True: names must be just those of state_dict(). Gives the names in a named tuple
        (missing_keys, unexpected_keys).
        assign=True: takes the tensors themselves instead, with their dtypes and devices.
        StateDictError lists all names that do not fit; nothing is changed then, unless there are
        hooks after loading: they see what was read, and may have names not count.
        """
        if not hasattr(state_dict, "items"):
            raise _lathe.TypeError(
                "a state_dict is a dict of tensors by name", op="load_state_dict",
                got=type(state_dict).__name__, expected="what state_dict() gave",
                next="load it from its file first",
            )  # fmt: skip
        given = OrderedDict(state_dict)
        loading = _Loading(getattr(state_dict, "_metadata", {}), strict, assign)
        loading.read(self, given, "")
        if not loading.hooked() or loading.problems:
            loading.require(self, strict)
        loading.write()
        loading.require(self, strict)
        return loading.keys

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Takes the module's own part, without its children's: names what does not fit in the three
        lists, and leaves what does to be written at the end."""
        for hook in tuple(self._state_load_pre_hooks.values()):
            hook.function(
                self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        loading = local_metadata.get("_loading") or _Loading({}, strict, False)
        own = dict(self._state_parts())
        for name, tensor in own.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
            elif (problem := _misfit(key, state_dict[key], tensor)) is not None:
                error_msgs.append(problem)
            else:
                loading.found.append((self, name, tensor, state_dict[key]))
        if self._keeps_more():
            own[_EXTRA] = None
            if prefix + _EXTRA not in state_dict:
                missing_keys.append(prefix + _EXTRA)
            else:
                loading.more.append((self, state_dict[prefix + _EXTRA]))
        for key in state_dict:
            rest = key[len(prefix) :]
            first = rest.split(".", 1)[0]
            if key.startswith(prefix) and rest not in own:
                inside = "." in rest and module_of(vars(self).get(first)) is not None
                if not inside and key not in unexpected_keys:
                    unexpected_keys.append(key)
        if not local_metadata.get("_loading"):
            loading.write()


def _misfit(key, given, own):
    if not isinstance(given, _lathe.Tensor):
        return f"{key}: the state_dict has a {type(given).__name__}, the module a tensor"
    if is_lazy(given):
        return None if is_lazy(own) else f"{key}: the state_dict has a tensor without a shape"
    if is_lazy(own) or tuple(given.shape) == tuple(own.shape):
        return None
    return (
        f"size mismatch for {key}: the state_dict has {tuple(given.shape)}, "
        f"the module has {tuple(own.shape)}"
    )


class _Loading:
    """One load_state_dict under way."""

    def __init__(self, metadata, strict, assign):
        self._metadata, self._strict, self._assign = metadata, strict, assign
        self.missing, self.unexpected, self.problems = [], [], []
        self.keys = _IncompatibleKeys(self.missing, self.unexpected)
        self.found, self.more, self._after = [], [], []

    def read(self, module, state_dict, prefix):
        metadata = {**self._metadata.get(prefix[:-1], {}), "_loading": self}
        if self._assign:
            metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state_dict, prefix, metadata, True, self.missing, self.unexpected, self.problems
        )
        for name, part in module._direct_modules():
            inside = f"{prefix}{name}."
            own = OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(inside))
            self.read(part, own, inside)
        self._after.append(module)

    def hooked(self):
        """Is there a hook that may change the lists of keys?"""
        return any(module._state_load_hooks for module in self._after)

    def require(self, module, strict):
        """Refuses names that do not fit."""
        problems = list(self.problems)
        if strict and self.unexpected:
            problems.insert(0, "Unexpected key(s) in state_dict: " + _quoted(self.unexpected))
        if strict and self.missing:
            problems.insert(0, "Missing key(s) in state_dict: " + _quoted(self.missing))
        if problems:
            name = type(module).__name__
            raise StateDictError(
                f"Error(s) in loading state_dict for {name}:\n\t" + "\n\t".join(problems)
            )

    def write(self):
        before = _lathe._set_grad_enabled(False)
        try:
            for module, name, own, given in self.found:
                if self._assign:
                    _take(module, name, own, given)
                elif not is_lazy(given):
                    if is_lazy(own):
                        own.materialize(given.shape)
                    own.copy_(given)
            for module, state in self.more:
                module.set_extra_state(state)
        finally:
            _lathe._set_grad_enabled(before)
        for module in self._after:
            for hook in tuple(module._state_load_hooks.values()):
                hook.function(module, self.keys)


def _take(module, name, own, given):
    if isinstance(own, Parameter) and not isinstance(given, Parameter):
        given = Parameter(given.detach(), own.requires_grad)
    module.__dict__[name] = given


def _quoted(names):
    return ", ".join(f'"{n}"' for n in names) + "."
