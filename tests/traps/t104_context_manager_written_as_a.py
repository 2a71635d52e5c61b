"""T104 Context manager written as a generator.

trace: equal (the global is as before afterwards)
script: refuse

Seen in pytorch/pytorch#134030, #112787.
"""

import contextlib

from trap_runner import capture

import lathe as lt

flag = False


@contextlib.contextmanager
def on():
    global flag
    flag = True
    try:
        yield
    finally:
        flag = False


@capture
def f(x):
    with on():
        return x + (10 if flag else 1)  # !s


out = [f(lt.zeros(1)), flag, f(lt.zeros(1))]
