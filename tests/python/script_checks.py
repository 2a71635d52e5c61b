"""What the tests of lathe.script share: a function as a script equals the function by bytes."""

import lathe as lt


def same(a, b):
    """Structure, types, dtypes, shapes and bytes."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, lt.Tensor):
        assert a.dtype is b.dtype and tuple(a.shape) == tuple(b.shape), (a, b)
        assert bits(a) == bits(b), (a, b)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif hasattr(a, "__dict__") and not isinstance(a, type):
        same(vars(a), vars(b))
    else:
        assert a == b or (a != a and b != b), (a, b)


def bits(t):
    """The bytes of the elements; NaNs are one value."""
    if t.is_floating_point():
        t = t.detach()
        t = lt.where(t != t, lt.full_like(t, float("nan")), t)
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B")) if t.numel() else b""


def check(function, *calls):
    """Every call equals eager, with one trace for calls that differ in elements only."""
    scripted = lt.script(function)
    for call in calls:
        mine = [a.clone() if isinstance(a, lt.Tensor) else a for a in call]
        theirs = [a.clone() if isinstance(a, lt.Tensor) else a for a in call]
        same(scripted(*mine), function(*theirs))
        same(mine, theirs)  # writes too
    return scripted


def f32(*values):
    return lt.tensor([float(v) for v in values])


def follows(way, function, put, values, *args):
    """Captured code sees state as eager code does: put(value) sets it before every two calls.
    Gives what was captured."""
    captured = way(function)
    for value in values:
        put(value)
        for _ in range(2):
            same(captured(*args), function(*args))
    return captured
