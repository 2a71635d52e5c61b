"""Updates of eager optimizers as programs: one kernel a parameter, with the bits of its ops."""

from .. import _lathe

_MOST = 256  # kinds of updates: beyond, settings change from step to step

# By kind: how many steps there were, then its _Update.
_known = {}


class _Update:
    """The program for updates of one kind. Like ops, they are captured at their first call."""

    def __init__(self, optimizer):
        self._program = _lathe.Update(f"{type(optimizer).__name__}.step")
        self._names = None  # of what is remembered for a parameter

    def run(self, optimizer, p, g, state, group):
        """False: this update is no program's, and nothing was done."""
        names, rate, program = tuple(state), group.get("lr"), self._program
        if names == self._names and program.serve(p, g, state, rate):
            return True
        self._names = self._names or names
        if names != self._names:
            return False

        def body(values):
            p, g, *rest = values
            settings = group if rate is None else {**group, "lr": rest.pop()}
            optimizer._step_one(p, g, dict(zip(names, rest)), settings)

        return program.run(p, g, state, rate, body)


def _kind(optimizer, group):
    """What the ops of an update depend on besides tensors and the rate; None: whoever wrote it may
    do more than call ops."""
    cls = type(optimizer)
    if not cls.__module__.startswith("lathe.optim."):
        return None
    settings = ((k, v) for k, v in group.items() if k not in ("params", "param_names", "lr"))
    return cls, *settings


def update_for(optimizer, group):
    """What runs updates of this group, once it has had as many steps as the flag `fuse_after` says;
    else None."""
    if _lathe._tracing() or _lathe._batching():
        return None
    after = _lathe._fuse_after()
    kind = _kind(optimizer, group) if after >= 0 else None
    if kind is None:
        return None
    try:
        found = _known.get(kind, 0)
    except TypeError:  # a setting is a list
        return None
    if type(found) is not int:
        return found
    if found < after:
        if found or len(_known) < _MOST:
            _known[kind] = found + 1
        return None
    _known[kind] = made = _Update(optimizer)
    return made
