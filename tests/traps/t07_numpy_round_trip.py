"""T07 NumPy round trip.

trace: refuse
script: refuse

Seen in teffland/pytorch-monitor#17.
"""

import numpy as np

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x + lt.from_numpy(np.sqrt(x.numpy()))  # !ts


out = [f(lt.tensor([4.0])), f(lt.tensor([9.0]))]
