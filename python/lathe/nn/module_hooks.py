"""Hooks: functions of a program that a module calls around forward() and backward().

They are kept in dictionaries of the instance, made with the first one, so that a module without
hooks pays for one question a call.
"""

from .. import _lathe


class HookHandle:
    """remove() takes the hook away; so does the end of a block that it is entered in."""

    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        self._hooks.pop(self._key, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Hook:
    """A function, and how it wants to be called."""

    def __init__(self, function, with_kwargs=False, always=False):
        self.function, self.with_kwargs, self.always = function, with_kwargs, always


# Those of all modules, by kind: called before a module's own.
_OF_ALL = {
    "_forward_hooks": {}, "_forward_pre_hooks": {}, "_backward_hooks": {}, "_backward_pre_hooks": {}
}  # fmt: skip


class Hooks:
    """The part of Module that is about hooks."""

    _forward_hooks = {}
    _forward_pre_hooks = {}
    _backward_hooks = {}
    _backward_pre_hooks = {}
    _hooked = False  # is there any of the four? True of the class: there is one of all modules

    def _own(self, name):
        """The instance's own dictionary in place of the class's empty one."""
        if name not in self.__dict__:
            self.__dict__[name] = {}
        return self.__dict__[name]

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, inputs) before each call; what it gives replaces the inputs.

        with_kwargs: hook(module, inputs, named), which gives None or (inputs, named).
        prepend: before the hooks there are.
        """
        return self._add_hook("_forward_pre_hooks", Hook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, inputs, output) after each call; what it gives replaces the output.

        with_kwargs: hook(module, inputs, named, output). always_call: also where forward() raised.
        """
        return self._add_hook("_forward_hooks", Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) in backward(), before the gradients of the module's inputs are
        computed; a tuple that it gives replaces grad_output."""
        return self._add_hook("_backward_pre_hooks", Hook(hook), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) in backward(), once the gradients of the module's
        inputs are there; a tuple that it gives replaces grad_input."""
        return self._add_hook("_backward_hooks", Hook(hook), prepend)

    register_backward_hook = register_full_backward_hook

    def _add_hook(self, kind, hook, prepend=False):
        hooks = self._own(kind)
        key = _added(hooks, hook)
        if prepend:
            others = {k: h for k, h in hooks.items() if k != key}
            hooks.clear()
            hooks[key] = hook
            hooks.update(others)
        if not kind.startswith("_state"):
            self.__dict__["_hooked"] = True
        return HookHandle(hooks, key)

    def _all_hooks(self, kind):
        """Those of all modules, then its own, as they are now: a hook may remove itself."""
        return (*_OF_ALL[kind].values(), *getattr(self, kind).values())

    def _call_hooked(self, inputs, named):
        """forward() with all hooks around it."""
        output, done = None, False
        try:
            inputs, named = self._before_forward(inputs, named)
            watch = None
            if self._all_hooks("_backward_hooks") or self._all_hooks("_backward_pre_hooks"):
                watch = _Watch(self)
                inputs = watch.inputs(inputs)
            output = self.forward(*inputs, **named)
            done = True
            for hook in self._all_hooks("_forward_hooks"):
                output = _changed(hook, self, inputs, named, output)
            return watch.outputs(output) if watch else output
        except Exception:
            if not done:
                for hook in self._all_hooks("_forward_hooks"):
                    if hook.always:
                        _changed(hook, self, inputs, named, None)
            raise

    def _before_forward(self, inputs, named):
        for hook in self._all_hooks("_forward_pre_hooks"):
            if hook.with_kwargs:
                changed = hook.function(self, inputs, named)
                if changed is not None:
                    inputs, named = _both(changed)
            else:
                changed = hook.function(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        return inputs, named


def _added(hooks, hook):
    """The key of a hook that is put behind the others."""
    key = max(hooks, default=-1) + 1
    hooks[key] = hook
    return key


class _HandleOfAll(HookHandle):
    def remove(self):
        super().remove()
        Hooks._hooked = any(_OF_ALL.values())


def _add_to_all(kind, hook):
    key = _added(_OF_ALL[kind], hook)
    Hooks._hooked = True
    return _HandleOfAll(_OF_ALL[kind], key)


def register_module_forward_pre_hook(hook):
    """hook(module, inputs) before each call of every module, and before its own hooks."""
    return _add_to_all("_forward_pre_hooks", Hook(hook))


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """hook(module, inputs, output) after each call of every module, before its own hooks."""
    return _add_to_all("_forward_hooks", Hook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook):
    """hook(module, grad_output) in backward() of every module, before its own hooks."""
    return _add_to_all("_backward_pre_hooks", Hook(hook))


def register_module_full_backward_hook(hook):
    """hook(module, grad_input, grad_output) in backward() of every module, before its own hooks."""
    return _add_to_all("_backward_hooks", Hook(hook))


register_module_backward_hook = register_module_full_backward_hook


def _both(changed):
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise _lathe.ValueError(
        "a forward pre-hook with named arguments gives None or both",
        op="register_forward_pre_hook", got=type(changed).__name__,
        expected="None, or (inputs, named arguments)", next="return both, changed or not",
    )  # fmt: skip


def _changed(hook, module, inputs, named, output):
    more = (named,) if hook.with_kwargs else ()
    changed = hook.function(module, inputs, *more, output)
    return output if changed is None else changed


class _Watch:
    """One call of a module with backward hooks: its tensors pass through two functions that do
    nothing but see their gradients, of the outputs first, then of the inputs."""

    def __init__(self, module):
        self._module = module
        self._grad_output = None
        self._inputs = 0
        self._watched_inputs = False

    def inputs(self, inputs):
        self._inputs = len(inputs)
        self._watched_inputs, passed = _through(inputs, self._after)
        return passed

    def outputs(self, output):
        return _through(output, self._before)[1]

    def _before(self, grads):
        for hook in self._module._all_hooks("_backward_pre_hooks"):
            grads = _replaced(hook.function(self._module, grads), grads)
        self._grad_output = grads
        if not self._watched_inputs:  # nothing else comes: no input has a gradient
            none = (None,) * self._inputs
            for hook in self._module._all_hooks("_backward_hooks"):
                changed = _replaced(hook.function(self._module, none, grads), none)
                if any(g is not None for g in changed):
                    raise _lathe.ValueError(
                        "a backward hook gives a gradient, and no input of the module has one",
                        op="register_full_backward_hook", got=type(changed).__name__,
                        expected="None", next="give None, or make an input require grad",
                    )  # fmt: skip
        return grads

    def _after(self, grads):
        if self._grad_output is None:  # a derivative of the gradient comes through here again
            return grads
        grad_output, self._grad_output = self._grad_output, None
        for hook in self._module._all_hooks("_backward_hooks"):
            grads = _replaced(hook.function(self._module, grads, grad_output), grads)
        return grads


def _replaced(changed, grads):
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise _lathe.ValueError(
            "a backward hook gives another number of gradients",
            op="register_full_backward_hook", got=len(changed),
            expected=f"{len(grads)}, one for each value, None where it has no gradient",
            next="give one for each that the hook was given",
        )  # fmt: skip
    return changed


def _through(values, see):
    """(is there a gradient to see, values) with the tensors among them, one or in a tuple or list,
    passed through a function whose backward is see(gradients): one gradient for each of the values,
    None for one that has none."""
    several = isinstance(values, (tuple, list))
    items = list(values) if several else [values]
    places = [i for i, v in enumerate(items) if isinstance(v, _lathe.Tensor) and v.requires_grad]
    if not places or not _lathe.is_grad_enabled():
        return False, values
    from .seen import Seen

    count = len(items)

    def see_all(grads):  # holds no tensor: what it saw would hold its own history, and never go
        every = [None] * count
        for i, grad in zip(places, grads):
            every[i] = grad
        seen = see(tuple(every))
        return [seen[i] for i in places]

    for i, tensor in zip(places, Seen.apply(see_all, *[items[i] for i in places])):
        items[i] = tensor
    if not several:
        return True, items[0]
    named = hasattr(values, "_fields")  # a named tuple takes its parts one by one
    return True, type(values)(*items) if named else type(values)(items)
