"""T04 Python builtins that call bool(): max, in, conditional expression.

trace: refuse
script: equal

Seen in pytorch/pytorch#23498.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    big = max(x[0], x[1])  # !t
    return big + 10 if 3 in x else big


out = [f(lt.tensor([1, 2])), f(lt.tensor([3, 2])), f(lt.tensor([2, 5]))]
