"""T80 try/except around an op that raises at run time.

trace: refuse
script: refuse

Seen in pytorch/torchdynamo#318, pytorch/pytorch#103706.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    try:  # !ts
        return 1 // x
    except (RuntimeError, ZeroDivisionError):
        return x + 2


out = [f(lt.tensor(1)), f(lt.tensor(0))]
