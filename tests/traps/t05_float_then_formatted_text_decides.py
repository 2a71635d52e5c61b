"""T05 float(), then formatted text decides.

trace: refuse
script: refuse

Seen in pytorch/pytorch#23498.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    key = f"{float(x.sum()):.1f}"  # !ts
    return x + len(key)


out = [f(lt.tensor([1.0])), f(lt.tensor([1000.0]))]
