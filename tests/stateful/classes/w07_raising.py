"""W7: effects before a call raises stay, as they do without capture."""

import types

import lathe as lt

raises = (KeyError, ValueError, RuntimeError, IndexError, ZeroDivisionError, TypeError)


def make():
    return types.SimpleNamespace(
        d={"k": 2.0}, buf=lt.zeros(2), log=[], n=0, net=lt.nn.BatchNorm1d(2)
    )


def calls(w):
    yield (lt.ones(2, 2),)
    w.d.clear()
    yield (lt.ones(2, 2),)
    yield (lt.ones(2, 2),)
    w.d["k"] = 3.0
    yield (lt.ones(2, 2),)
    yield (lt.ones(2, 2),)


# %% write_then_key_error: equal
def step(w, x):
    x.mul_(2)
    return x * w.d["k"]


# %% write_then_raise: equal
def step(w, x):
    w.buf.add_(1)
    if not w.d:
        raise KeyError("k")
    return x + w.buf


# %% append_then_raise: equal
def step(w, x):
    w.log.append(len(w.log))
    return x + w.d["k"]


# %% shape_error_after_a_write: equal
def step(w, x):
    x.add_(1)
    return x @ (lt.ones(2, 2) if w.d else lt.ones(3, 2))


# %% index_error_after_a_write: equal
def step(w, x):
    x.add_(1)
    return x[len(w.d) + 1 if not w.d else 0] + x[5 if not w.d else 0]


# %% random_then_shape_error: equal
def step(w, x):
    r = lt.rand(2)
    return (x + r) @ (lt.ones(2, 2) if w.d else lt.ones(3, 2))


# %% running_statistics: equal
def step(w, x):
    y = w.net(x)
    return y * w.d["k"]


# %% attribute_then_raise: equal
def step(w, x):
    w.n += 1
    w.last = x * w.n
    return w.last / w.d["k"]


# %% division_by_zero: equal
def step(w, x):
    w.buf.add_(1)
    return x * (1 / len(w.d))


# %% caught_inside: equal
def step(w, x):
    try:
        w.buf.add_(1)
        return x * w.d["k"]
    except KeyError:
        w.buf.add_(10)
        return x - 1


# %% finally_inside: equal
def step(w, x):
    try:
        return x * w.d["k"]
    finally:
        w.n += 1


# %% gradient_then_raise: equal
def make():
    return types.SimpleNamespace(d={"k": 2.0}, p=lt.ones(2, requires_grad=True))


def step(w, x):
    (x * w.p).sum().backward()
    return x * w.d["k"]
