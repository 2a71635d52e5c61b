"""T89 Order of keyword arguments and of dict iteration.

trace: guard
script: refuse

Seen in jax-ml/jax#8419, #4085, pytorch/pytorch#118470.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(**ws):  # !s
    s = lt.zeros(1)
    for k in ws:
        s = s * 10 + ws[k]
    return s, list(ws)


a, b = lt.ones(1), lt.ones(1) * 2
out = [f(a=a, b=b), f(b=b, a=a), f(b=a, a=b)]
