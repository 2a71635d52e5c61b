"""T45 train/eval of a module, and of one child only.

trace: guard
script: guard

Seen in mlverse/torch#1211, pytorch/pytorch#29177, #43661, #68190, #71929.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Sequential(nn.Dropout(1.0), nn.Dropout(1.0))
f = capture(m)
x = lt.ones(2)
a = f(x)
m.eval()
b = f(x)
m[0].train()
out = [a, b, f(x)]
