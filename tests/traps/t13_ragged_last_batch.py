"""T13 Ragged last batch.

trace: guard
script: equal

Seen in pytorch/vision#2311.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    s = lt.zeros(())
    for i in range(0, x.shape[0], 4):
        s = s * 10 + x[i : i + 4].mean()
    return s


out = [f(lt.arange(8.0)), f(lt.arange(6.0)), f(lt.arange(9.0))]
