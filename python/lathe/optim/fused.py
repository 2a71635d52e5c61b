"""Updates of eager optimizers as programs: one kernel a parameter, with the bits of its ops."""

from .. import _lathe

_MOST = 256  # kinds of updates: beyond, settings change from step to step, and counts are dropped
_FEW = 8  # values of a momentum: beyond, a schedule changes it, and it is an input of one program

# By kind: how many steps there were, then its _Update.
_known = {}
# By kind but for the momentum: the values that it had.
_values = {}


class _Update:
    """The program for updates of one kind. Like ops, they are captured at their first call."""

    def __init__(self, optimizer):
        self._program = _lathe.Update(f"{type(optimizer).__name__}.step")
        self._names = None  # of what is remembered for a parameter

    def run(self, optimizer, p, g, state, group, rates):
        """False: this update is no program's, and nothing was done."""
        names, program = tuple(state), self._program
        if names == self._names and program.serve(p, g, state, rates):
            return True
        self._names = self._names or names
        if names != self._names:
            return False

        def body(values):
            p, g, *rest = values
            at = len(names)
            settings = _with_rates(group, rest[at:])
            optimizer._step_one(p, g, dict(zip(names, rest[:at])), settings)

        return program.run(p, g, state, rates, body)


def _rates(group, momentum=()):
    """The values of what a program takes as inputs: the rate, and of `momentum` what there is."""
    rate = group.get("lr")
    first = () if rate is None else (rate,)
    return (*first, *(value for _, part in momentum for value in part))


def _momentum(group):
    """[(name, floats)]: without any, the update is another one."""
    momentum, betas = group.get("momentum"), group.get("betas")
    found = []
    if type(momentum) is float and momentum != 0:
        found.append(("momentum", (momentum,)))
    if type(betas) is tuple and all(type(b) is float for b in betas):
        found.append(("betas", betas))
    return found


def _with_rates(group, values):
    """The settings with these in the place of what _rates() gave of them."""
    settings, values = dict(group), list(values)
    if group.get("lr") is not None:
        settings["lr"] = values.pop(0)
    if values:
        for name, part in _momentum(group):
            now = tuple(values.pop(0) for _ in part)
            settings[name] = now if name == "betas" else now[0]
    return settings


def _kind(optimizer, group, left_out):
    """What the ops of an update depend on besides tensors and rates; None: whoever wrote it may
    do more than call ops."""
    cls = type(optimizer)
    if not cls.__module__.startswith("lathe.optim."):
        return None
    left_out = ("params", "param_names", "lr", *left_out)
    return cls, *((k, v) for k, v in group.items() if k not in left_out)


def _sort(optimizer, group):
    """(kind, rates); kind None: no programs. TypeError: a setting is a list."""
    momentum = _momentum(group)
    kind = _kind(optimizer, group, [name for name, _ in momentum])
    if kind is None or not momentum:
        return kind, _rates(group)
    values = (*(part for _, part in momentum),)
    if len(_values) > _MOST:
        _values.clear()
    known = _values.setdefault(kind, set())
    if len(known) <= _FEW:
        known.add(values)
        return (*kind, values), _rates(group)
    return kind, _rates(group, momentum)


def update_for(optimizer, group):
    """What runs updates of this group, once it has had as many steps as the flag `fuse_after` says,
    and the rates that it takes; else (None, ())."""
    if _lathe._tracing() or _lathe._batching():
        return None, ()
    after = _lathe._fuse_after()
    if after < 0:
        return None, ()
    try:
        kind, rates = _sort(optimizer, group)
        found = None if kind is None else _known.get(kind, 0)
    except TypeError:  # a setting is a list
        return None, ()
    if type(found) is not int:
        return found, rates
    if found < after:
        _count(kind, found)
        return None, ()
    _known[kind] = made = _Update(optimizer)
    return made, rates


def _count(kind, before):
    if not before and len(_known) >= _MOST:
        for other in [k for k, v in _known.items() if type(v) is int]:
            del _known[other]
    if before or len(_known) < _MOST:
        _known[kind] = before + 1
