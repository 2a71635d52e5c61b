"""Optimizer: parameter groups, state, and what all optimizers do alike."""

from .. import _lathe
from .._errors import typed
from .._grad_mode import no_grad
from .._lathe import Tensor

_FUSED = "leave it out: lathe.trace fuses a step"
ELSEWHERE = {  # how PyTorch runs a step, which is another matter here
    "foreach": _FUSED,
    "fused": _FUSED,
    "capturable": "leave it out: every step can be traced",
    "differentiable": None,
}


class Optimizer:
    """The base of all optimizers.

    params: tensors, (name, tensor) pairs, or groups: dicts with "params" and settings of their own.
    A subclass defines `_start(p, group)`, the tensors it remembers for a parameter, by name, and
    `_update(p, g, state, group)`, which writes p from its gradient g. A setting "maximize" negates
    the gradients.
    """

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
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        known = {id(p) for g in self.param_groups for p in g["params"]}
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
        self.param_groups.append(group)
        with no_grad():
            for p in params:
                self.state[p] = self._start(p, group)

    def _start(self, p, group):
        return {}

    def _update(self, p, g, state, group):
        raise NotImplementedError

    def step(self, closure=None):
        """One update of every parameter that has a gradient.

        closure: computes the loss anew, with gradients; its result is given back.
        """
        loss = None
        if closure is not None:
            before = _lathe._set_grad_enabled(True)
            try:
                loss = closure()
            finally:
                _lathe._set_grad_enabled(before)
        before = _lathe._set_grad_enabled(False)
        try:
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        g = -p.grad if group.get("maximize") else p.grad
                        self._update(p, g, self.state[p], group)
        finally:
            _lathe._set_grad_enabled(before)
        return loss

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
        params = self._numbered()
        numbers = {id(p): i for i, p in enumerate(params)}
        groups = []
        for group in self.param_groups:
            plain = {k: v for k, v in group.items() if k != "params"}
            groups.append({**plain, "params": [numbers[id(p)] for p in group["params"]]})
        state = {i: dict(self.state[p]) for i, p in enumerate(params) if self.state[p]}
        return {"state": state, "param_groups": groups}

    @typed
    def load_state_dict(self, state_dict):
        """Takes the settings and tensors of state_dict(); ValueError if the groups differ."""
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
        for mine, theirs in zip(self.param_groups, groups):
            mine.update({k: v for k, v in theirs.items() if k != "params"})
        with no_grad():
            for i, p in enumerate(self._numbered()):
                for name, value in state_dict["state"].get(i, {}).items():
                    kept = self.state[p].get(name)
                    if isinstance(kept, Tensor) and tuple(kept.shape) == tuple(value.shape):
                        kept.copy_(value)
                    else:
                        self.state[p][name] = value.clone() if isinstance(value, Tensor) else value

    def __repr__(self):
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {k}: {v}" for k, v in group.items() if k != "params"]
        return f"{type(self).__name__} (\n" + "\n".join(lines) + "\n)"


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
