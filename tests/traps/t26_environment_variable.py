"""T26 Environment variable.

trace: guard
script: refuse

Seen in pytorch/pytorch#189027 (PR).
"""

import os

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x + 1 if os.environ.get("LT_TRAP") == "1" else x - 1  # !s


os.environ["LT_TRAP"] = "1"
a = f(lt.zeros(1))
os.environ["LT_TRAP"] = "0"
out = [a, f(lt.zeros(1))]
