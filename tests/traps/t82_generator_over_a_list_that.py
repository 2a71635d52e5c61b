"""T82 Generator over a list that grows.

trace: equal
script: refuse

Seen in pytorch/pytorch#175855, #198190.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    vals = [x.sum()]

    def grow():  # !s
        for v in vals:
            if len(vals) < 3:
                vals.append(v + 1)
            yield v

    return lt.stack(list(grow())).sum()


out = [f(lt.ones(1)), f(lt.ones(4))]
