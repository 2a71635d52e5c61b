"""W1: memory that is shared and is not one storage object."""

import numpy as np

import lathe as lt


def step(x, y):
    x.add_(1)
    return x * 2 + y


# %% numpy_views: either
def calls(w):
    a = np.ones(6, "f4")
    yield lt.ones(4), lt.ones(4)
    yield lt.from_numpy(a[:4]), lt.from_numpy(a[2:])
    yield lt.from_numpy(a[:2]), lt.from_numpy(a[2:4])
    yield lt.from_numpy(a[:4]), lt.from_numpy(a[:4])


# %% one_array_twice: either
def calls(w):
    yield lt.zeros(3), lt.zeros(3)
    a = np.zeros(3, "f4")
    yield lt.from_numpy(a), lt.from_numpy(a)
    yield lt.zeros(3), lt.zeros(3)


# %% dlpack: either
def calls(w):
    b = lt.zeros(3)
    yield lt.from_dlpack(b), lt.zeros(3)
    yield lt.from_dlpack(b), b
    yield b[1:], lt.from_dlpack(b)[:2]


# %% round_trip_by_numpy: either
def calls(w):
    b = lt.arange(4.0)
    yield lt.zeros(4), b
    yield lt.from_numpy(b.numpy()), b
    yield b, lt.from_numpy(b.numpy())


# %% buffer_protocol: either
def calls(w):
    memory = bytearray(32)
    yield lt.zeros(4), lt.zeros(4)
    yield (
        lt.frombuffer(memory, dtype=lt.float32, count=4),
        lt.frombuffer(memory, dtype=lt.float32, count=4, offset=8),
    )


# %% held_by_the_world: either
def make():
    w = type("World", (), {})()
    w.memory = np.zeros(8, "f4")
    w.one = lt.from_numpy(w.memory[:4])
    w.two = lt.from_numpy(w.memory[4:])
    return w


def step(w, x):
    w.one.add_(x)
    return w.two * 2


def calls(w):
    yield (lt.ones(4),)
    w.two = lt.from_numpy(w.memory[2:6])
    yield (lt.ones(4),)
    w.memory += 1
    yield (lt.ones(4),)
