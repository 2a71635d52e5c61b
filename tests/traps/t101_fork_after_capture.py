"""T101 fork after capture.

trace: equal, within 1 s
script: equal

Seen in pytorch/pytorch#17199, #41197, #115366.
"""

import os

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return (x * 2).sum()


a = f(lt.ones(100000))
r, w = os.pipe()
if os.fork() == 0:
    os.write(w, str(f(lt.ones(100000)).item()).encode())
    os._exit(0)
os.wait()
out = [a, os.read(r, 32).decode()]
