"""Modules as functions of their tensors."""

from .. import _lathe, ops


def stack_module_state(models):
    """(parameters, buffers): for each name the tensors of all models, stacked along a new first
    axis; for vmap over functional_call. The parameters are leaves, tracked as the models' are."""
    models = list(models)
    kinds = {type(m).__name__ for m in models}
    if len({type(m) for m in models}) != 1 or len({m.training for m in models}) != 1:
        raise _lathe.ValueError(
            "the models are not alike", op="stack_module_state",
            got=", ".join(sorted(kinds)) or "no models",
            expected="models of one class, all in training or all in evaluation",
            next="stack those that are alike, and call train() or eval() on all",
        )  # fmt: skip

    def stacked(name):
        each = [dict(getattr(m, name)()) for m in models]
        return {n: ops.stack([d[n].detach() for d in each]) for n in each[0]}

    parameters = stacked("named_parameters")
    for name, tracked in models[0].named_parameters():
        parameters[name].requires_grad_(tracked.requires_grad)
    return parameters, stacked("named_buffers")


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """module(*args, **kwargs) with these tensors in place of its parameters and buffers, by path.

    parameter_and_buffer_dicts: a dict, or several that are joined. tie_weights: a tensor that the
    module has under several names is replaced under all. strict: every name is given.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        names = [n for d in given for n in d]
        if len(set(names)) != len(names):
            raise _lathe.ValueError(
                "a name is given twice", op="functional_call", got=sorted(names),
                expected="each name in one dict", next="leave it out of one of them",
            )  # fmt: skip
        given = {n: t for d in given for n, t in d.items()}
    places = _places(module, given, tie_weights, strict)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = [(owner, name, owner.__dict__[name]) for owner, name, _, _ in places]
    try:
        for owner, name, tensor, _ in places:
            owner.__dict__[name] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for owner, name, tensor, path in places:  # what the call has put there instead
            now = owner.__dict__.get(name, tensor)
            if path in given and now is not tensor:
                given[path] = now
        for owner, name, tensor in before:
            owner.__dict__[name] = tensor


def _places(module, given, tie_weights, strict):
    """(module, attribute, the tensor to stand there, path) of each tensor that is given by path."""
    own = {}
    for path, owner in module.named_modules(remove_duplicate=False):
        for name, tensor in (*owner._direct_parameters(), *owner._direct_buffers()):
            own[f"{path}.{name}" if path else name] = (owner, name, tensor)
    unknown = [n for n in given if n not in own]
    missing = [n for n in own if n not in given] if strict else []
    if unknown or missing:
        raise _lathe.ValueError(
            "the names are not those of the module's tensors", op="functional_call",
            got=f"unknown: {', '.join(unknown) or 'none'}; missing: {', '.join(missing) or 'none'}",
            expected="names as named_parameters() and named_buffers() give them",
            next="check the names",
        )  # fmt: skip
    instead = {id(own[n][2]): tensor for n, tensor in given.items()}
    return [
        (owner, name, given[path] if path in given else instead[id(tensor)], path)
        for path, (owner, name, tensor) in own.items()
        if path in given or (tie_weights and id(tensor) in instead)
    ]
