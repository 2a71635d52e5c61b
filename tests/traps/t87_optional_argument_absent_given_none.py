"""T87 Optional argument: absent, given, None, by keyword.

trace: guard
script: guard

Seen in pytorch/pytorch#151122.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, m=None):
    if m is None:
        return x
    return x * m


x = lt.ones(2)
out = [f(x), f(x, x * 2), f(x, None), f(x, m=x * 3)]
