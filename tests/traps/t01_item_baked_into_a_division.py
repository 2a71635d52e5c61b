"""T01 item() baked into a division.

trace: refuse
script: equal

Seen in ray-project/ray#30684 (PR), pytorch/pytorch#11540 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    s = x.max().item()  # !t
    return x / s


out = [f(lt.tensor([1.0, 2.0])), f(lt.tensor([1.0, 4.0]))]
