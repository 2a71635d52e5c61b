"""T107 Two lambdas on one line; functools.partial.

trace: equal
script: refuse

Seen in pytorch/pytorch#19117, #71912.
"""

import functools

from trap_runner import capture

import lathe as lt


def p(x, k):
    return x * k


f, g = capture(lambda x: x + 1), capture(lambda x: x * 7)  # !s
h, i = capture(functools.partial(p, k=2)), capture(functools.partial(p, k=3))
x = lt.ones(1)
out = [f(x), g(x), h(x), i(x)]
