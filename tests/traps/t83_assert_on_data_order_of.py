"""T83 assert on data; order of print, assert and result.

trace: refuse
script: equal, also what is printed

Seen in tensorflow/tensorflow#31362, seed SC-08.
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    print("in")
    assert x.sum() > 0, "neg"  # !t
    print("out")
    return x.sqrt()


out = [f(lt.ones(1)), attempt(f, -lt.ones(1))]
