"""W6: effects that would happen at capture only."""

import io
import json
import sys
import types
import warnings

import lathe as lt


def make():
    return types.SimpleNamespace(file=io.StringIO())


def calls(w):
    for n in (2, 2, 3):
        yield (lt.ones(n),)


# %% stdout_write: either
def step(w, x):
    sys.stdout.write("step\n")
    return x + 1


# %% warn: either
def step(w, x):
    warnings.warn("odd", stacklevel=1)
    return x + 1


# %% file_write: either
def step(w, x):
    w.file.write(f"{x.shape[0]}\n")
    return x + 1


# %% json_dump: either
def step(w, x):
    json.dump({"n": 1}, w.file)
    return x + 1


# %% print_to_file: either
def step(w, x):
    print("step", x.shape, file=w.file)
    return x + 1


# %% print_of_a_tensor: either
def step(w, x):
    print(x)
    return x + 1


# %% bound_write: either
def make():
    w = types.SimpleNamespace(file=io.StringIO())
    w.write = w.file.write
    return w


def step(w, x):
    w.write("a")
    return x + 1


# %% writelines: either
def step(w, x):
    w.file.writelines(["a", "b"])
    return x + 1


# %% logging: either
import logging

log = logging.getLogger("w06")


def make():
    w = types.SimpleNamespace(file=io.StringIO())
    log.handlers[:] = [logging.StreamHandler(w.file)]
    log.setLevel(logging.INFO)
    log.propagate = False
    return w


def step(w, x):
    log.info("step %s", tuple(x.shape))
    return x + 1
