"""T81 Closures over the loop variable (late binding).

trace: equal
script: refuse

Seen in tensorflow/tensorflow#56089.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    fs = []
    for i in range(3):
        fs.append(lambda t: t * 10 + i)  # !s
    for g in fs:
        x = g(x)
    return x


out = [f(lt.zeros(1))]
