"""Optimizer: parameter groups, state, and what all optimizers do alike."""

from copy import deepcopy

from .. import _lathe, ops
from .._arguments import default_only
from .._errors import typed
from .._grad_mode import no_grad
from .._lathe import Tensor
from .first_steps import note_step, waiting
from .fused import update_for


def only_plain(function):
    """Decorates a constructor: differentiable=True is refused, by name. How PyTorch would run a
    step (foreach, fused, capturable) changes no result, and is taken as it is."""
    return default_only(differentiable="write the update with tensor operations on the gradients")(
        function
    )


def settings_of(arguments):
    """A constructor's arguments as the settings of a group: all but what they are about."""
    left_out = ("self", "params", "__class__")
    return {name: value for name, value in arguments.items() if name not in left_out}


class Optimizer:
    """The base of all optimizers.

    params: tensors, (name, tensor) pairs, or groups: dicts with "params" and settings of their own.
    A subclass defines `_start(p, group)`, the tensors it remembers for a parameter, by name, and
    `_update(p, g, state, group)`, which writes p from its gradient g; it sees complex tensors as
    pairs of reals, by an axis of two more. A setting "maximize" negates the gradients;
    "weight_decay" adds that much of p to them, or (`_decoupled`) shrinks p itself.
    """

    _decoupled = False
    _decays = True  # else there is no such setting, or the subclass sees to it
    _pre_hooks = _post_hooks = ()
    _state_hooks = {}  # by when they run
    _settings = "param_groups"  # floats in it are inputs of a traced function from the start

    @property
    def _name(self):
        return type(self).__name__

    @typed
    def __init__(self, params, defaults):
        self.defaults = defaults
        self.param_groups = []
        self.state = {}
        groups = list(params) if not isinstance(params, Tensor) else None
        if groups is None:
            raise _lathe.TypeError(
                "one tensor is no list of parameters",
                op=self._name,
                next="put it into a list: [p]",
                got="a tensor",
                expected="a list of tensors, or of groups",
            )
        if not groups:
            raise _lathe.ValueError(
                "there are no parameters to train",
                op=self._name,
                got="an empty list",
                expected="at least one tensor",
                next="model.parameters() gives them; a generator can be used once only",
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    @typed
    def add_param_group(self, group):
        """Adds parameters with settings of their own; what they do not set is as by default."""
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        named = [p for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        known = {id(p) for g in self.param_groups for p in g["params"]}
        self._check_names(group, params, named)
        for p in params:
            if not isinstance(p, Tensor):
                raise _lathe.TypeError(
                    "a parameter is a tensor",
                    op=self._name,
                    got=type(p),
                    expected="tensors",
                    next="pass model.parameters()",
                )
            if not p.is_leaf:
                raise _lathe.ValueError(
                    "a computed tensor cannot be trained",
                    op=self._name,
                    got=f"the result of {p.grad_fn!r}",
                    next="pass the leaf it was computed from",
                    expected="leaf tensors",
                )
            if id(p) in known:
                raise _lathe.ValueError(
                    "a parameter appears twice",
                    op=self._name,
                    got=list(p.shape),
                    expected="each tensor in one group, once",
                    next="leave it out of one of them",
                )
            known.add(id(p))
        # Tuples are copied: of what is found twice, each call of a traced step would ask by a walk.
        defaults = {k: (*v,) if type(v) is tuple else v for k, v in self.defaults.items()}
        group = {**defaults, **group, "params": params}
        if named:
            group["param_names"] = [name for name, _ in named]
        with no_grad():
            begun = [(p, self._start(p, group)) for p in params]  # it may refuse one of them
        self.param_groups.append(group)
        self.state.update(begun)

    def _check_names(self, group, params, named):
        """Names are given to all parameters, or to none: a state_dict lists them side by side."""
        has = bool(named) or "param_names" in group
        alike = all(has == ("param_names" in g) for g in self.param_groups)
        if alike and len(named) in (0, len(params)):
            return
        raise _lathe.ValueError(
            "some parameters have names and some have none",
            op=self._name,
            got=f"{len(named)} names for {len(params)} parameters",
            expected="a name for each of all groups, or none at all",
            next="pass model.named_parameters(), or model.parameters()",
        )

    def _start(self, p, group):
        return {}

    def _remembers(self, group):
        """Is there anything that it remembers for a parameter, with these settings?"""
        return True

    def _begun(self, p, group):
        """What is remembered for a parameter: begun here where it came after its group, or where
        its settings want now what they did not then, as schedules set them."""
        state = self.state.get(p)
        if state is None:
            state = self.state[p] = {}
        if not state:
            state.update(self._start(p, group))
        return state

    def _update(self, p, g, state, group):
        raise NotImplementedError

    def step(self, closure=None):
        """One update of every parameter that has a gradient.

        closure: computes the loss anew, with gradients; its result is given back.
        """
        if not _lathe._tracing() and waiting:
            note_step(self)
        for hook in self._pre_hooks:
            hook(self, (closure,), {})
        loss = None if closure is None else self._loss(closure)
        before = _lathe._set_grad_enabled(False)
        try:
            for group in self.param_groups:
                update, rates = update_for(self, group)
                for p in group["params"]:
                    g = p.grad
                    if g is None:
                        continue
                    state = self.state.get(p)
                    if not state and (state is None or self._remembers(group)):
                        state = self._begun(p, group)
                    if update is None or not update.run(self, p, g, state, group, rates):
                        self._step_one(p, g, state, group)
        finally:
            _lathe._set_grad_enabled(before)
        for hook in self._post_hooks:
            hook(self, (closure,), {})
        return loss

    def _loss(self, closure):
        before = _lathe._set_grad_enabled(True)
        try:
            return closure()
        finally:
            _lathe._set_grad_enabled(before)

    def _step_one(self, p, g, state, group):
        if p.dtype.is_complex:
            p, g, state = as_reals(p), as_reals(g), {k: as_reals(v) for k, v in state.items()}
        g = -g if group.get("maximize") else g
        decay = group.get("weight_decay", 0)
        if decay != 0 and self._decays:
            if self._decoupled or group.get("decoupled_weight_decay"):
                p.mul_(1 - group["lr"] * decay)
            else:
                g = g + p * decay
        self._update(p, g, state, group)

    # ── hooks ───────────────────────────────────────────────────────────────────────────────────

    def _add(self, when, hook):
        handle = _Handle(self, when)
        hooks = (*getattr(self, when), _Hook(hook, handle))
        setattr(self, when, hooks)
        return handle

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) before each step()."""
        return self._add("_pre_hooks", hook)

    def register_step_post_hook(self, hook):
        """hook(optimizer, args, kwargs) after each step()."""
        return self._add("_post_hooks", hook)

    def _add_state_hook(self, when, hook, prepend):
        hooks = dict(self._state_hooks)
        there = hooks.get(when, [])
        hooks[when] = [hook, *there] if prepend else [*there, hook]
        self._state_hooks = hooks

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer) before state_dict()."""
        self._add_state_hook("before", hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict) after it; what it gives replaces the result."""
        self._add_state_hook("after", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict) before load_state_dict(); what it gives is loaded instead."""
        self._add_state_hook("before load", hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer) after it."""
        self._add_state_hook("after load", hook, prepend)

    def _run_state_hooks(self, when, value=None):
        for hook in self._state_hooks.get(when, ()):
            changed = hook(self) if value is None else hook(self, value)
            value = changed if changed is not None and value is not None else value
        return value

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients; set_to_none=False leaves zeros instead of None."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if set_to_none:
                        p.grad = None
                    else:
                        with no_grad():
                            p.grad.zero_()

    def _numbered(self):
        return [p for group in self.param_groups for p in group["params"]]

    def state_dict(self):
        """Settings, and the remembered tensors by the number of their parameter (memory shared)."""
        self._run_state_hooks("before")
        params = self._numbered()
        numbers = {id(p): i for i, p in enumerate(params)}
        groups = []
        for group in self.param_groups:
            plain = {k: v for k, v in group.items() if k != "params"}
            groups.append({**plain, "params": [numbers[id(p)] for p in group["params"]]})
        state = {i: self._state_of(p) for i, p in enumerate(params)}
        state = {i: s for i, s in state.items() if s}
        state.update((k, v) for k, v in self.state.items() if not isinstance(k, Tensor))
        return self._run_state_hooks("after", {"state": state, "param_groups": groups})

    def _state_of(self, p):
        """What is remembered for a parameter, as it stands in a state_dict."""
        return dict(self.state.get(p, ()))

    @typed
    def load_state_dict(self, state_dict):
        """Takes copies of the settings and tensors of state_dict(), and begins anew what is not in
        it; ValueError if the groups differ."""
        state_dict = self._run_state_hooks("before load", dict(state_dict))
        groups = state_dict["param_groups"]
        sizes = [len(g["params"]) for g in self.param_groups]
        given = [len(g["params"]) for g in groups]
        if sizes != given:
            raise _lathe.ValueError(
                "the groups have other numbers of parameters",
                op="load_state_dict",
                got=given,
                expected=sizes,
            )
        states = state_dict.get("state", {})
        for mine, theirs in zip(self.param_groups, deepcopy(groups)):
            mine.update({k: v for k, v in theirs.items() if k not in ("params", "param_names")})
            with no_grad():
                for p, n in zip(mine["params"], theirs["params"]):
                    self._load_state(p, states.get(n, {}), mine)
        numbers = {n for g in groups for n in g["params"]}
        self.state.update((k, deepcopy(v)) for k, v in states.items() if k not in numbers)
        self._run_state_hooks("after load")

    def _load_state(self, p, given, group):
        """Takes over what was remembered for a parameter, and what it begins with where nothing
        was: into the tensors that there are, so that a traced step finds them."""
        state = self.state.setdefault(p, {})
        given = {name: value for name, value in given.items() if value is not None}
        wanted = {**self._start(p, group), **given}
        for name in [n for n in state if n not in wanted]:
            del state[name]
        for name, value in wanted.items():
            kept = state.get(name)
            if isinstance(kept, Tensor) and not isinstance(value, Tensor):
                kept.fill_(value)
            elif isinstance(kept, Tensor) and kept.shape == value.shape:
                kept.copy_(value)
            else:
                state[name] = deepcopy(value)

    def __repr__(self):
        groups = []
        for i, group in enumerate(self.param_groups):
            settings = [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
            groups.append("\n".join([f"Parameter Group {i}", *settings]))
        return f"{type(self).__name__} (\n" + "\n\n".join(groups) + "\n)"


def check_positive(optimizer, **settings):
    """Refuses negative settings by name."""
    for name, value in settings.items():
        if value < 0:
            raise _lathe.ValueError(
                f"{name} must not be negative",
                op=optimizer,
                got=value,
                expected="0 or more",
                next="check the sign",
            )


class _Hook:
    """A function that is called as long as its handle is not removed."""

    def __init__(self, function, handle):
        self._function, self.handle = function, handle

    def __call__(self, *args):
        return self._function(*args)


class _Handle:
    """remove() takes the hook away."""

    def __init__(self, optimizer, when):
        self._optimizer, self._when = optimizer, when

    def remove(self):
        hooks = getattr(self._optimizer, self._when)
        setattr(self._optimizer, self._when, tuple(h for h in hooks if h.handle is not self))


def as_reals(value):
    """A complex tensor as pairs of reals in its memory; anything else as it is."""
    is_complex = isinstance(value, Tensor) and value.dtype.is_complex
    return ops.view_as_real(value) if is_complex else value


def both_parts(value, p):
    """A number to fill a state of p with: where p is complex, both parts of its elements."""
    return complex(value, value) if p.dtype.is_complex else value


def refuse_complex(optimizer, p):
    """Refuses a complex parameter, for which an update has no meaning."""
    if p.dtype.is_complex:
        raise _lathe.UnsupportedError(
            "a complex parameter has no such update", op=optimizer, got=p.dtype,
            expected="real parameters", next="give it to Adam, which takes it as pairs of reals",
        )  # fmt: skip


def scalar_dtype():
    """Of what is remembered as one number: float64 where that is the default, as PyTorch's."""
    wide = _lathe.get_default_dtype() == _lathe.float64
    return _lathe.float64 if wide else _lathe.float32


def count_steps(p):
    """A counter of steps, as a tensor: a traced step counts on."""
    return ops.zeros((), dtype=scalar_dtype(), device=p.device)


def as_wide(step, p):
    """The counter in the dtype that p needs: float32 has all digits that count for others."""
    return step.to(p.dtype) if p.dtype == _lathe.float64 else step


def rest(beta, step):
    """1 - beta^step, by way of float64, for digits are lost where beta^step is near 1. By no
    logarithm of Python's: a trace would hold for that beta alone, and schedules change it."""
    return (1 - ops.pow(beta, step.to(_lathe.float64))).to(step.dtype)


def check_betas(optimizer, betas):
    if not all(0 <= b < 1 for b in betas):
        raise _lathe.ValueError(
            "a beta outside [0, 1)", op=optimizer, got=betas, expected="0 <= beta < 1",
            next="leave them out for the usual ones",
        )  # fmt: skip
